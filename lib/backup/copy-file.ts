/**
 * Copies files that may be in use, without a lease: copies a file, then checks that it did not change meanwhile. Never
 * writes to a source. Knows nothing of rows.
 */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { makeNewFolder, removeTree, renameFile, syncFile } from '../base/effects.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { copyRegular } from '../base/strangers-file.ts';
import { mostOf } from '../sandboxes/moves/live-folder-landing.ts';
import type { RestingFile } from '../storage/drawer.ts';
import { isCode, sha256Of, stampOf } from '../storage/files.ts';
import { type FileStamp, sameStamp, stampFrom } from '../storage/stamp.ts';
import type { Readers } from '../vfs/types.ts';
import type { ObjectRef } from './manifest.ts';

/** Characters of a complaint. */
export const MOST_WORDS = 300;
/** What is said of a file with other bytes than its row has. */
export const NOT_THE_FILED = 'its bytes are not those that were filed';

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
 * Copies a file beside the process that writes it, as one moment left it. Throws `FileMoved` when SQLite cannot read it
 * just now.
 */
export async function copyOnline(readers: Readers, path: string, draft: string): Promise<CopiedFile> {
  // SQLite follows links.
  if (stampOf(path) === null) throw new FileMoved(path);
  return inOwnFolder(draft, (copy) => settled(readers, path, copy));
}

/**
 * Copies a file together with the log that a killed process left beside it, and takes up the log in the copy. Throws
 * `FileMoved` as copyResting does, and when the file has more than `most` bytes by now, or a log more than it can have.
 */
export async function copyWithLog(readers: Readers, path: string, draft: string, most: number): Promise<CopiedFile> {
  const logs = ['-wal', '-journal'].filter((log) => stampOf(path + log) !== null);
  const stamps = () => ['', '-wal', '-journal'].map((suffix) => stampOf(path + suffix));
  const before = stamps();
  const bytes = before[0]?.size;
  if (bytes === undefined) throw new FileMoved(path);
  return inOwnFolder(draft, async (copy) => {
    await copied(path, copy, most);
    for (const log of logs) await copied(path + log, copy + log, mostOf(log, most));
    if (stamps().some((stamp, at) => !same(stamp, before[at] ?? null))) throw new FileMoved(path);
    // SQLite deletes a log that lies beside an empty file.
    if (bytes === 0 && logs.length > 0) return 'it has 0 bytes and a log beside it, which was not copied';
    return settled(readers, null, copy);
  });
}

/** What a check says of a copy at rest: its first complaint, or null. */
export async function complaintOf(
  readers: Readers,
  draft: string,
  { packed = false, filed = null }: { packed?: boolean; filed?: string | null } = {},
): Promise<string | null> {
  try {
    const { quickCheck, sha256 } = await readers.check(draft, { urgent: true, packed });
    if (quickCheck !== 'ok') return quickCheck.slice(0, MOST_WORDS);
    return filed === null || sha256 === filed ? null : NOT_THE_FILED;
  } catch (error) {
    return messageOf(error).slice(0, MOST_WORDS);
  }
}

/** Has a copy made in a folder of its own, in which its reader may write, and gives it its place. */
async function inOwnFolder(draft: string, work: (copy: string) => Promise<string | null>): Promise<CopiedFile> {
  const folder = `${draft}.folder`;
  const copy = join(folder, 'copy.sqlite');
  await makeNewFolder(folder);
  try {
    const wrong = await work(copy);
    await renameFile(copy, draft);
    return { object: await objectAt(draft), wrong };
  } finally {
    await removeTree(folder);
  }
}

/**
 * Makes one clean file of a copy, behind walls. One process that fell is no reason to end a backup: the file is tried
 * again.
 */
async function settled(readers: Readers, from: string | null, copy: string): Promise<string | null> {
  try {
    return await readers.copyComplete(from, copy);
  } catch (error) {
    throw new FileMoved(messageOf(error), { cause: error });
  }
}

async function copied(path: string, draft: string, most = Number.POSITIVE_INFINITY): Promise<void> {
  try {
    await copyRegular(path, draft, constants.COPYFILE_FICLONE, ({ size }) => {
      if (size > most) throw new FileMoved(path);
    });
  } catch (error) {
    // A link, or anything but a file, is not the sandbox's.
    if (['ENOENT', 'corrupt'].some((code) => isCode(error, code))) throw new FileMoved(path);
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
