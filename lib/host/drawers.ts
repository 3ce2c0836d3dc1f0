/**
 * Chooses the driver of each drawer. The server, `doctor`, `backup` and `restore` all get their drawers here, so that a
 * driver is plugged in at one place. Makes nothing on disk.
 */
import type { Config } from '../base/config.ts';
import { createDiskDrawers } from '../storage/disk.ts';
import type { Drawers } from '../storage/drawer.ts';

/** The drawers of a data folder, as its settings say. `prepare` makes what they need before a file is put in. */
export function createDrawers({ dataFolder }: Pick<Config, 'dataFolder'>): Drawers {
  return createDiskDrawers(dataFolder);
}
