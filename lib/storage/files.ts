/** Durable file work: stamps, folder fsyncs, renames that survive power loss and fall back to verified copies across filesystems. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, renameSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { WinterdockError } from '../errors.ts';
import type { FileStamp, Placed } from './drawer.ts';

/** The stamp of a local file, or null when there is none. */
export function stampOf(path: string): FileStamp | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile()) return null;
  return {
    size: Number(stat.size),
    inode: String(stat.ino),
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
  };
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the bytes of a file durable. */
async function syncFile(path: string): Promise<void> {
  await syncFolder(path);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** The lower-case hex SHA-256 of a file, read as a stream. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * Moves a file. On one filesystem it is a rename: the same inode, and a cost that does not grow with the file. Across filesystems
 * it is copy, fsync, verify, rename, fsync of the folder, and the source is removed last. `staging` is a folder on the target's
 * filesystem for the unfinished copy. Throws `missing_file` when there is no source.
 */
export async function moveFile(source: string, target: string, staging: string): Promise<Placed> {
  try {
    renameSync(source, target);
  } catch (error) {
    if (isCode(error, 'ENOENT') && stampOf(source) === null) {
      throw new WinterdockError('missing_file', 'The file is not where its row says.', { cause: error });
    }
    if (!isCode(error, 'EXDEV')) throw error;
    await copyFile(source, target, staging);
    await removeFile(source);
    return { makeDurable: async () => {} };
  }
  return {
    async makeDurable() {
      await Promise.all([syncFolder(dirname(target)), syncFolder(dirname(source))]);
    },
  };
}

/** Copies a file so that the target is there whole or not at all: copy, fsync, verify by hash, rename, fsync of the folder. */
export async function copyFile(source: string, target: string, staging: string): Promise<void> {
  await intoPlace(target, staging, async (unfinished) => {
    await pipeline(createReadStream(source), createWriteStream(unfinished));
    await syncFile(unfinished);
    if ((await sha256Of(source)) !== (await sha256Of(unfinished))) {
      throw new WinterdockError('storage_unavailable', 'A copy between drawers did not read back as it was written.', {
        hint: 'The source was kept. Check the disk, then try again.',
      });
    }
  });
}

/** Runs `write` on a temporary path in `staging`, then fsyncs it and renames it to `target`. A failure leaves nothing behind. */
export async function intoPlace(
  target: string,
  staging: string,
  write: (unfinished: string) => Promise<void>,
): Promise<void> {
  await mkdir(staging, { recursive: true });
  const unfinished = join(staging, randomUUID());
  try {
    await write(unfinished);
    await syncFile(unfinished);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(dirname(target));
}

/** Removes a file and makes that durable. A missing one is no error. */
export async function removeFile(path: string): Promise<void> {
  try {
    await rm(path);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return;
    throw error;
  }
  await syncFolder(dirname(path));
}
