/**
 * Reads of sandboxes as they were: a moment of the replica is opened as a file at rest, in place of nothing, and read
 * by the readers, behind their walls. Wakes nothing, and takes no lease: no sandbox has that file.
 */
import { join } from 'node:path';
import type { Config } from '../base/config.ts';
import { storageFailure, WinterdockError } from '../base/errors.ts';
import type { MomentSource } from '../replication/moment-source.ts';
import { OpenedMoments } from '../replication/opened-moments.ts';
import { stagingFor } from '../storage/files.ts';
import { type Engine, requireInstance } from './engine.ts';
import type { Past } from './sandboxes.ts';
import { tellReplica } from './shipping.ts';

export interface PastParts {
  source: MomentSource;
  opened: OpenedMoments;
}

/** Moments are opened beside the archived files that are expanded: every start empties that folder. */
export function momentsFor(
  { dataFolder, store }: Pick<Config, 'dataFolder' | 'store'>,
  source: MomentSource,
): PastParts {
  const folder = join(dataFolder, 'expanded');
  const staging = stagingFor(dataFolder, join(folder, 'moment'));
  return { source, opened: new OpenedMoments({ source, folder, staging, mostBytes: store.momentBytes }) };
}

export function createPast(
  engine: Pick<Engine, 'registry' | 'readers' | 'replica' | 'log' | 'clock'>,
  { source, opened }: PastParts,
): Past {
  return {
    async open(id, atMs, look) {
      const row = await requireInstance(engine, id);
      // Asked before the store is: what is committed afterwards is later than now.
      const point = tellReplica(engine, id, (replica) => replica.describe(row));
      const has = point?.atMs ?? null;
      const isStored = has !== null && (has > atMs || (point?.behindMs === 0 && atMs < engine.clock.now()));
      return opened
        .use(row, { atMs, isFinal: isStored }, ({ path, timeMs }) =>
          look({ timeMs, read: (request) => engine.readers.read({ path, mode: 'rest' }, request, row.tenant) }),
        )
        .catch(rethrow);
    },
    async list(id, around) {
      const row = await engine.registry.instances.get(id);
      if (row === null) throw new WinterdockError('not_found', `There is no sandbox "${id}".`);
      return source.list(row, around).catch(rethrow);
    },
  };
}

function rethrow(error: unknown): never {
  throw storageFailure(error) ?? error;
}
