/**
 * Copies files that may be in use, without a lease: copies a file, then checks that it did not change meanwhile. Never
 * writes to a source. Knows nothing of rows.
 */
import { constants } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { syncFile, unlinkFile } from '../base/effects.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { copyRegular } from '../base/strangers-file.ts';
import type { RestingFile } from '../storage/drawer.ts';
import { isCode, sha256Of, stampOf } from '../storage/files.ts';
import { type FileStamp, sameStamp, stampFrom } from '../storage/stamp.ts';
import type { ObjectRef } from './manifest.ts';

/** Pages copied in one step: all of them, so that writes beside it do not make it begin again. */
const EVERY_PAGE = 2_147_483_647;
const BUSY_MS = 5000;

/** Thrown when the source changed during the copy: the caller tries again. */
export class FileMoved extends Error {}

export interface CopiedFile {
  object: ObjectRef;
  /** The first complaint of SQLite's `quick_check`, or null. */
  wrong: string | null;
}

/** Whether two stamps are of the same, untouched file. */
function same(a: FileStamp | null, b: FileStamp | null): boolean {
  if (a === null || b === null) return a === b;
  return sameStamp(a, b);
}

/**
 * Copies the bytes of a file at rest to `draft`, sharing blocks where the drawer and the filesystem can. Throws
 * `FileMoved` when the file was not at rest.
 */
export async function copyResting(file: RestingFile, draft: string): Promise<{ object: ObjectRef; stamp: FileStamp }> {
  const before = await file.stat();
  if (before === null) throw new FileMoved(file.address);
  const stamp = stampFrom(before);
  await readResting(file, (path) => copied(path, draft));
  const after = await file.stat();
  if (after === null || !sameStamp(stamp, stampFrom(after))) throw new FileMoved(file.address);
  return { object: await objectAt(draft), stamp };
}

/** Looks at the bytes of a file where it rests. Throws `FileMoved` when it is not there any more. */
export async function readResting<T>(file: RestingFile, look: (path: string) => Promise<T>): Promise<T> {
  try {
    return await file.read(look);
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'missing_file') throw new FileMoved(file.address);
    throw error;
  }
}

/**
 * Copies a file beside the process that writes it, as one moment left it: in one read transaction, which no writer
 * waits for. Throws `FileMoved` when SQLite cannot read it just now.
 */
export async function copyOnline(path: string, draft: string): Promise<CopiedFile> {
  let source: DatabaseSync | null = null;
  // SQLite follows links.
  if (stampOf(path) === null) throw new FileMoved(path);
  try {
    const address = pathToFileURL(path);
    address.search = 'mode=ro';
    source = new DatabaseSync(address, { readOnly: true, timeout: BUSY_MS, allowExtension: false });
    source.exec('PRAGMA trusted_schema = OFF');
    await backup(source, draft, { rate: EVERY_PAGE });
  } catch (error) {
    await unlinkFile(draft);
    throw new FileMoved(messageOf(error), { cause: error });
  } finally {
    source?.close();
  }
  return settled(draft);
}

/**
 * Copies a file together with the log that a killed process left beside it, and takes up the log in the copy. Throws
 * `FileMoved` as copyResting does.
 */
export async function copyWithLog(path: string, draft: string): Promise<CopiedFile> {
  const logs = ['-wal', '-journal'].filter((log) => stampOf(path + log) !== null);
  const stamps = () => ['', '-wal', '-journal'].map((suffix) => stampOf(path + suffix));
  const before = stamps();
  const bytes = before[0]?.size;
  if (bytes === undefined) throw new FileMoved(path);
  try {
    await copied(path, draft);
    for (const log of logs) await copied(path + log, draft + log);
    if (stamps().some((stamp, at) => !same(stamp, before[at] ?? null))) throw new FileMoved(path);
    // SQLite deletes a log that lies beside an empty file.
    if (bytes === 0 && logs.length > 0) {
      return { object: await objectAt(draft), wrong: 'it has 0 bytes and a log beside it, which was not copied' };
    }
    return await settled(draft);
  } finally {
    for (const suffix of ['-wal', '-journal', '-shm']) await unlinkFile(draft + suffix);
  }
}

/** What SQLite says of the structure of a copy at rest: its first complaint, or null. */
export function complaintOf(draft: string): string | null {
  const address = pathToFileURL(draft);
  address.search = 'immutable=1';
  return complaint(() => new DatabaseSync(address, { readOnly: true, allowExtension: false }));
}

/** Makes one clean file of a copy, out of WAL mode as every file at rest is. */
async function settled(draft: string): Promise<CopiedFile> {
  const wrong = complaint(() => {
    const db = new DatabaseSync(draft, { allowExtension: false });
    db.exec('PRAGMA trusted_schema = OFF; PRAGMA journal_mode = DELETE');
    return db;
  });
  return { object: await objectAt(draft), wrong };
}

function complaint(open: () => DatabaseSync): string | null {
  let db: DatabaseSync | null = null;
  try {
    db = open();
    const says = db.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    return says === 'ok' ? null : String(says).slice(0, 300);
  } catch (error) {
    return messageOf(error).slice(0, 300);
  } finally {
    db?.close();
  }
}

async function copied(path: string, draft: string): Promise<void> {
  try {
    await copyRegular(path, draft, constants.COPYFILE_FICLONE);
  } catch (error) {
    // A link, or anything but a file, is not the sandbox's.
    if (['ENOENT', 'ELOOP', 'EINVAL'].some((code) => isCode(error, code))) throw new FileMoved(path);
    throw error;
  }
}

/** Puts a draft on disk and reads it back. */
export async function objectAt(draft: string): Promise<ObjectRef> {
  await syncFile(draft);
  const stamp = stampOf(draft);
  if (stamp === null) throw new WinterdockError('internal', 'What was just copied is not there.');
  return { sha256: await sha256Of(draft), bytes: stamp.size };
}
