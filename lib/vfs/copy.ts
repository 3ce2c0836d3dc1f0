/**
 * Copies of a VFS file: the rows of chosen volumes, written anew into a file that holds nothing else. Owns what a copy
 * looks like; knows nothing of processes or leases.
 *
 * Rows are written in the order of their numbers into a new file, in one transaction over one snapshot of the source.
 * So a copy has no free pages and no bytes of what was deleted or left out, a copy made twice of the same rows has the
 * same bytes, and no writer is waited for or kept waiting. `VACUUM INTO` gives neither: it takes every volume along and
 * counts itself in the header.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { createFileNow, syncFileNow, unlinkFileNow } from '../base/effects.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import { asksForLog, attachReading, OPTIONS } from './handles.ts';
import { createTables, inspectSchema } from './schema.ts';
import { corruptFile, resultCodeOf, translateSqliteError } from './sqlite-errors.ts';
import { Statements } from './statements.ts';
import type { ReadTarget, VfsCopy } from './types.ts';
import { volumeSizes } from './volume-listing.ts';
import { VOLUMES, type Volume } from './volumes.ts';

const HASH_CHUNK_BYTES = 1024 * 1024;
const CACHE_KIB = 16 * 1024;
const CONSTRAINT = 19;
/** A live file enters WAL mode 10 ms after it was opened; this is for a busy machine. */
const ENTER_WAL_MS = 500;
const ENTER_WAL_STEP_MS = 5;

/**
 * Writes `volumes` of the file at `source` into a new file at `path`, which is on disk when this resolves; only its
 * name is not. With `strict` a source with any table or volume that is not a VFS file's is refused. The counter of
 * versions is set to the highest kept one, so that what was left out shows nowhere. `sha256` is what the bytes of a
 * source at rest must have: a copy of rot would have a sound hash. Throws `missing_file`, `corrupt` (also when
 * `quick_check` finds something), `conflict`, `storage_unavailable`; what was begun at `path` is then gone.
 */
export async function copyVfs(
  source: ReadTarget,
  path: string,
  volumes: readonly Volume[],
  { strict = false, sha256 = null }: { strict?: boolean; sha256?: string | null } = {},
): Promise<VfsCopy> {
  if (existsSync(path)) throw new WinterdockError('internal', 'There is a file already where a copy was to be made.');
  try {
    if (source.mode === 'live') await untilInWal(source.path);
    else await requireBytes(source.path, sha256);
    const sizes = writeCopy(source, path, volumes, strict);
    syncFileNow(path);
    return { sha256: await hashOf(path), bytes: statSync(path).size, volumes: sizes };
  } catch (error) {
    unlinkFileNow(path);
    if (resultCodeOf(error) === CONSTRAINT) throw corruptFile('two of its rows are the same file', error);
    // SQLite attaches only what has the same encoding, and has no code of its own for that.
    if (messageOf(error).includes('same text encoding')) throw corruptFile('its text is not UTF-8', error);
    throw translateSqliteError(error);
  }
}

async function requireBytes(path: string, sha256: string | null): Promise<void> {
  if (sha256 === null || !existsSync(path) || (await hashOf(path)) === sha256) return;
  throw corruptFile('its bytes are not those that were filed');
}

/**
 * A file that was opened a moment ago may not be in WAL mode yet, and its first write would wait for a reader that came
 * before it. A copy comes after it. One that does not enter within the time is not being written.
 */
async function untilInWal(path: string): Promise<void> {
  const deadline = performance.now() + ENTER_WAL_MS;
  while (existsSync(path) && !asksForLog(path) && performance.now() < deadline) await setTimeout(ENTER_WAL_STEP_MS);
}

function writeCopy(source: ReadTarget, path: string, volumes: readonly Volume[], strict: boolean): VfsCopy['volumes'] {
  createFileNow(path);
  const db = new DatabaseSync(path, { ...OPTIONS, limits: { ...OPTIONS.limits, attach: 1 } });
  try {
    db.exec(`PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`);
    attachReading(db, source);
    db.exec('BEGIN');
    const { vfs, nodes } = inspectSchema(db, { name: 'source', strict });
    if (!vfs) throw corruptFile('it is empty');
    const complaint = db.prepare('PRAGMA source.quick_check(1)').get()?.quick_check;
    if (complaint !== 'ok') throw corruptFile(`its structure is damaged: ${String(complaint).slice(0, 200)}`);
    if (strict) refuseStrangers(db);
    createTables(db, nodes);
    const kept = quoted(volumes);
    db.exec(`INSERT INTO main.vfs (rowid, volume, path, content, mtime)
      SELECT rowid, volume, path, content, mtime FROM source.vfs NOT INDEXED WHERE volume IN (${kept}) ORDER BY rowid`);
    if (nodes) {
      const columns = 'volume, path, kind, mode, mtime, size, row, version, target';
      db.exec(`INSERT INTO main.vfs_node (${columns}) SELECT ${columns} FROM source.vfs_node
        WHERE volume IN (${kept}) AND kind IN ('file', 'dir', 'link') ORDER BY volume, path;
        INSERT INTO main.vfs_node (volume, path, kind, version) SELECT '', '', 'counter', ifnull(max(version), 0) FROM main.vfs_node`);
    }
    const sizes = volumeSizes(new Statements(db));
    db.exec('COMMIT');
    return sizes;
  } finally {
    db.close();
  }
}

/** Rows that no volume has: leaving them out of what someone handed in would lose them without a word. */
function refuseStrangers(db: DatabaseSync): void {
  const row = db.prepare(`SELECT volume FROM source.vfs WHERE volume NOT IN (${quoted(VOLUMES)}) LIMIT 1`).get();
  if (row !== undefined) throw corruptFile(`it has files in a volume "${String(row.volume).slice(0, 40)}"`);
}

function quoted(volumes: readonly Volume[]): string {
  return volumes.map((volume) => `'${volume}'`).join(', ');
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: HASH_CHUNK_BYTES })) hash.update(chunk);
  return hash.digest('hex');
}
