/**
 * The file work of passing through `active` without a process: the file goes to the live drawer, and back when the
 * filing that asked for it fails. The caller holds the file exclusively and has written the intent.
 */
import { dirname } from 'node:path';
import { makeFolderNow, syncFolder } from '../../base/effects.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { absolutePath, type Engine, livePath } from '../engine.ts';
import { fetchToLive, fileOf, isSharedCopy, locationOf } from './file-locations.ts';
import {
  ensureNoStrayLog,
  type FileFingerprint,
  verifyArchived,
  verifyForOpening,
  verifySharedCopy,
} from './file-verification.ts';
import { removeListing } from './listing.ts';

/**
 * Brings the file of a sandbox without a process to the live drawer, durably; makes an empty file where there never was
 * one. tmp stays: the next process clears it. Returns what is known of the bytes. Throws what a wake throws of a file.
 */
export async function bringLiveWithoutProcess(
  engine: Engine,
  row: InstanceRow,
  force: boolean,
): Promise<Partial<FileFingerprint> | null> {
  const location = locationOf(engine, row);
  const from = fileOf(engine, row);
  let known: Partial<FileFingerprint> | null = null;
  // Nothing opens the file here: by force it moves as it is, and its fault stays for the next wake to decide.
  if (!force && (location === 'live' || location === 'cold' || isSharedCopy(location))) {
    known = await verifyForOpening(engine, row, from, false);
  }
  if (force && (location === 'live' || location === 'cold')) await ensureNoStrayLog(engine, row, from);
  if (location === 'archive') known = await verifyArchived(engine, row, from, force);
  if (isSharedCopy(location)) await verifySharedCopy(engine, row, from);
  const { makeDurable } = await fetchToLive(engine, row, location);
  const file = absolutePath(engine, livePath(row.id));
  if (location === 'none') {
    makeFolderNow(dirname(file));
    known = { identity: await mark(engine, file, false) };
    await syncFolder(dirname(file));
  }
  await makeDurable();
  // A copy has no mark of its own, and a wake that is interrupted later can tell it from another file by nothing else.
  return isSharedCopy(location) ? { identity: await mark(engine, file, true) } : known;
}

/**
 * Writes a mark into a live file, by which it is recognised later; makes the file when there is none. Returns the mark;
 * null when the file has no room for it.
 */
function mark(engine: Engine, file: string, mustExist: boolean): Promise<string | null> {
  const { maxSandboxBytes: maxBytes, maxFileBytes } = engine.config;
  return engine.readers.mark(file, { maxBytes, maxFileBytes, mustExist });
}

/** Removes the archived file and listing of a sandbox that left the archive. */
export async function removeArchivedFile(engine: Engine, id: InstanceId): Promise<void> {
  await engine.drawers.archive.at(id).remove();
  await removeListing(engine, id);
}
