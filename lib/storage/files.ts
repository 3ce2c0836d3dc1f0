/**
 * Durable file work: stamps, folder fsyncs, renames that survive power loss and fall back to verified copies across
 * filesystems.
 */
import { randomUUID } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as effects from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { hashFile } from '../base/hash-file.ts';
import { leadsNowhere } from '../base/is-there.ts';
import { isStrangers, isThereNow, lookAtNow, readRegular } from '../base/strangers-file.ts';
import type { Placed } from './drawer.ts';
import { type DrawerStat, type FileStamp, tagOf } from './stamp.ts';

/** The stamp of a local file, or null when there is none. A link in a live folder is none; any other is followed. */
export function stampOf(path: string): FileStamp | null {
  const stat = isStrangers(path) ? lookAtNow(path) : followed(path);
  if (!stat?.isFile()) return null;
  return {
    size: Number(stat.size),
    inode: String(stat.ino),
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
  };
}

function followed(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (leadsNowhere(error)) return undefined;
    throw error;
  }
}

/** The drawer's facts of a file on disk, or null when there is none. */
export function statOf(path: string): DrawerStat | null {
  const stamp = stampOf(path);
  return stamp === null ? null : { size: stamp.size, tag: tagOf(stamp) };
}

/** True when an error has this system error code, such as `ENOENT`. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** The lower-case hex SHA-256 of a file. */
export async function sha256Of(path: string): Promise<string> {
  return (await hashFile(path)).sha256;
}

/**
 * The folder of unfinished work in each drawer: on the drawer's own filesystem, so that a finished file is renamed into
 * its place.
 */
const STAGING = '.staging';
/** In the live drawer: where live folders are taken to before anything in them is opened or removed. */
export const LANDING = '.landing';

/**
 * The staging path for a file that will be at `target` (absolute, in a drawer of the data folder): beside the drawer's
 * files, and emptied at every start.
 */
export function stagingFor(dataFolder: string, target: string): string {
  const [drawer = '', ...below] = relative(dataFolder, target).split(sep);
  return below.length === 0 || drawer === '..' ? join(dirname(target), STAGING) : join(dataFolder, drawer, STAGING);
}

/** Removes unfinished work in every drawer: it never reached its place. */
export async function clearStaging(dataFolder: string): Promise<void> {
  // Earlier versions used this one folder for all drawers.
  const drawers = (await readdir(dataFolder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  for (const { name } of drawers) {
    // No drawer: what lies there is of workers.
    if (name === 'spill') continue;
    const staging = name === 'staging' ? join(dataFolder, name) : join(dataFolder, name, STAGING);
    try {
      if (isThereNow(staging)) await emptyFolder(staging);
    } catch (error) {
      // What another user has closed to this one, as `lost+found` is, holds no work of ours.
      if (!isCode(error, 'EACCES')) throw error;
    }
  }
}

/** Removes what is in a folder. The folder itself stays. */
export async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await effects.removeTree(join(folder, name));
}

/** True when a name in a drawer is a folder of unfinished work. */
export function isStaging(name: string): boolean {
  return name === STAGING || name === LANDING;
}

/**
 * Moves a file. On one filesystem it is a rename: the same inode, and a cost that does not grow with the file. Across
 * filesystems it is copy, fsync, verify, rename, fsync of the folder, and the source is removed last. `staging` is a
 * folder on the target's filesystem for the unfinished copy. Throws `missing_file` when there is no source.
 */
export async function moveFile(source: string, target: string, staging: string): Promise<Placed> {
  try {
    effects.renameFileNow(source, target);
  } catch (error) {
    if (isCode(error, 'ENOENT') && stampOf(source) === null) {
      throw new WinterdockError('missing_file', 'The file is not where its row says.', { cause: error });
    }
    if (!isCode(error, 'EXDEV')) throw error;
    await copyWhole(source, target, staging);
    await removeFile(source);
    return { moved: true, makeDurable: async () => {} };
  }
  return {
    moved: true,
    async makeDurable() {
      // In this order: a power cut between the two may leave both names, never none.
      await effects.syncFolder(dirname(target));
      await effects.syncFolder(dirname(source));
    },
  };
}

/** Copies a file so that the target is complete or absent: copy, fsync, verify by hash, rename, fsync of the folder. */
export async function copyWhole(source: string, target: string, staging: string): Promise<void> {
  await intoPlace(target, staging, async (unfinished) => {
    await pipeline(await readRegular(source), effects.writeStream(unfinished));
    await effects.syncFile(unfinished);
    if ((await sha256Of(source)) !== (await sha256Of(unfinished))) {
      throw new WinterdockError('storage_unavailable', 'A copy between drawers reads back with other bytes.', {
        hint: 'The source was kept. Check the disk, then try again.',
      });
    }
  });
}

/** Unfinished or used-up files that could not be removed. */
const leftovers = new Set<string>();

/**
 * Removes a file or folder that is no longer needed. Its purpose is already fulfilled or failed, so a failing disk
 * changes nothing: `discardLeft` tries again, and the next start removes what is still left.
 */
export async function discard(path: string): Promise<void> {
  try {
    await effects.removeTree(path);
    leftovers.delete(path);
  } catch {
    leftovers.add(path);
  }
}

/** Removes the files that `discard` could not remove. */
export async function discardLeft(): Promise<void> {
  for (const path of leftovers) await discard(path);
}

/**
 * Runs `write` on a temporary path in `staging`, then fsyncs it and renames it to `target`. A failure leaves nothing
 * behind. `isSynced`: `write` fsyncs it.
 */
export async function intoPlace(
  target: string,
  staging: string,
  write: (unfinished: string) => Promise<void>,
  { isSynced = false }: { isSynced?: boolean } = {},
): Promise<void> {
  if (!isThereNow(staging)) await effects.makeFolder(staging);
  const unfinished = join(staging, randomUUID());
  try {
    await write(unfinished);
    if (!isSynced) await effects.syncFile(unfinished);
    await effects.renameFile(unfinished, target);
  } catch (error) {
    await discard(unfinished);
    throw error;
  }
  await effects.syncFolder(dirname(target));
}

/**
 * Makes a folder durable before anything moves into it: a file that gives up its old name must not lose the new one
 * with the folder above it. An existing folder costs one fsync.
 */
export async function lastingFolder(path: string): Promise<void> {
  await effects.makeFolder(path);
  await effects.syncFolder(dirname(path));
}

/** Removes a file and makes that durable. A missing one is no error. */
export async function removeFile(path: string): Promise<void> {
  if (!isThereNow(path)) return;
  await effects.unlinkFile(path);
  await effects.syncFolder(dirname(path));
}
