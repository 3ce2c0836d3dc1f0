/** The processes that open guests' files for the server: their walls, and the readers behind them. */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config } from '../base/config.ts';
import { makeFolderNow, removeTreeNow } from '../base/effects.ts';
import type { Logger } from '../base/log.ts';
import type { HelperWalls } from '../base/walls.ts';
import { stagingFor } from '../storage/files.ts';
import { createReaders } from '../vfs/readers.ts';
import type { Readers } from '../vfs/types.ts';
import { buildHelperWalls, findHelperWalls } from '../workers/walls/helper-walls.ts';
import type { Walls } from '../workers/walls/walls.ts';

interface ReadersAlone {
  readers: Readers;
  /** A sentence that names the walls that do not stand around them; null: all stand. */
  missing: string | null;
  stop(): Promise<void>;
}

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

/**
 * Readers for a program that opens files of sandboxes without the server: behind the walls that this machine gives.
 * `changesNothing`: the data folder stays as it is, whatever they read.
 */
export async function createReadersAlone(
  { dataFolder, maxFileBytes }: Pick<Config, 'dataFolder' | 'maxFileBytes'>,
  { writable = [], changesNothing = false }: { writable?: readonly string[]; changesNothing?: boolean } = {},
): Promise<ReadersAlone> {
  const copiesIn = changesNothing ? join(tmpdir(), `winterdock-${randomUUID()}`) : null;
  if (copiesIn !== null) makeFolderNow(copiesIn);
  const { walls, missing } = await findHelperWalls({
    dataFolder,
    cacheFolder: null,
    makesFolders: false,
    outside: { readable: copiesIn === null ? [] : [copiesIn], writable },
  });
  // A draft has a folder of its own in the one that is written.
  const stagingOf = (path: string) => (writable.includes(dirname(path)) ? dirname(path) : stagingFor(dataFolder, path));
  const readers = createReaders({ maxFileBytes, walls, stagingOf, ...(copiesIn === null ? {} : { copiesIn }) });
  const lacking = [...missing].map(([wall, why]) => `${wall} (${why})`).join('; ');
  return {
    readers,
    missing: lacking === '' ? null : `Files of sandboxes are opened without these walls: ${lacking}.`,
    async stop() {
      await readers.stop();
      walls?.close();
      if (copiesIn !== null) removeTreeNow(copiesIn);
    },
  };
}
