/**
 * Handles on a VFS file: live (WAL, one writer), at rest (immutable), beside a live process (read-only), and the way
 * back to rest. Owns every pragma; knows nothing of what the tables hold beyond tmp.
 *
 * Never open and close a live file by other means in the process that holds it: POSIX drops a process's locks on a file
 * with the first descriptor that is closed.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { syncFolderNow, unlinkFileNow } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import { ensureSchema, inspectSchema, type Schema } from './schema.ts';
import { corruptFile, translateSqliteError } from './sqlite-errors.ts';
import type { ReadTarget } from './types.ts';
import { VOLUME_CONTRACTS, VOLUMES } from './volumes.ts';

interface OpenFile {
  db: DatabaseSync;
  schema: Schema;
}

interface LiveFile extends OpenFile {
  /** Enters WAL mode, which everything that writes must do first; null when the file is in it or needs none. */
  enterWal: (() => void) | null;
}

/** How long a handle waits for a lock before it fails, in milliseconds. */
const BUSY_MS = 1000;
/**
 * Longer than any read beside a live file may take: a first write waits for one that came before it, and does not fail.
 */
const ENTER_BUSY_MS = 35_000;
/** The log is cut back to this after a checkpoint, so that one large write does not leave a large log. */
const LOG_BYTES = 4 * 1024 * 1024;

/** What SQLite keeps committed or undone pages in beside a file. */
const LOGS = ['-wal', '-journal'];
/** Where the header says how the file is written: 1 by a journal, 2 by a write-ahead log. */
const WRITE_VERSION_AT = 18;

/** What every handle on a VFS file is opened with. */
export const OPTIONS: DatabaseSyncOptions = {
  timeout: BUSY_MS,
  allowExtension: false,
  defensive: true,
  enableForeignKeyConstraints: false,
  enableDoubleQuotedStringLiterals: false,
  limits: { attach: 0, triggerDepth: 0 },
};

/**
 * What SQLite advises for files that may be hostile: the schema calls no function with effects, cells are checked as
 * they are read.
 */
const DISTRUST = 'PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;';
/** Large sorts stay in memory, where the process has a limit, and never fill the machine's temporary folder. */
const IN_MEMORY = 'PRAGMA temp_store = MEMORY;';

/**
 * The one writing handle: WAL, `synchronous=FULL`, both tables there, and every volume that does not survive a resume
 * cleared. Writes only what is missing. `maxBytes` bounds the file. With `walLater`, a file that lacks nothing is left
 * untouched, and `enterWal` is the caller's to run before the first write. Throws `missing_file` (with `mustExist`),
 * `corrupt`, `conflict`, `storage_unavailable`.
 */
export function openLiveFile(
  file: string,
  options: { maxBytes: number; mustExist: boolean; walLater?: boolean },
): LiveFile {
  const inMemory = file === ':memory:';
  if (options.mustExist && !inMemory && !existsSync(file)) throw missingFile();
  if (!inMemory) refuseEmptyBesideLog(file, options.mustExist ? LOGS : LOGS.slice(0, 1));
  let later = false;
  const { db, schema } = openDatabase(
    inMemory ? file : address(file, `mode=${options.mustExist ? 'rw' : 'rwc'}`),
    OPTIONS,
    (opening) => {
      opening.exec(`${DISTRUST} ${IN_MEMORY} PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${LOG_BYTES};`);
      const found = inspectSchema(opening);
      if (!found.vfs && options.mustExist) throw corruptFile('it is empty');
      const pageBytes = Number(opening.prepare('PRAGMA page_size').get()?.page_size);
      opening.exec(`PRAGMA max_page_count = ${pageLimit(options.maxBytes, pageBytes)}`);
      if (!found.vfs && !inMemory) createDurably(opening, found);
      later = options.walLater === true && (found.nodes || !found.vfs) && !inMemory && !hasTmp(opening);
      if (!inMemory && !later) enterWal(opening);
      ensureSchema(opening, found.vfs ? found : inspectSchema(opening));
      if (!later && hasTmp(opening)) clearTmp(opening);
      return { vfs: true, nodes: true };
    },
  );
  return { db, schema, enterWal: later ? () => enterWalBesideReaders(db) : null };
}

/**
 * Checkpoints, leaves WAL mode and closes: afterwards the file is all there is, and that is on disk. Throws `conflict`
 * when another reader or writer still holds the file; the handle then stays open and nothing is lost.
 */
export function restLiveFile(db: DatabaseSync): void {
  const file = db.location();
  if (file === null) {
    db.close();
    return;
  }
  try {
    const log = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (log?.busy !== 0) throw heldByOthers();
    // One page as in enterWal, but with an fsync. Fails when any other connection is open.
    const mode = db.prepare('PRAGMA journal_mode = MEMORY').get()?.journal_mode;
    if (mode !== 'memory') throw notAtRest(`SQLite left it in ${mode} mode`);
  } catch (error) {
    throw translateSqliteError(error);
  }
  db.close();
  removeEmptyLog(file);
  if (existsSync(`${file}-wal`) || existsSync(`${file}-shm`)) throw notAtRest('a log is still beside it');
  syncDirectory(dirname(file));
}

/**
 * Power may be lost when the name of a log is on disk and nothing else of it is, the file's header included. To SQLite
 * a log of 0 bytes is none: the file is opened without it, and whoever closes it leaves it there. It holds nothing, and
 * its index nothing either.
 */
function removeEmptyLog(file: string): void {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  for (const name of [`${file}-wal`, `${file}-shm`]) if (existsSync(name)) unlinkFileNow(name);
}

/**
 * Makes one clean file of what a killed process left: takes up what its log holds and leaves WAL mode. A clean file is
 * left as it is, tmp stays. Throws `missing_file`; `corrupt`, also for an empty file, which is left as it is with
 * what lies beside it; and `conflict` while anything holds the file.
 */
export function recoverFile(file: string): void {
  if (!existsSync(file)) throw missingFile();
  refuseEmptyBesideLog(file, LOGS);
  if (statSync(file).size === 0) throw corruptFile('it is empty');
  if (isClean(file)) return;
  if (!holdsLog(file)) {
    dropEmptyLogs(file);
    return;
  }
  const { db } = openDatabase(address(file, 'mode=rw'), OPTIONS, (opening) => {
    opening.exec(`${DISTRUST} PRAGMA synchronous = FULL`);
    return inspectSchema(opening);
  });
  try {
    restLiveFile(db);
  } finally {
    if (db.isOpen) db.close();
  }
}

/**
 * Reads a file that nothing writes: takes no lock and leaves nothing beside it. Throws `missing_file`, `corrupt`, and
 * `conflict` when a log lies beside the file: it is not at rest, and reading it alone would miss what the log holds.
 */
export function openRestingFile(file: string): OpenFile {
  refuseLog(file);
  return openReading(file, 'immutable=1');
}

/** SQLite would delete what lies beside an empty file, which may be all that is left of a sandbox. */
function refuseEmptyBesideLog(file: string, logs: readonly string[]): void {
  if (statSync(file, { throwIfNoEntry: false })?.size !== 0) return;
  for (const log of logs) {
    const bytes = statSync(file + log, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > 0) throw corruptFile(`it has 0 bytes, and a log of ${bytes} bytes lies beside it`);
  }
}

function refuseLog(file: string): void {
  for (const log of ['-wal', '-journal']) {
    if ((statSync(file + log, { throwIfNoEntry: false })?.size ?? 0) > 0) {
      throw new WinterdockError('conflict', 'The file of the sandbox is not at rest: a log lies beside it.', {
        retryAfterSeconds: 1,
      });
    }
  }
}

/** Reads the committed state beside the process that writes the file. Throws `missing_file`, `corrupt`, `conflict`. */
export function openFileBeside(file: string): OpenFile {
  return openReading(file, 'mode=ro');
}

/**
 * Attaches a file as `source` to a handle, to be read as `openRestingFile` and `openFileBeside` read. Throws
 * `missing_file`, and as SQLite does.
 */
export function attachReading(db: DatabaseSync, target: ReadTarget): void {
  if (target.mode === 'rest') refuseLog(target.path);
  try {
    db.exec(DISTRUST);
    db.prepare('ATTACH ? AS source').run(
      address(target.path, target.mode === 'rest' ? 'mode=ro&immutable=1' : 'mode=ro').href,
    );
  } catch (error) {
    throw existsSync(target.path) ? error : missingFile();
  }
}

function openReading(file: string, query: string): OpenFile {
  refuseEmptyBesideLog(file, LOGS);
  try {
    return openDatabase(address(file, query), { ...OPTIONS, readOnly: true }, (db) => {
      db.exec(`${DISTRUST} ${IN_MEMORY}`);
      const schema = inspectSchema(db);
      if (!schema.vfs) throw corruptFile('it is empty');
      return schema;
    });
  } catch (error) {
    throw existsSync(file) ? error : missingFile();
  }
}

function openDatabase(
  address: URL | string,
  options: DatabaseSyncOptions,
  prepare: (db: DatabaseSync) => Schema,
): OpenFile {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(address, options);
    return { db, schema: prepare(db) };
  } catch (error) {
    db?.close();
    throw translateSqliteError(error);
  }
}

/**
 * A new file gets its tables in one transaction with a rollback journal, and with `synchronous=EXTRA`, which also syncs
 * the folder after the journal is gone: when this returns the file, its name and its first page are on disk. Only then
 * may it have a log: SQLite deletes a log that lies beside an empty file, whatever was committed to it.
 */
function createDurably(db: DatabaseSync, schema: Schema): void {
  db.exec('PRAGMA synchronous = EXTRA');
  ensureSchema(db, schema);
  db.exec('PRAGMA synchronous = FULL');
}

/**
 * WAL mode is two bytes of the first page. SQLite's usual way makes, syncs and deletes a journal for them and syncs the
 * file; here it is one write of one page and no fsync, so that a wake waits for no disk. That is safe for a file that
 * is on disk (see `bear`). A killed process has written the page or not. What changes in it lies in its first 100
 * bytes, one sector, so power loss leaves the old header or the new one, over the same contents. And with the old one
 * nothing is missed: the log's first fsync syncs its name too, SQLite opens a log that is there whatever the header
 * says, and a checkpoint syncs the file before it empties the log.
 */
function enterWal(db: DatabaseSync): void {
  const now = db.prepare('PRAGMA journal_mode').get()?.journal_mode;
  if (now === 'wal') return;
  db.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY');
  if (db.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode !== 'wal') throw heldByOthers();
  db.exec('PRAGMA synchronous = FULL');
}

/** The same for a file that others may be reading already: it waits until the last of them is done. */
function enterWalBesideReaders(db: DatabaseSync): void {
  db.exec(`PRAGMA busy_timeout = ${ENTER_BUSY_MS}`);
  try {
    enterWal(db);
  } catch (error) {
    throw translateSqliteError(error);
  } finally {
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA synchronous = FULL`);
  }
}

/** The volumes that end with a resume, as a list of SQL strings. */
const CLEARED_VOLUMES = VOLUMES.filter((volume) => !VOLUME_CONTRACTS[volume].survivesResume)
  .map((volume) => `'${volume}'`)
  .join(', ');

function hasTmp(db: DatabaseSync): boolean {
  const some = db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM vfs WHERE volume IN (${CLEARED_VOLUMES})) OR EXISTS (SELECT 1 FROM vfs_node WHERE volume IN (${CLEARED_VOLUMES})) AS some`,
    )
    .get()?.some;
  return some !== 0;
}

/** Empties them by name, in one statement per table. */
function clearTmp(db: DatabaseSync): void {
  db.exec(
    `BEGIN IMMEDIATE; DELETE FROM vfs WHERE volume IN (${CLEARED_VOLUMES}); DELETE FROM vfs_node WHERE volume IN (${CLEARED_VOLUMES}); COMMIT`,
  );
}

/** No log beside the file, and its header does not ask for one. Only for a file that this process has not open. */
function isClean(file: string): boolean {
  return ![...LOGS, '-shm'].some((log) => existsSync(file + log)) && !asksForLog(file);
}

/**
 * Whether there is anything to take up. Power loss may leave the names of a log and its index, and neither a byte in
 * them nor the header that asks for them: SQLite then leaves both where they are.
 */
function holdsLog(file: string): boolean {
  return asksForLog(file) || LOGS.some((log) => (statSync(file + log, { throwIfNoEntry: false })?.size ?? 0) > 0);
}

function dropEmptyLogs(file: string): void {
  for (const log of [...LOGS, '-shm']) unlinkFileNow(file + log);
  syncDirectory(dirname(file));
}

/** Whether the header says that the file is written by a log. Only for a file that this process has not open. */
export function asksForLog(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const header = Buffer.alloc(1);
    return readSync(descriptor, header, 0, 1, WRITE_VERSION_AT) === 1 && header[0] !== 1;
  } finally {
    closeSync(descriptor);
  }
}

/** Whole pages in `maxBytes`, within what SQLite can count. */
function pageLimit(maxBytes: number, pageBytes: number): number {
  return Math.min(Math.max(1, Math.floor(maxBytes / pageBytes)), 0xffff_fffe);
}

function address(file: string, query: string): URL {
  const url = pathToFileURL(file);
  url.search = query;
  return url;
}

/** Node's permission model refuses fsync; a process under it leaves this to the one that files what it closed. */
function syncDirectory(directory: string): void {
  if (process.permission !== undefined) return;
  syncFolderNow(directory);
}

function missingFile(): WinterdockError {
  return new WinterdockError('missing_file', 'The file of the sandbox is not where its row says.', {
    hint: waysOut('missing'),
  });
}

function heldByOthers(): WinterdockError {
  return new WinterdockError(
    'conflict',
    'The file of the sandbox cannot be put to rest: another reader or writer holds it.',
    {
      hint: 'Try again when its readers are done; nothing was lost.',
      retryAfterSeconds: 1,
    },
  );
}

/** Only what was seen is said: why it is so is not known. */
function notAtRest(seen: string): WinterdockError {
  return new WinterdockError('conflict', `The file of the sandbox could not be put to rest: ${seen}.`, {
    retryAfterSeconds: 1,
  });
}
