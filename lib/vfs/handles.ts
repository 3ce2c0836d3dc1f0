/**
 * SQLite handles on a VFS file: live (WAL, the processes of one sandbox), at rest (immutable), beside a live process
 * (read-only), and the recovery to rest. Owns every pragma; knows nothing of the contents of the tables.
 *
 * The process that holds a live file must not open and close it by other means: POSIX releases a process's locks on a
 * file when the process closes any descriptor of it.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { syncFolderNow, unlinkFileNow } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { giveMadeToOwner } from '../base/folder-owner.ts';
import { isThere } from '../base/is-there.ts';
import { bytesAtNow, lookAtNow } from '../base/strangers-file.ts';
import { clearTmp, hasTmp } from './clear-tmp.ts';
import { heldByOthers, missingFile, notAtRest } from './place-errors.ts';
import { ensureSchema, inspectSchema, type Schema } from './schema.ts';
import { leaveOpen, SHIPPED_FILE_BYTES } from './shipped-log.ts';
import { corruptFile, translateSqliteError, unreadableBytes } from './sqlite-errors.ts';
import type { ReadTarget } from './types.ts';

interface OpenFile {
  db: DatabaseSync;
  schema: Schema;
}

interface LiveFile extends OpenFile {
  /** Enters WAL mode, which must happen before any write. Null when the file is already in it or does not need it. */
  enterWal: (() => void) | null;
}

/** How long a handle waits for a lock before it fails, in milliseconds. */
const BUSY_MS = 1000;
/** Longer than any read beside a live file may take: a first write waits for an earlier reader instead of failing. */
const ENTER_BUSY_MS = 35_000;
/** Size to which a checkpoint truncates the log, so that one large write does not leave a large log. */
const LOG_BYTES = 4 * 1024 * 1024;

/**
 * Address space for a file that is read as a whole while nobody can change it: a quarter of the system's time. Where
 * the disk fails under a mapping the process is killed, so only processes that may be killed map files.
 */
const MAPPED_BYTES = 2_147_418_112;

/** Suffixes of the files beside a database in which SQLite keeps committed or rolled-back pages. */
const LOGS = ['-wal', '-journal'];
/** Offset of the write version in the header: 1 is a rollback journal, 2 is WAL. */
const WRITE_VERSION_AT = 18;

/** Options of every handle on a VFS file. */
export const OPTIONS: DatabaseSyncOptions = {
  timeout: BUSY_MS,
  allowExtension: false,
  defensive: true,
  enableForeignKeyConstraints: false,
  enableDoubleQuotedStringLiterals: false,
  limits: { attach: 0, triggerDepth: 0 },
};

/**
 * Settings that SQLite recommends for hostile files: the schema calls no function with side effects, and cells are
 * checked as they are read.
 */
const DISTRUST = 'PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;';
/** Large sorts stay in memory, where the process has a limit, and never fill the machine's temporary folder. */
const IN_MEMORY = 'PRAGMA temp_store = MEMORY;';
const CHECKPOINTED = `PRAGMA journal_size_limit = ${LOG_BYTES};`;
const SHIPPED = `PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${SHIPPED_FILE_BYTES};`;

/**
 * Opens a writing handle: WAL, `synchronous=FULL`, both tables created, and every volume that does not survive a
 * resume cleared. Writes only if something is missing. `maxBytes` limits the file. With `walLater`, a complete file is
 * left untouched, and the caller must run `enterWal` before the first write. `joins`: another process has it open for
 * writing, so tmp is in use and stays. `shipsLog`: it checkpoints nothing by itself, and one that fails stays open.
 * `knowsNative`: see `inspectSchema`.
 * Throws `missing_file` (with `mustExist`), `corrupt`, `conflict`, `storage_unavailable`.
 */
export function openLiveFile(
  file: string,
  options: {
    maxBytes: number;
    mustExist: boolean;
    walLater?: boolean;
    joins?: boolean;
    shipsLog?: boolean;
    knowsNative?: boolean;
  },
): LiveFile {
  const inMemory = file === ':memory:';
  if (!inMemory) refuseLink(file);
  if (options.mustExist && !inMemory && !isThere(file)) throw missingFile();
  if (!inMemory) refuseEmptyBesideLog(file, options.mustExist ? LOGS : LOGS.slice(0, 1));
  let later = false;
  const { db, schema } = openDatabase(
    inMemory ? file : address(file, `mode=${options.mustExist ? 'rw' : 'rwc'}`),
    OPTIONS,
    (opening) => {
      if (!inMemory) giveMadeToOwner(file);
      opening.exec(`${DISTRUST} ${IN_MEMORY} PRAGMA synchronous = FULL;`);
      opening.exec(options.shipsLog ? SHIPPED : CHECKPOINTED);
      const found = inspectSchema(opening, { knowsNative: options.knowsNative === true });
      if (!found.vfs && options.mustExist) throw corruptFile('it is empty');
      const pageBytes = Number(opening.prepare('PRAGMA page_size').get()?.page_size);
      opening.exec(`PRAGMA max_page_count = ${pageLimit(options.maxBytes, pageBytes)}`);
      if (!found.vfs && !inMemory) createDurably(opening, found);
      const keepsTmp = options.joins === true;
      later = options.walLater === true && (found.nodes || !found.vfs) && !inMemory && (keepsTmp || !hasTmp(opening));
      if (!inMemory && !later) enterWal(opening);
      ensureSchema(opening, found.vfs ? found : inspectSchema(opening));
      if (!later && !keepsTmp && hasTmp(opening)) clearTmp(opening);
      return { vfs: true, nodes: true, isNativeOnly: found.isNativeOnly };
    },
    { leavesOpen: options.shipsLog === true },
  );
  return { db, schema, enterWal: later ? () => enterWalBesideReaders(db) : null };
}

/** A second handle of the process that has a live file open, to checkpoint it. Throws SQLite's own errors. */
export function openCheckpointer(file: string): DatabaseSync {
  const { db } = openDatabase(address(file, 'mode=rw'), OPTIONS, (opening) => {
    opening.exec(`${DISTRUST} ${IN_MEMORY} PRAGMA synchronous = FULL; ${SHIPPED}`);
    // The first read opens the log.
    return inspectSchema(opening, { knowsNative: true });
  });
  return db;
}

/**
 * Checkpoints, leaves WAL mode and closes. Afterwards the file alone holds everything, synced to disk. Throws
 * `conflict` while another reader or writer has the file open; the handle then stays open and nothing is lost.
 * `keepsFrames`: the log is removed as it is, and not emptied before, so that another name of it keeps its frames.
 */
export function restLiveFile(db: DatabaseSync, { keepsFrames = false }: { keepsFrames?: boolean } = {}): void {
  const file = db.location();
  if (file === null) {
    db.close();
    return;
  }
  try {
    const log = db.prepare(`PRAGMA wal_checkpoint(${keepsFrames ? 'PASSIVE' : 'TRUNCATE'})`).get();
    if (log?.busy !== 0 || log.checkpointed !== log.log) throw heldByOthers();
    // Writes one page, as enterWal does, but with an fsync. Fails when any other connection is open.
    const mode = db.prepare('PRAGMA journal_mode = MEMORY').get()?.journal_mode;
    if (mode !== 'memory') throw notAtRest(`SQLite left it in ${mode} mode`);
  } catch (error) {
    throw translateSqliteError(error);
  }
  db.close();
  removeEmptyLog(file);
  const left = process.permission === undefined ? [...LOGS, '-shm'].some((end) => isThere(file + end)) : holdsLog(file);
  // Nobody else had it open: the disk failed what SQLite does without saying so.
  if (left) throw unreadableBytes();
  syncDirectory(dirname(file));
}

/**
 * After a power loss a log can exist by name only, with neither its own bytes nor the file's new header on disk. SQLite
 * treats a log of 0 bytes as absent: it opens the file without it and does not remove it on close. Such a log and its
 * index hold nothing, so they can be removed.
 */
function removeEmptyLog(file: string): void {
  // A process that may not remove it leaves it to the one that files the sandbox.
  if (process.permission !== undefined) return;
  if (bytesAtNow(`${file}-wal`) > 0) return;
  for (const name of [`${file}-wal`, `${file}-shm`]) if (isThere(name)) unlinkFileNow(name);
}

/**
 * Recovers the file of a killed process: replays its log and leaves WAL mode. A clean file is left unchanged. tmp is
 * not cleared. Throws `missing_file`; `corrupt`, also for an empty file, which is left in place with the files beside
 * it; and `conflict` while another process has the file open. `keepsFrames`: see `restLiveFile`.
 */
export function recoverFile(file: string, options: { keepsFrames?: boolean } = {}): void {
  if (!isThere(file)) throw missingFile();
  refuseLink(file);
  refuseEmptyBesideLog(file, LOGS);
  if (bytesAtNow(file) === 0) throw corruptFile('it is empty');
  if (isClean(file)) return;
  if (!holdsLog(file)) {
    dropEmptyLogs(file);
    return;
  }
  const { db } = openDatabase(address(file, 'mode=rw'), OPTIONS, (opening) => {
    opening.exec(`${DISTRUST} PRAGMA synchronous = FULL`);
    return inspectSchema(opening, { knowsNative: true });
  });
  try {
    restLiveFile(db, options);
  } finally {
    if (db.isOpen) db.close();
  }
}

/**
 * Opens a file that nobody writes: takes no lock and creates no file beside it. Throws `missing_file`, `corrupt`, and
 * `conflict` when a log lies beside the file: the file is then not at rest, and without its log it would be incomplete.
 * `mapped`: for reading all of a file that nobody truncates meanwhile.
 */
export function openRestingFile(file: string, { mapped = false }: { mapped?: boolean } = {}): OpenFile {
  refuseLink(file);
  refuseLog(file);
  const opened = openReading(file, 'immutable=1');
  if (mapped) opened.db.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`);
  return opened;
}

/** Refuses an empty file: SQLite would delete the log beside it, which may be all that is left of a sandbox. */
function refuseEmptyBesideLog(file: string, logs: readonly string[]): void {
  if (!isThere(file) || bytesAtNow(file) !== 0) return;
  const bytes = logs.map((log) => bytesAtNow(file + log)).find((one) => one > 0);
  if (bytes !== undefined) throw corruptFile(`it has 0 bytes, and a log of ${bytes} bytes lies beside it`);
}

function refuseLog(file: string): void {
  if (['-wal', '-journal'].every((log) => bytesAtNow(file + log) === 0)) return;
  throw new WinterdockError('conflict', 'The file of the sandbox is not at rest: a log lies beside it.', {
    retryAfterSeconds: 1,
  });
}

/** Reads the committed state while another process writes the file. Throws `missing_file`, `corrupt`, `conflict`. */
export function openFileBeside(file: string): OpenFile {
  refuseLink(file);
  return openReading(file, 'mode=ro');
}

/**
 * Attaches a file as `source` to a handle, read in the same way as by `openRestingFile` or `openFileBeside`. Throws
 * `missing_file`, and SQLite's own errors.
 */
export function attachReading(db: DatabaseSync, target: ReadTarget): void {
  refuseLink(target.path);
  if (target.mode === 'rest') refuseLog(target.path);
  try {
    db.exec(DISTRUST);
    db.prepare('ATTACH ? AS source').run(
      address(target.path, target.mode === 'rest' ? 'mode=ro&immutable=1' : 'mode=ro').href,
    );
    if (target.mode === 'rest') db.exec(`PRAGMA source.mmap_size = ${MAPPED_BYTES}`);
  } catch (error) {
    throw isThere(target.path) ? error : missingFile();
  }
}

function openReading(file: string, query: string): OpenFile {
  refuseEmptyBesideLog(file, LOGS);
  try {
    return openDatabase(address(file, query), { ...OPTIONS, readOnly: true }, (db) => {
      db.exec(`${DISTRUST} ${IN_MEMORY}`);
      const schema = inspectSchema(db, { knowsNative: true });
      if (!schema.vfs) throw corruptFile('it is empty');
      return schema;
    });
  } catch (error) {
    throw isThere(file) ? error : missingFile();
  }
}

function openDatabase(
  address: URL | string,
  options: DatabaseSyncOptions,
  prepare: (db: DatabaseSync) => Schema,
  { leavesOpen = false }: { leavesOpen?: boolean } = {},
): OpenFile {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(address, options);
    return { db, schema: prepare(db) };
  } catch (error) {
    if (leavesOpen && db !== undefined) leaveOpen(db);
    else db?.close();
    throw translateSqliteError(error);
  }
}

/**
 * SQLite follows links and waits for the other end of a pipe: a process that was taken over can have put one there.
 * Once for each opening, before anything else looks at the file.
 */
function refuseLink(file: string): void {
  for (const part of ['', ...LOGS, '-shm']) {
    const stat = lookAtNow(file + part);
    if (stat === null || stat.isFile()) continue;
    throw corruptFile(`it${part} is ${stat.isSymbolicLink() ? 'a link to another file' : 'no regular file'}`);
  }
}

/**
 * Creates the tables of a new file in one transaction with a rollback journal, and with `synchronous=EXTRA`, which also
 * syncs the folder after the journal is deleted. When this returns, the file, its name and its first page are on disk.
 * Only then may the file have a log: SQLite deletes a log beside an empty file, whatever was committed to it.
 */
function createDurably(db: DatabaseSync, schema: Schema): void {
  db.exec('PRAGMA synchronous = EXTRA');
  ensureSchema(db, schema);
  db.exec('PRAGMA synchronous = FULL');
}

/**
 * WAL mode is two bytes of the first page. SQLite would create, sync and delete a journal to change them, and sync the
 * file. This writes the one page without an fsync, so that a wake waits for no disk. This is safe for a file that is
 * already on disk (see `createDurably`). If the process is killed, the page is either written or not. Only its first
 * 100 bytes change, which is one sector, so a power loss leaves the old header or the new one over the same contents.
 * Nothing is lost with the old header: the first fsync of the log also syncs its name, SQLite reads an existing log
 * whatever the header says, and a checkpoint syncs the file before it truncates the log.
 */
function enterWal(db: DatabaseSync): void {
  const now = db.prepare('PRAGMA journal_mode').get()?.journal_mode;
  if (now === 'wal') return;
  db.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY');
  if (db.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode !== 'wal') throw heldByOthers();
  db.exec('PRAGMA synchronous = FULL');
}

/** Does the same for a file that others may already be reading: waits until the last of them is done. */
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

/**
 * True when there is no log beside the file and its header is not in WAL mode. Only for a file that this process does
 * not have open.
 */
function isClean(file: string): boolean {
  return ![...LOGS, '-shm'].some((log) => isThere(file + log)) && !hasWalHeader(file);
}

/**
 * True when there is something to recover. After a power loss, a log and its index can exist by name only, with no
 * bytes in them and no WAL mode in the header. SQLite leaves such files in place.
 */
function holdsLog(file: string): boolean {
  return hasWalHeader(file) || LOGS.some((log) => bytesAtNow(file + log) > 0);
}

function dropEmptyLogs(file: string): void {
  for (const log of [...LOGS, '-shm']) unlinkFileNow(file + log);
  syncDirectory(dirname(file));
}

/** True when the header is in WAL mode. Only for a file that this process does not have open. */
export function asksForLog(file: string): boolean {
  refuseLink(file);
  return hasWalHeader(file);
}

function hasWalHeader(file: string): boolean {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const header = Buffer.alloc(1);
    return readSync(descriptor, header, 0, 1, WRITE_VERSION_AT) === 1 && header[0] !== 1;
  } finally {
    closeSync(descriptor);
  }
}

/** Number of whole pages in `maxBytes`, at most what SQLite can count. */
function pageLimit(maxBytes: number, pageBytes: number): number {
  return Math.min(Math.max(1, Math.floor(maxBytes / pageBytes)), 0xffff_fffe);
}

function address(file: string, query: string): URL {
  const url = pathToFileURL(file);
  url.search = query;
  return url;
}

/**
 * Syncs a file to disk. Node's permission model forbids fsync; a restricted process leaves it to the process that files
 * the sandbox.
 */
function syncDirectory(directory: string): void {
  if (process.permission !== undefined) return;
  syncFolderNow(directory);
}
