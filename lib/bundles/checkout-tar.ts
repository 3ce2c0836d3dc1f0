/**
 * A checkout: the workspace as a tar, for people and git. No entry or link points outside the folder that it is
 * unpacked in. Reads a VFS file at rest, one file at a time; knows nothing of compression or HTTP.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type Header, type Pack, pack } from 'tar-stream';
import { contentBytes } from '../vfs/table-reader.ts';
import { IGNORE_FILE, ignoreFile } from './gitignore.ts';

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
const PERMISSIONS = 0o777;
/** Mount point of the workspace in a sandbox. Absolute links into it become relative. */
const MOUNT = '/workspace';
/**
 * A `.git` folder would make the checkout a repository that the sandbox controls, with commands in its configuration.
 * git itself never stages one.
 */
const GIT_FOLDER = /(^|\/)\.git(\/|$)/i;

interface Row {
  path: string;
  kind: 'file' | 'dir' | 'link';
  mode: number | null;
  mtime: number | null;
  target: string | null;
}

/** The tar of the workspace as a stream. Destroying it stops the reading. */
export function checkoutTar(db: DatabaseSync): Pack {
  const tar = pack();
  void fill(tar, db).then(
    () => tar.finalize(),
    (error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  return tar;
}

async function fill(tar: Pack, db: DatabaseSync): Promise<void> {
  const content = db.prepare("SELECT content FROM vfs WHERE volume = 'workspace' AND path = ?");
  const read = (path: string) => {
    const { buffer, byteOffset, byteLength } = contentBytes(content.get(path)?.content ?? null);
    return Buffer.from(buffer, byteOffset, byteLength);
  };
  const own = db.prepare("SELECT 1 FROM vfs WHERE volume = 'workspace' AND path = ?").get(`/${IGNORE_FILE}`);
  const taken = topFolders(db);
  for (const row of rowsOf(db)) {
    if (tar.destroyed) return;
    if (GIT_FOLDER.test(row.path)) continue;
    if (row.path === `/${IGNORE_FILE}` && row.kind !== 'dir') continue;
    await add(tar, row, read);
  }
  if (taken.has(IGNORE_FILE)) return;
  const text = ignoreFile(own === undefined ? null : read(`/${IGNORE_FILE}`), taken);
  await entry(tar, { name: IGNORE_FILE, mode: FILE_MODE, mtime: new Date(0), type: 'file' }, text);
}

async function add(tar: Pack, row: Row, read: (path: string) => Buffer): Promise<void> {
  const name = row.path.slice(1);
  const mtime = new Date(Math.max(0, Math.floor(row.mtime ?? 0)) * 1000);
  const permissions = (fallback: number) => (row.mode ?? fallback) & PERMISSIONS;
  if (row.kind === 'dir') {
    if (name !== '')
      await entry(tar, { name: `${name}/`, mode: permissions(DIRECTORY_MODE), mtime, type: 'directory' });
    return;
  }
  if (row.kind === 'file') {
    await entry(tar, { name, mode: permissions(FILE_MODE), mtime, type: 'file' }, read(row.path));
    return;
  }
  const linkname = safeLinkTarget(row.path, row.target ?? '');
  if (linkname !== null) await entry(tar, { name, mode: PERMISSIONS, mtime, type: 'symlink', linkname });
  // A link out of the tree becomes a file with its target, as git makes one where there are no links.
  else await entry(tar, { name, mode: FILE_MODE, mtime, type: 'file' }, Buffer.from(row.target ?? ''));
}

/** Writes one entry; resolves when the reader has taken it. */
function entry(
  tar: Pack,
  header: Partial<Header> & { name: string },
  content: Buffer = Buffer.alloc(0),
): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('The reader of the checkout has gone.'));
    tar.once('close', gone);
    tar.entry({ ...header, uid: 0, gid: 0, size: content.byteLength }, content, (error) => {
      tar.off('close', gone);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** All entries of the workspace in path order, so that a directory precedes its contents. */
function rowsOf(db: DatabaseSync): Iterable<Row> {
  const nodes = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vfs_node'").get() !== undefined;
  const files = nodes
    ? `SELECT v.path AS path, 'file' AS kind, n.mode AS mode, v.mtime AS mtime, NULL AS target FROM vfs v
       LEFT JOIN vfs_node n ON n.volume = v.volume AND n.path = v.path AND n.kind = 'file' WHERE v.volume = 'workspace'`
    : "SELECT path, 'file' AS kind, NULL AS mode, mtime, NULL AS target FROM vfs WHERE volume = 'workspace'";
  const others =
    "SELECT path, kind, mode, mtime, target FROM vfs_node WHERE volume = 'workspace' AND kind IN ('dir', 'link')";
  return db
    .prepare(`${files}${nodes ? ` UNION ALL ${others}` : ''} ORDER BY path`)
    .iterate() as unknown as Iterable<Row>;
}

/** Names of the top-level directories of the workspace. */
function topFolders(db: DatabaseSync): Set<string> {
  const names = new Set<string>();
  for (const { path, kind } of rowsOf(db)) {
    const [, name = '', ...below] = path.split('/', 3);
    if (below.length > 0 || kind === 'dir') names.add(name);
  }
  return names;
}

/**
 * The target of a link in the checkout, or null when it may point outside. `..` is allowed only at the beginning of a
 * target, and at most up to the top: after a name, which may be another link, `..` can lead anywhere.
 */
export function safeLinkTarget(path: string, target: string): string | null {
  const depth = path.split('/').length - 2;
  if (target === MOUNT || target.startsWith(`${MOUNT}/`)) {
    const inner = target.slice(MOUNT.length + 1);
    return safeLinkTarget(path, `${'../'.repeat(depth)}${inner}` || '.');
  }
  if (target.startsWith('/') || target.includes('\0') || target === '') return null;
  const segments = target.split('/').filter((segment) => segment !== '' && segment !== '.');
  const climbs = segments.findIndex((segment) => segment !== '..');
  const up = climbs === -1 ? segments.length : climbs;
  if (up > depth || segments.slice(up).includes('..')) return null;
  return target;
}
