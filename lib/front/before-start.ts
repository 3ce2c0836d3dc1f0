/**
 * Looks whether a start is to be refused, before anything is locked, made or opened for it: for an interrupted restore,
 * a registry that is none, files that are not there, and keys of another registry. Changes nothing. What it has looked
 * at may change until the locks are held, so the engine looks again.
 */
import { refuseCarriedAway } from '../backup/carried-away.ts';
import { refuseUnfinishedRestore } from '../backup/unfinished-restore.ts';
import type { Config } from '../base/config.ts';
import { createDrawers } from '../host/drawers.ts';
import { requireOwnKeys, requireUsableKeys } from '../keys/start-keys.ts';
import { requireOwnRegistry } from '../ledger/start-check.ts';
import type { RegistryDriver, RegistryUse } from '../registry/driver.ts';
import { requireUnlockedFolder } from './lock.ts';
import { requireWritableFolder } from './start-problems.ts';

/**
 * Throws why a start is refused. Where another server has the data folder or the registry, that is why. `isShared`: of
 * a server that uses the registry beside others, whose files are on their own disks.
 */
export async function requireStartable(
  config: Config,
  driver: RegistryDriver,
  { isShared = false }: RegistryUse = {},
): Promise<void> {
  const places = { ...config, driver };
  const onlyOf = isShared ? { onlyOf: config.hostName } : {};
  try {
    requireWritableFolder(config.dataFolder);
    refuseUnfinishedRestore(config.dataFolder);
    await driver.requireUsable();
    await requireUsableKeys(places);
    await refuseCarriedAway(driver);
    await requireOwnRegistry({ ...places, drawers: createDrawers(config), ...onlyOf });
    await requireOwnKeys(places);
  } catch (error) {
    requireUnlockedFolder(config.dataFolder);
    await driver.requireUnlocked({ isShared });
    throw error;
  }
}
