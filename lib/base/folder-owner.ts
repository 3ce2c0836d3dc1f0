/**
 * Leaves a data folder to its owner: what a process of root makes in the folder of another user becomes that user's,
 * who could not go on without it. Part of the seam for effects, which calls it. Knows nothing of what is made.
 */
import { closeSync, constants, fchownSync, fstatSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

interface Owned {
  /** By its name and by its real path. */
  folders: readonly string[];
  uid: number;
  gid: number;
}

let owned: Owned | null = null;

/**
 * From now on what this process makes below the folder (absolute) belongs to the folder's owner, where this process is
 * root's and the folder is not. Returns the way back.
 */
export function leaveToOwner(folder: string): () => void {
  const { uid, gid } = statSync(folder);
  if (process.getuid?.() !== 0 || uid === 0) return () => {};
  const before = owned;
  const mine: Owned = { folders: [folder, realpathSync(folder)], uid, gid };
  owned = mine;
  return () => {
    if (owned === mine) owned = before;
  };
}

/**
 * Gives what was just made at the path, and folders that were made for it, to the owner of the folder that is left to
 * its owner. By their descriptors: that user may put something else in their place at any moment.
 */
export function giveMadeToOwner(path: string): void {
  if (owned === null) return;
  const { folders, ...owner } = owned;
  for (let at = path; folders.some((folder) => at.startsWith(`${folder}/`)); at = dirname(at)) {
    if (!give(at, owner)) return;
  }
}

/** Whether it was root's and is the owner's now. */
function give(path: string, { uid, gid }: Pick<Owned, 'uid' | 'gid'>): boolean {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const made = fstatSync(descriptor);
    if (made.uid !== 0 || !(made.isDirectory() || made.nlink === 1)) return false;
    fchownSync(descriptor, uid, gid);
    return true;
  } catch {
    // A link to another disk, or a root that may not give files away. It stays root's, who can go on with it.
    return false;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
