/**
 * Copies of a VFS file: the rows of chosen volumes, written to a new file that holds nothing else. Owns the content of
 * a copy; knows nothing of processes or leases.
 *
 * Rows are written in the order of their row numbers, in one transaction, from one snapshot of the source. So a copy
 * has no free pages and no bytes of deleted or excluded rows, two copies of the same rows have the same bytes, and copy
 * and writer never block each other. `VACUUM INTO` guarantees none of this: it copies every volume and changes a
 * counter in the header.
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { createFileNow, syncFile, unlinkFileNow } from '../base/effects.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import { hashFile } from '../base/hash-file.ts';
import { isThere } from '../base/is-there.ts';
import { copyPresented } from '../native/file/presented-copy.ts';
import { asksForLog, attachReading, OPTIONS } from './handles.ts';
import { openAtRest, openBeside } from './open.ts';
import { createTables, inspectSchema } from './schema.ts';
import { corruptFile, isOfDisk, resultCodeOf, translateSqliteError, unreadableBytes } from './sqlite-errors.ts';
import { Statements } from './statements.ts';
import type { ReadTarget, VfsCopy } from './types.ts';
import { volumeSizes } from './volume-listing.ts';
import { VOLUMES, type Volume } from './volumes.ts';

const CACHE_KIB = 16 * 1024;
/** No journal in the folder, which a killed process would leave. A defensive connection refuses journal_mode = OFF. */
const IN_MEMORY = `PRAGMA page_size = 4096; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
  PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`;
const CONSTRAINT = 19;
/**
 * How long to wait for a live file to enter WAL mode. It does so 10 ms after it was opened, later on a busy machine.
 */
const ENTER_WAL_MS = 500;
const ENTER_WAL_STEP_MS = 5;

/**
 * Copies `volumes` of the file at `source` into a new file at `path`. When this resolves, its contents are synced to
 * disk (unless it is not to be `durable`), but its directory entry is not. With `strict`, a source with a foreign table
 * or volume is refused. The version counter is set to the highest version copied, so that it reveals nothing of
 * excluded rows. `sha256` is the expected hash of a source at rest: a copy of damaged bytes would get a valid hash of
 * its own. `made`: the file is there already, empty, and stays there when this throws. Throws `missing_file`, `corrupt`
 * (also when `quick_check` finds a fault), `conflict`, `storage_unavailable`, and then removes the unfinished copy.
 */
export async function copyVfs(
  source: ReadTarget,
  path: string,
  volumes: readonly Volume[],
  {
    strict = false,
    sha256 = null,
    durable = true,
    made = false,
  }: { strict?: boolean; sha256?: string | null; durable?: boolean; made?: boolean | undefined } = {},
): Promise<VfsCopy> {
  if (!made && isThere(path))
    throw new WinterdockError('internal', 'There is a file already where a copy was to be made.');
  try {
    if (!made) createFileNow(path);
    if (source.mode === 'live') await untilInWal(source.path);
    else await requireBytes(source.path, sha256);
    const sizes = writeCopy(source, path, volumes, strict) ?? writePresented(source, path, volumes);
    // The disk writes while the processor hashes.
    const [copy] = await Promise.all([hashFile(path), durable ? syncFile(path) : null]);
    return { ...copy, volumes: sizes };
  } catch (error) {
    if (!made) unlinkFileNow(path);
    if (resultCodeOf(error) === CONSTRAINT) throw corruptFile('two of its rows are the same file', error);
    // SQLite attaches only files with the same text encoding, and has no error code for this case.
    if (messageOf(error).includes('same text encoding')) throw corruptFile('its text is not UTF-8', error);
    throw translateSqliteError(error);
  }
}

async function requireBytes(path: string, sha256: string | null): Promise<void> {
  if (sha256 === null || !isThere(path) || (await hashFile(path)).sha256 === sha256) return;
  throw corruptFile('its bytes are not those that were filed');
}

/**
 * A file that was just opened may not be in WAL mode yet, and its first write would then wait for an earlier reader. So
 * a copy waits until the file is in WAL mode. A file that is not within the time is not being written.
 */
async function untilInWal(path: string): Promise<void> {
  const deadline = performance.now() + ENTER_WAL_MS;
  while (isThere(path) && !asksForLog(path) && performance.now() < deadline) await setTimeout(ENTER_WAL_STEP_MS);
}

/** Null: the tables that every VFS file has are not all of the source, and nothing is written. */
function writeCopy(
  source: ReadTarget,
  path: string,
  volumes: readonly Volume[],
  strict: boolean,
): VfsCopy['volumes'] | null {
  const db = new DatabaseSync(path, { ...OPTIONS, limits: { ...OPTIONS.limits, attach: 1 } });
  try {
    db.exec(IN_MEMORY);
    attachReading(db, source);
    db.exec('BEGIN');
    const { vfs, nodes, isNativeOnly } = inspectSchema(db, { name: 'source', strict, knowsNative: true });
    if (!vfs) throw corruptFile('it is empty');
    requireSound(db, 'source');
    if (strict) refuseForeignObjects(db);
    if (isNativeOnly) return null;
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

/** The same of a file that real programs have changed: in the form that every reader knows, but for large files. */
function writePresented(source: ReadTarget, path: string, volumes: readonly Volume[]): VfsCopy['volumes'] {
  const reader = source.mode === 'rest' ? openAtRest(source.path, { mapped: true }) : openBeside(source.path);
  const db = new DatabaseSync(path, OPTIONS);
  try {
    db.exec(IN_MEMORY);
    requireSound(reader.db, 'main');
    db.exec('BEGIN');
    createTables(db, true);
    copyPresented(reader, db, volumes);
    db.exec('COMMIT');
    return reader.sizes().map((one) => (volumes.includes(one.volume) ? one : { ...one, files: 0, bytes: 0 }));
  } finally {
    db.close();
    reader.close();
  }
}

function requireSound(db: DatabaseSync, name: 'source' | 'main'): void {
  const complaint = db.prepare(`PRAGMA ${name}.quick_check(1)`).get()?.quick_check;
  if (isOfDisk(String(complaint))) throw unreadableBytes();
  if (complaint !== 'ok') throw corruptFile(`its structure is damaged: ${String(complaint).slice(0, 200)}`);
}

/** Rows of an unknown volume. Leaving them out of an uploaded file would lose them silently. */
function refuseForeignObjects(db: DatabaseSync): void {
  const row = db.prepare(`SELECT volume FROM source.vfs WHERE volume NOT IN (${quoted(VOLUMES)}) LIMIT 1`).get();
  if (row !== undefined) throw corruptFile(`it has files in a volume "${String(row.volume).slice(0, 40)}"`);
}

function quoted(volumes: readonly Volume[]): string {
  return volumes.map((volume) => `'${volume}'`).join(', ');
}
