/**
 * A folder in which a helper may make and remove SQLite's own files beside the one that it writes. Gives it that of the
 * file where nothing else lies in it, else one of its own with the same files under second names. Knows nothing of what
 * is written.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { linkFileNow, makeFolder, makeNewFolder, removeTree, syncFolder, unlinkFile } from '../base/effects.ts';
import { isThere } from '../base/is-there.ts';
import type { FileUser, HelperUsers } from '../base/walls.ts';

/** SQLite's own files. A lock on an index is a lock on it by every name. */
const BESIDE = ['-wal', '-journal', '-shm'] as const;

/**
 * Runs `work` with a path of the file (absolute, there or not) and the user who writes it there. `stagingOf`: a folder
 * on the filesystem of a file. When `work` has succeeded, the logs beside the file are in it, and gone.
 */
export async function inOwnFolder<T>(
  users: HelperUsers,
  path: string,
  stagingOf: (path: string) => string,
  work: (path: string, user: FileUser) => Promise<T>,
): Promise<T> {
  const folder = dirname(path);
  const owner = users.ownerOf(path);
  if (owner !== null && lstatSync(folder).uid === owner.uid) return work(path, owner);
  if (readdirSync(folder).every((name) => name.startsWith(basename(path)))) {
    const user = users.lend(folder, owner ?? undefined);
    try {
      return await work(path, user);
    } finally {
      users.takeBack(folder);
    }
  }
  const apart = join(stagingOf(path), randomUUID());
  await makeFolder(dirname(apart));
  await makeNewFolder(apart);
  const own = join(apart, basename(path));
  const there = ['', ...BESIDE].filter((suffix) => isThere(path + suffix));
  try {
    for (const suffix of there) linkFileNow(path + suffix, own + suffix);
    const user = users.lend(apart, owner ?? undefined);
    for (const suffix of there) users.give(own + suffix, user);
    const result = await work(own, user);
    for (const suffix of there) if (suffix !== '') await unlinkFile(path + suffix);
    await syncFolder(folder);
    return result;
  } finally {
    // Its files have second names, which are removed with the folder.
    users.takeBack(apart);
    await removeTree(apart);
  }
}
