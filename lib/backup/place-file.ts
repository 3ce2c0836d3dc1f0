/**
 * Places objects of a backup in drawers: each atomically, and verified before it is in its place. Knows nothing of
 * rows.
 */
import { createReadStream, constants as fsConstants } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { copyFile, writeStream } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { stampAt } from '../sandboxes/files/file-verification.ts';
import type { RestingFile } from '../storage/drawer.ts';
import { moveFile, sha256Of } from '../storage/files.ts';
import type { FileStamp } from '../storage/stamp.ts';
import type { ObjectRef } from './manifest.ts';
import type { OpenedBackup } from './open-backup.ts';

/**
 * Places an object as a file at rest, replacing any that is there. One that was made for this restore is moved: nobody
 * needs a second one. Returns its stamp.
 */
export async function placeFile(
  backup: OpenedBackup,
  object: ObjectRef,
  file: RestingFile,
  label: string,
): Promise<FileStamp> {
  const own = backup.take(object);
  if (own !== null) await file.replace((unfinished) => moveHere(own, unfinished), { isSynced: true });
  else await copyHere(backup, object, file, label);
  const stamp = await stampAt(file);
  if (stamp === null) throw new WinterdockError('storage_unavailable', `The restored file of ${label} is missing.`);
  return stamp;
}

async function moveHere(source: string, unfinished: string): Promise<void> {
  await (await moveFile(source, unfinished, dirname(unfinished))).makeDurable();
}

async function copyHere(backup: OpenedBackup, object: ObjectRef, file: RestingFile, label: string): Promise<void> {
  const source = await backup.path(object, label);
  await file.replace(async (unfinished) => {
    await copyFile(source, unfinished, fsConstants.COPYFILE_FICLONE);
    if ((await sha256Of(unfinished)) !== object.sha256) {
      throw new WinterdockError('storage_unavailable', `The restored file of ${label} reads back with other bytes.`, {
        hint: 'Check the disk of the data folder, then run the restore again.',
      });
    }
  });
}

/** Writes the plain file of an object to `to` (absolute): expanded when it is packed. Throws `corrupt`. */
export async function expandTo(
  backup: OpenedBackup,
  object: ObjectRef,
  to: string,
  { label, packed }: { label: string; packed: boolean },
): Promise<void> {
  const own = packed ? null : backup.take(object);
  if (own !== null) return moveHere(own, to);
  const source = await backup.path(object, label);
  try {
    if (packed) await pipeline(createReadStream(source), createZstdDecompress(), writeStream(to));
    else await pipeline(createReadStream(source), writeStream(to));
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^Z(STD)?_/.test(String(error.code))) {
      throw new WinterdockError('corrupt', `The backup's file of ${label} does not expand.`, { cause: error });
    }
    throw error;
  }
}
