/** A replica in a folder for tests of an engine: the real shipper, over a store in a folder. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { Cutter } from '../../replication/log/cutter.ts';
import { findMoment, restoreMoment } from '../../replication/moments/replica-reader.ts';
import type { ReplicateClass } from '../../replication/promise/replicate-class.ts';
import { Replicator, type ReplicatorParts } from '../../replication/replicator.ts';
import { SegmentUploads } from '../../replication/shipping/segment-uploads.ts';
import { SteadyClock } from '../../replication/steady-clock.ts';
import { canUse } from '../../replication/testing/can-use.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';

export interface ReplicaStage {
  files: Replicator;
  uploads: SegmentUploads;
  store: ObjectStore;
  /** Why series ended, as they did. */
  gaps: string[];
  /** Restores the newest moment up to `atMs` and returns the path of the file, its SHA-256 and its time. */
  restore(id: string, atMs?: number): Promise<{ path: string; sha256: string; timeMs: number; series: string }>;
  close(): Promise<void>;
}

/** `folder`: absolute, of the store and what is restored; `dataFolder`: of the engine. */
export async function startReplica(options: {
  folder: string;
  dataFolder: string;
  clock: Clock;
  /** Of its host. Default: 1. */
  term?: number;
  classOf?: () => ReplicateClass;
  spoolBytes?: number;
  /** The rows of the engine. Default: none is known. */
  rowOf?: ReplicatorParts['rowOf'];
  /** Default: nobody else has the sandboxes. */
  stillHeld?: ReplicatorParts['stillHeld'];
  /** What stands between the uploads and the store. Default: nothing. */
  between?: (store: ObjectStore) => ObjectStore;
}): Promise<ReplicaStage> {
  const { folder, dataFolder, clock, between = (store) => store } = options;
  mkdirSync(folder, { recursive: true });
  const store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  const log = createLogger('silent');
  const gaps: string[] = [];
  const uploads = new SegmentUploads({ store: between(store), log, isBack: () => canUse(store) });
  const cutter = new Cutter();
  const files = new Replicator({
    dataFolder,
    uploads,
    cutter,
    clock: new SteadyClock(clock, join(dataFolder, 'replica', 'clock')),
    log,
    term: options.term ?? 1,
    classOf: options.classOf ?? (() => ({ kind: 'every', everyMs: 1000 })),
    rowOf: options.rowOf ?? (async () => null),
    copyStored: async () => true,
    registryStored: async () => true,
    stillHeld: options.stillHeld ?? null,
    spoolBytes: options.spoolBytes ?? 1024 ** 3,
    onGap: (_id, why) => gaps.push(why),
  });
  await files.prepare();
  files.start();
  let restores = 0;
  return {
    files,
    uploads,
    store,
    gaps,
    async restore(id, atMs) {
      const moment = await findMoment(store, id, atMs ?? null, null);
      if (moment === null) throw new Error(`There is no moment of ${id}.`);
      restores += 1;
      const target = join(folder, `restored-${restores}.sqlite`);
      const { sha256 } = await restoreMoment(store, moment, { target, tmp: join(folder, `tmp-${restores}`) });
      if (!existsSync(target)) throw new Error('Nothing was restored.');
      const read = createHash('sha256').update(readFileSync(target)).digest('hex');
      if (read !== sha256) throw new Error('A restore tells another hash than that of the file.');
      return { path: target, sha256, timeMs: moment.timeMs, series: moment.series.token };
    },
    async close() {
      await files.stop();
      await uploads.stop();
      await cutter.close();
      await store.close();
    },
  };
}
