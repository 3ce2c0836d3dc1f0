/**
 * One server per data folder and per registry, whatever names they are given by. Also closes the data folder to other
 * users. Knows only the names in it.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chmodFileNow, makeFolderNow } from '../base/effects.ts';
import { holdInOrder, holdLock, isHeldElsewhere } from '../base/file-lock.ts';
import { giveMadeToOwner, leaveToOwner } from '../base/folder-owner.ts';
import type { RegistryDriver, RegistryUse } from '../registry/driver.ts';

/** The names that a server creates at the top of its data folder. */
const OWN_NAMES =
  /^(?:archive|auth\.secret|blueprints|bundles|cache|cold|expanded|live|lock\.sqlite|orphans|registry\.(?:sqlite|head|restoring).*|snapshots|spill|staging|.*\.key)$/;
const OF_OTHERS = 0o077;
const OTHERS_MAY_WRITE = 0o002;
const PERMISSIONS = 0o7777;
const LOCK_FILE = 'lock.sqlite';

/**
 * Locks a data folder (made when missing) and takes the rights of other users from everything that a server created in
 * it, and the right to put something else in its place. What root makes in the folder of another user from then on is
 * that user's. Returns the release. Throws when another server holds the lock.
 */
export function lockDataFolder(folder: string): () => void {
  makeFolderNow(folder);
  // Before the lock: giving its file away afterwards would drop it.
  const keepFromNowOn = leaveToOwner(folder);
  const release = holdInOrder([
    () => keepFromNowOn,
    () =>
      holdLock(folder, {
        path: join(folder, LOCK_FILE),
        message: folderIsLocked(folder),
      }).release,
  ]);
  takeRights(folder, OTHERS_MAY_WRITE);
  for (const name of readdirSync(folder)) {
    if (!OWN_NAMES.test(name)) continue;
    takeRights(join(folder, name), OF_OTHERS);
    if (name !== LOCK_FILE) giveMadeToOwner(join(folder, name));
  }
  return release;
}

const folderIsLocked = (folder: string) =>
  `Another Winterdock uses the data folder ${folder}. Stop it, or set WB_DATA to another folder.`;

/** Throws as `lockDataFolder` does when another has it locked, as far as that can be told without making anything. */
export function requireUnlockedFolder(folder: string): void {
  if (isHeldElsewhere(folder)) throw new Error(folderIsLocked(folder));
}

/**
 * Locks the data folder and the registry: two servers with folders of their own but one registry would each reconcile
 * the other's sandboxes, unless both share it, as `use` says. Every process names its data folder first: of two that
 * want the same ones, the first in that order goes on, and they never refuse each other. Resolves with the release,
 * which is idempotent. Rejects when another server holds a lock. `onLost`: see `RegistryDriver.lock`.
 */
export async function lockStores(
  { dataFolder }: { dataFolder: string },
  registry: Pick<RegistryDriver, 'lock'>,
  onLost?: (why: Error) => void,
  use?: RegistryUse,
): Promise<() => Promise<void>> {
  const releaseFolder = lockDataFolder(dataFolder);
  try {
    const releaseRegistry = await registry.lock(dataFolder, onLost, use);
    return async () => {
      await releaseRegistry();
      releaseFolder();
    };
  } catch (error) {
    releaseFolder();
    throw error;
  }
}

function takeRights(path: string, rights: number): void {
  try {
    const { mode } = statSync(path);
    if ((mode & rights) !== 0) chmodFileNow(path, mode & PERMISSIONS & ~rights);
  } catch {
    // It belongs to another user, who decides who may read it, or is gone by now.
  }
}
