/**
 * The read side of the tree: combines the two tables' rows for a path. Owns how size, time and version are read without
 * reading contents; writes nothing.
 *
 * SQLite answers `octet_length(content)` from the record's header. `mtime` is stored behind the content, so reading it
 * reads every overflow page of a large file (0.23 ms per MiB measured). Above `FAR_BYTES` the second table's copy is
 * used when its row and size match.
 */

import { subtreeOf, type VfsPath } from './paths.ts';
import type { Statements } from './statements.ts';
import type { VfsEntry, VfsStat } from './types.ts';
import type { Volume } from './volumes.ts';

export const FILE_MODE = 0o644;
export const DIRECTORY_MODE = 0o755;
export const LINK_MODE = 0o777;
const FAR_BYTES = 262_144;

/** Latest accepted time (year 2242); keeps versions made from times within safe integers. */
const LAST_SECOND = 8_600_000_000;

/** Reads a number from a column into which other tools may have written anything. */
function trustedSeconds(column: string): string {
  return `CASE WHEN typeof(${column}) IN ('integer', 'real') THEN CAST(min(max(${column}, 0), ${LAST_SECOND}) AS INTEGER) ELSE 0 END`;
}

export const SIZE = 'ifnull(octet_length(v.content), 0)';
export const MTIME = `CASE WHEN ${SIZE} > ${FAR_BYTES} AND n.row = v.rowid AND n.size = ${SIZE} THEN n.mtime ELSE ${trustedSeconds('v.mtime')} END`;
export const OWN_MTIME = trustedSeconds('v.mtime');
export const WITH_NODE = "vfs v LEFT JOIN vfs_node n ON n.volume = v.volume AND n.path = v.path AND n.kind = 'file'";

const FILE_COLUMNS = `v.path AS path, ${SIZE} AS size, ${MTIME} AS mtime, n.size AS seenSize, n.mtime AS seenMtime, n.version AS version, n.mode AS mode`;
const NODE_COLUMNS = "path, kind, mode, mtime, version, target FROM vfs_node WHERE kind <> 'file'";

interface FileRow {
  path: string;
  size: number;
  mtime: number;
  seenSize: number | null;
  seenMtime: number | null;
  version: number | null;
  mode: number | null;
}

interface NodeRow {
  path: string;
  kind: 'dir' | 'link';
  mode: number | null;
  mtime: number | null;
  version: number;
  target: string | null;
}

export class TableReader {
  protected readonly statements: Statements;
  readonly #nodes: boolean;

  /** `nodes`: true when the file has the second table; without it, every file was written by the seed's tools. */
  constructor(statements: Statements, nodes: boolean) {
    this.statements = statements;
    this.#nodes = nodes;
  }

  /** The file at exactly this path; null when there is none. */
  file(volume: Volume, path: VfsPath): VfsEntry | null {
    const row = this.statements.get<FileRow>(this.#files('v.volume = ? AND v.path = ?'), volume, path);
    return row ? fileEntry(row) : null;
  }

  content(volume: Volume, path: VfsPath): Uint8Array | null {
    const row = this.statements.get<{ content: unknown }>(
      'SELECT content FROM vfs WHERE volume = ? AND path = ?',
      volume,
      path,
    );
    return row ? contentBytes(row.content) : null;
  }

  /** Bytes `start` to `end` (both inclusive) of a file's content. */
  slice(volume: Volume, path: VfsPath, start: number, end: number): Uint8Array | null {
    const row = this.statements.get<{ content: unknown }>(
      'SELECT substr(CAST(content AS BLOB), ?, ?) AS content FROM vfs WHERE volume = ? AND path = ?',
      start + 1,
      end - start + 1,
      volume,
      path,
    );
    return row ? contentBytes(row.content) : null;
  }

  /**
   * The entry at a path: a file, a link, or a directory, explicit or implied by a deeper path. The root always exists.
   */
  entry(volume: Volume, path: VfsPath): VfsEntry | null {
    return this.file(volume, path) ?? this.node(volume, path) ?? this.implied(volume, path);
  }

  /** The explicit directory or the link at a path. */
  node(volume: Volume, path: VfsPath): VfsEntry | null {
    if (!this.#nodes) return null;
    const row = this.statements.get<NodeRow>(`SELECT ${NODE_COLUMNS} AND volume = ? AND path = ?`, volume, path);
    return row ? nodeEntry(row) : null;
  }

  /** True when the directory has descendants. */
  hasBelow(volume: Volume, path: VfsPath): boolean {
    return this.firstBelow(volume, path) !== null;
  }

  /** The longest path below a directory, in bytes; null when it is empty. */
  longestBelow(volume: Volume, path: VfsPath): string | null {
    const { above, below } = subtreeOf(path);
    const longest = ['vfs', 'vfs_node'].flatMap((table) => {
      const sql = `SELECT path FROM ${table} WHERE ${this.visible(table)}volume = ? AND path > ? AND path < ? ORDER BY octet_length(path) DESC LIMIT 1`;
      return this.statements.get<{ path: string }>(sql, ...this.hidden(), volume, above, below)?.path ?? [];
    });
    return longest.sort((a, b) => Buffer.byteLength(b) - Buffer.byteLength(a))[0] ?? null;
  }

  /** The first of `paths` that is a file or a link; all of them must be directories. */
  blocker(volume: Volume, paths: readonly VfsPath[]): VfsEntry | null {
    for (const path of paths) {
      const entry = this.file(volume, path) ?? this.node(volume, path);
      if (entry && entry.kind !== 'dir') return entry;
    }
    return null;
  }

  /** Direct children of a directory, by name. Visits each file once, and skips each subdirectory with one seek. */
  children(volume: Volume, directory: VfsPath): VfsEntry[] {
    const found = this.childrenByName(volume, directory);
    return [...found.keys()].sort().flatMap((name) => found.get(name) ?? []);
  }

  protected childrenByName(volume: Volume, directory: VfsPath): Map<string, VfsEntry> {
    const { above, below } = subtreeOf(directory);
    const found = new Map<string, VfsEntry>();
    this.eachChild<FileRow>(
      this.#files('v.volume = ? AND v.path >= ? AND v.path < ? ORDER BY v.path'),
      [...this.hidden(), volume],
      above,
      below,
      (name, row, deep) => {
        if (!deep) found.set(name, fileEntry(row));
        else if (!found.has(name)) found.set(name, impliedDirectory(above + name, row.mtime));
      },
    );
    if (this.#nodes) {
      const sql = `SELECT ${NODE_COLUMNS} AND ${this.visible('vfs_node')}volume = ? AND path >= ? AND path < ? ORDER BY path`;
      this.eachChild<NodeRow>(sql, [...this.hidden(), volume], above, below, (name, row, deep) => {
        if (deep && !found.has(name)) found.set(name, impliedDirectory(above + name, row.mtime ?? 0));
        else if (!deep && found.get(name)?.kind !== 'file') found.set(name, nodeEntry(row));
      });
    }
    return found;
  }

  /** The explicit directories of a volume, by path: at most `limit`. */
  directories(volume: Volume, { limit, after = '' }: { limit: number; after?: string }): string[] {
    if (!this.#nodes) return [];
    const sql =
      "SELECT path FROM vfs_node WHERE kind <> 'file' AND kind = 'dir' AND volume = ? AND path > ? ORDER BY path LIMIT ?";
    return this.statements.all<{ path: string }>(sql, volume, after, limit).map(({ path }) => path);
  }

  /** Visits the descendants of a directory; of each subdirectory only the first one, with `deep`. */
  protected eachChild<T extends { path: string }>(
    sql: string,
    values: (string | number)[],
    above: string,
    below: string,
    visit: (name: string, row: T, deep: boolean) => void,
  ): void {
    let from: string | null = above;
    while (from !== null) {
      const start: string = from;
      from = null;
      for (const row of this.statements.iterate<T>(sql, ...values, start, below)) {
        if (typeof row.path !== 'string') continue;
        const rest = row.path.slice(above.length);
        const slash = rest.indexOf('/');
        const name = slash === -1 ? rest : rest.slice(0, slash);
        const addressable = name !== '' && name !== '.' && name !== '..';
        if (addressable) visit(name, row, slash !== -1);
        if (slash !== -1) {
          from = subtreeOf(above + name).below;
          break;
        }
      }
    }
  }

  /** A directory implied by a deeper path; the root always exists. */
  protected implied(volume: Volume, path: VfsPath): VfsEntry | null {
    const first = this.firstBelow(volume, path);
    if (first) return impliedDirectory(path, first.mtime ?? 0);
    return path === '/' ? impliedDirectory('/', 0) : null;
  }

  protected firstBelow(volume: Volume, path: VfsPath): { mtime: number | null } | null {
    const { above, below } = subtreeOf(path);
    const file = this.statements.get<FileRow>(
      this.#files('v.volume = ? AND v.path > ? AND v.path < ? ORDER BY v.path LIMIT 1'),
      ...this.hidden(),
      volume,
      above,
      below,
    );
    if (file || !this.#nodes) return file ?? null;
    const sql = `SELECT mtime FROM vfs_node WHERE kind <> 'file' AND ${this.visible('vfs_node')}volume = ? AND path > ? AND path < ? ORDER BY path LIMIT 1`;
    return this.statements.get<{ mtime: number | null }>(sql, ...this.hidden(), volume, above, below) ?? null;
  }

  /** The parameters of the condition from `visible`. */
  protected hidden(): number[] {
    return [];
  }

  /**
   * A SQL condition that excludes rows from reads over many paths, ending with AND; here it is empty. `table`: the name
   * or alias in the statement.
   */
  protected visible(_table: string): string {
    return '';
  }

  #files(where: string): string {
    const sql = `SELECT ${FILE_COLUMNS} FROM ${WITH_NODE} WHERE ${this.visible('v')}${where}`;
    return this.#nodes ? sql : withoutNodes(sql);
  }
}

/** The same SQL for a seed file, which has no second table and so no metadata. */
export function withoutNodes(sql: string): string {
  const none =
    '(SELECT NULL AS volume, NULL AS path, NULL AS kind, NULL AS mode, NULL AS mtime, NULL AS size, NULL AS row, NULL AS version, NULL AS target WHERE 0)';
  return sql.replaceAll('vfs_node n', `${none} n`);
}

/** A stored content as bytes: other tools may have stored text or NULL. */
export function contentBytes(content: unknown): Uint8Array {
  if (content instanceof Uint8Array) return content;
  return content === null ? new Uint8Array(0) : Buffer.from(String(content));
}

export function entryStat(entry: VfsEntry): VfsStat {
  return { path: entry.path, size: entry.size, mtime: entry.mtime, version: entry.version };
}

function fileEntry(row: FileRow): VfsEntry {
  const unchanged = row.seenSize === row.size && row.seenMtime === row.mtime;
  return {
    path: row.path,
    kind: 'file',
    size: row.size,
    mode: row.mode ?? FILE_MODE,
    mtime: row.mtime,
    version: unchanged && row.version !== null ? row.version : foreignVersion(row),
    target: null,
  };
}

/**
 * The version of a row that another tool wrote, derived from the row: its time in microseconds, with the size to tell
 * writes within one second apart, and always above the last version written by this product.
 */
function foreignVersion(row: FileRow): number {
  const stamp = row.mtime * 1_000_000 + (row.size % 1_000_000);
  const last = row.version ?? 0;
  return stamp > last ? stamp : last + 1 + (stamp % 999_983);
}

function nodeEntry(row: NodeRow): VfsEntry {
  const link = row.kind === 'link';
  return {
    path: row.path,
    kind: link ? 'link' : 'dir',
    size: link ? Buffer.byteLength(row.target ?? '') : 0,
    mode: row.mode ?? (link ? LINK_MODE : DIRECTORY_MODE),
    mtime: row.mtime ?? 0,
    version: row.version,
    target: link ? (row.target ?? '') : null,
  };
}

export function impliedDirectory(path: string, mtime: number): VfsEntry {
  return { path, kind: 'dir', size: 0, mode: DIRECTORY_MODE, mtime, version: 0, target: null };
}
