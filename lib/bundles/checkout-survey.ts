/**
 * The first look at a workspace that is checked out: its rows, what stands at its top, and what stays out of the
 * archive, before the first byte of that is sent. Reads names, no contents.
 */
import type { DatabaseSync } from 'node:sqlite';
import { RepositoryFinder } from '../base/git-repositories.ts';
import { IGNORE_FILE } from './gitignore.ts';

export interface WorkspaceRow {
  path: string;
  kind: 'file' | 'dir' | 'link';
  mode: number | null;
  /** Null for a file: its time lies behind its content, and comes with it. */
  mtime: number | null;
  target: string | null;
}

export interface WorkspaceSurvey {
  /** Names of the top-level directories. */
  topFolders: ReadonlySet<string>;
  /** Names at the top. */
  top: ReadonlySet<string>;
  /** Whether the workspace has an ignore file of its own. */
  ignores: boolean;
  /** What stays out, as relative paths in order; folders end with a slash. */
  leftOut: ReadonlySet<string>;
  /** Whether an entry stays out. */
  staysOut(row: WorkspaceRow): boolean;
}

/** All entries of the workspace in path order, so that a directory precedes its contents. */
export function rowsOf(db: DatabaseSync): Iterable<WorkspaceRow> {
  const nodes = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vfs_node'").get() !== undefined;
  const files = nodes
    ? `SELECT v.path AS path, 'file' AS kind, n.mode AS mode, NULL AS mtime, NULL AS target FROM vfs v
       LEFT JOIN vfs_node n ON n.volume = v.volume AND n.path = v.path AND n.kind = 'file' WHERE v.volume = 'workspace'`
    : "SELECT path, 'file' AS kind, NULL AS mode, NULL AS mtime, NULL AS target FROM vfs WHERE volume = 'workspace'";
  const others =
    "SELECT path, kind, mode, mtime, target FROM vfs_node WHERE volume = 'workspace' AND kind IN ('dir', 'link')";
  return db
    .prepare(`${files}${nodes ? ` UNION ALL ${others}` : ''} ORDER BY path`)
    .iterate() as unknown as Iterable<WorkspaceRow>;
}

/** Looks at a workspace. `.git` stays out whole: git itself never stages one. */
export function surveyWorkspace(db: DatabaseSync): WorkspaceSurvey {
  const finder = new RepositoryFinder('all');
  const top = new Set<string>();
  const topFolders = new Set<string>();
  let ignores = false;
  for (const { path, kind } of rowsOf(db)) {
    finder.see(path.slice(1));
    const [, name = '', ...below] = path.split('/', 3);
    top.add(name);
    if (below.length > 0 || kind === 'dir') topFolders.add(name);
    if (path === `/${IGNORE_FILE}` && kind === 'file') ignores = true;
  }
  const placeOut = ({ path, kind }: WorkspaceRow) => finder.leftOut(path.slice(1), kind === 'dir');
  const leftOut = new Set<string>();
  for (const row of finder.isClean ? [] : rowsOf(db)) {
    const out = placeOut(row);
    if (out !== null) leftOut.add(out);
  }
  return { topFolders, top, ignores, leftOut, staysOut: (row) => leftOut.size > 0 && placeOut(row) !== null };
}
