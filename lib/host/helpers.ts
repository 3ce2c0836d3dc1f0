/** The processes that open guests' files for the server: their walls, and the readers behind them. */
import type { Config } from '../base/config.ts';
import type { Logger } from '../base/log.ts';
import type { HelperWalls } from '../base/walls.ts';
import { buildHelperWalls } from '../instance/processes/walls/helper-walls.ts';
import type { Walls } from '../instance/processes/walls/walls.ts';
import { stagingFor } from '../storage/files.ts';
import { createReaders } from '../vfs/readers.ts';
import type { Readers } from '../vfs/types.ts';

/** Builds both, behind the walls that stand around workers. `readers`: those that are there already. */
export async function createHelpers(
  config: Pick<Config, 'dataFolder' | 'cacheFolder' | 'maxFileBytes'>,
  { states }: Pick<Walls, 'states'>,
  { log, readers }: { log: Logger; readers: Readers | undefined },
): Promise<{ helperWalls: HelperWalls | null; readers: Readers; stopHelpers: () => Promise<void> }> {
  const { dataFolder, cacheFolder, maxFileBytes } = config;
  const tell = (why: string) => log.warn({ why }, 'processes that read files of sandboxes have no walls');
  const helperWalls = await buildHelperWalls({ dataFolder, cacheFolder, states, tell });
  const stagingOf = (path: string) => stagingFor(dataFolder, path);
  const used = readers ?? createReaders({ maxFileBytes, walls: helperWalls, stagingOf, log });
  const stopHelpers = async () => {
    await used.stop();
    helperWalls?.close();
  };
  return { helperWalls, readers: used, stopHelpers };
}
