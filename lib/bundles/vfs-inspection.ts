/**
 * Inspects a whole VFS file: its structure, schema, types, paths and links. No file is shipped or imported that does
 * not pass. Runs in a bundle process; knows nothing of zips or rows of the registry.
 */
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { isMachineFailure, isWinterdockError, WinterdockError } from '../base/errors.ts';
import { copyVfs } from '../vfs/copy.ts';
import { openAtRest } from '../vfs/open.ts';
import { ancestorsOf, parseVfsPath, type VfsPath } from '../vfs/paths.ts';
import { corruptFile, isOfDisk, translateSqliteError, unreadableBytes } from '../vfs/sqlite-errors.ts';
import type { VfsCopy } from '../vfs/types.ts';
import { VOLUMES, type Volume } from '../vfs/volumes.ts';

export interface RebuildOptions {
  /** The volumes that it may hold. A row of another volume is refused. */
  declared: readonly Volume[];
  /** The declared volumes whose rows are copied. */
  kept: readonly Volume[];
  /** Largest file content, in bytes. */
  maxFileBytes: number;
  /** The file is from a bundle: it may have no undeclared table, volume or row, and no WAL mode. */
  bundled: boolean;
}

const WRITE_VERSION_AT = 18;
const WAL = 2;
const LAST_MODE = 0o7777;
const MAX_TARGET_BYTES = 1024;
const CHECK_ERRORS = 3;

/**
 * Rebuilds an untrusted VFS file at `target`, which must not exist: copies only the rows of the kept volumes into new
 * tables, then inspects the result. Throws `corrupt` for a file that is not a healthy VFS file, and `too_large`; a file
 * left at `target` must then not be used.
 */
export async function rebuildVfs(source: string, target: string, options: RebuildOptions): Promise<VfsCopy> {
  if (options.bundled && isWal(source)) throw corruptFile('it is in WAL mode, which no file of a bundle is');
  try {
    refuseUndeclared(source, options);
    const copied = await copyVfs({ path: source, mode: 'rest' }, target, options.kept, { strict: options.bundled });
    inspectVfs(target, options.maxFileBytes);
    return copied;
  } catch (error) {
    throw refusal(error);
  }
}

/** Inspects all rows of a rebuilt or copied file. Throws `corrupt`, `too_large`. */
export function inspectVfs(file: string, maxFileBytes: number): void {
  const vfs = openAtRest(file, { mapped: true });
  try {
    requireHealthy(vfs.db);
    const nodes = vfs.db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vfs_node'").get() !== undefined;
    requireSoundRows(vfs.db, maxFileBytes);
    if (nodes) requireSoundNodes(vfs.db);
    requireSoundTree(vfs.db, nodes);
  } catch (error) {
    throw refusal(error);
  } finally {
    vfs.close();
  }
}

/** Any SQLite error on an untrusted file means that the file is corrupt. */
function refusal(error: unknown): unknown {
  const translated = translateSqliteError(error);
  if (isMachineFailure(translated)) return translated;
  if (isWinterdockError(translated) && translated.code !== 'internal') return translated;
  return corruptFile('SQLite refuses it', error);
}

function isWal(file: string): boolean {
  const header = Buffer.alloc(1);
  const descriptor = openSync(file, 'r');
  try {
    return readSync(descriptor, header, 0, 1, WRITE_VERSION_AT) === 1 && header[0] === WAL;
  } finally {
    closeSync(descriptor);
  }
}

/** Refuses rows of undeclared and of unknown volumes, which a copy would drop silently. */
function refuseUndeclared(source: string, { declared }: RebuildOptions): void {
  const vfs = openAtRest(source, { mapped: true });
  try {
    const names = declared.map((volume) => `'${volume}'`).join(', ');
    const row = vfs.db.prepare(`SELECT volume FROM main.vfs NOT INDEXED WHERE volume NOT IN (${names}) LIMIT 1`).get();
    if (row !== undefined) throw corruptFile(`it holds files in ${shown(row.volume)}, which is not declared`);
  } finally {
    vfs.close();
  }
}

/**
 * The check compares indexes with rows: with a wrong index, the same query could give different rows by another plan.
 */
function requireHealthy(db: DatabaseSync): void {
  const [first] = db.prepare(`PRAGMA integrity_check(${CHECK_ERRORS})`).all();
  const result = String(first?.integrity_check ?? 'it cannot be checked');
  if (isOfDisk(result)) throw unreadableBytes();
  if (result !== 'ok') throw corruptFile(`its structure is damaged: ${result.slice(0, 200)}`);
}

const NAMES = VOLUMES.map((volume) => `'${volume}'`).join(', ');

/** Checks types and sizes in the table `vfs`. Reads no content. */
function requireSoundRows(db: DatabaseSync, maxFileBytes: number): void {
  const wrong = db
    .prepare(
      `SELECT path FROM main.vfs NOT INDEXED WHERE typeof(volume) <> 'text' OR volume NOT IN (${NAMES}) OR typeof(path) <> 'text'
       OR typeof(content) NOT IN ('blob', 'text', 'null') OR typeof(mtime) NOT IN ('integer', 'real', 'null') LIMIT 1`,
    )
    .get();
  if (wrong) throw corruptFile(`it holds a row of a wrong type: ${shown(wrong.path)}`);
  const large = db
    .prepare('SELECT octet_length(content) AS bytes FROM main.vfs NOT INDEXED WHERE octet_length(content) > ? LIMIT 1')
    .get(maxFileBytes);
  if (large) {
    throw new WinterdockError(
      'too_large',
      `It holds a file of ${large.bytes} bytes; a file has at most ${maxFileBytes}.`,
      {
        extra: { limit: maxFileBytes },
      },
    );
  }
}

/** Checks types and ranges in the table `vfs_node`. */
function requireSoundNodes(db: DatabaseSync): void {
  const wrong = db
    .prepare(
      `SELECT path FROM main.vfs_node WHERE typeof(version) <> 'integer' OR version NOT BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}
       OR mode IS NOT NULL AND (typeof(mode) <> 'integer' OR mode NOT BETWEEN 0 AND ${LAST_MODE})
       OR typeof(mtime) NOT IN ('integer', 'real', 'null') OR typeof(size) NOT IN ('integer', 'null') OR typeof(row) NOT IN ('integer', 'null')
       OR NOT (kind = 'counter' AND volume = '' AND path = '') AND (typeof(volume) <> 'text' OR volume NOT IN (${NAMES})
         OR typeof(path) <> 'text' OR kind NOT IN ('file', 'dir', 'link') OR (kind = 'link') <> (target IS NOT NULL)
         OR target IS NOT NULL AND (typeof(target) <> 'text' OR octet_length(target) NOT BETWEEN 1 AND ${MAX_TARGET_BYTES})) LIMIT 1`,
    )
    .get();
  if (wrong) throw corruptFile(`it holds an entry of a wrong type: ${shown(wrong.path)}`);
}

/** Every path must be normalized and unique, and every ancestor of an entry must be a directory. */
function requireSoundTree(db: DatabaseSync, nodes: boolean): void {
  const files = "SELECT volume, CAST(path AS BLOB) AS path, 'file' AS kind, NULL AS target FROM vfs";
  const others =
    "SELECT volume, CAST(path AS BLOB), kind, CAST(target AS BLOB) FROM vfs_node WHERE kind IN ('dir', 'link')";
  const file = db.prepare('SELECT 1 FROM vfs WHERE volume = ? AND path = ?');
  const link = nodes ? db.prepare("SELECT 1 FROM vfs_node WHERE volume = ? AND path = ? AND kind = 'link'") : null;
  let soundFolder = '';
  for (const row of db.prepare(nodes ? `${files} UNION ALL ${others}` : files).iterate()) {
    const volume = String(row.volume);
    const text = textOf(row.path);
    const path = text === null ? null : normalPath(text);
    if (path === null || (row.kind !== 'dir' && path === '/'))
      throw corruptFile(`it holds a path that is not one: ${shown(text ?? '(not UTF-8)')}`);
    if (row.kind === 'link') requireTarget(row.target, path);
    if (row.kind !== 'file' && file.get(volume, path)) throw corruptFile(`two things are at ${shown(path)}`);
    const folder = `${volume}:${path.slice(0, path.lastIndexOf('/'))}`;
    if (folder === soundFolder) continue;
    const blocker = ancestorsOf(path).find((above) => file.get(volume, above) ?? link?.get(volume, above));
    if (blocker !== undefined) throw corruptFile(`something lies below ${shown(blocker)}, which is no directory`);
    soundFolder = folder;
  }
}

function requireTarget(value: unknown, path: string): void {
  const target = textOf(value);
  if (target === null || target.includes('\0')) throw corruptFile(`the link ${shown(path)} has no target that is text`);
}

function textOf(value: unknown): string | null {
  if (!(value instanceof Uint8Array) || !isUtf8(value)) return null;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(value);
}

/** The path when it is normalized, else null. */
function normalPath(text: string): VfsPath | null {
  try {
    const path = parseVfsPath(text);
    return path === text ? path : null;
  } catch {
    return null;
  }
}

function shown(path: unknown): string {
  return JSON.stringify(String(path).slice(0, 80));
}
