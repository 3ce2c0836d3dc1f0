/** What a host has of its object store: a value for each part of the engine that uses it, all null without one. */
import type { Config } from '../base/config.ts';
import { StoredCopies } from '../copies/stored-copies.ts';
import type { ReplicaHealth } from '../health/replica-health.ts';
import { StoreReport } from '../health/store-report.ts';
import type { TenantStore } from '../jobs/tenant-objects.ts';
import type { ReplicaOfTenants } from '../jobs/tenant-replica.ts';
import type { MomentSource } from '../replication/moments/moment-source.ts';
import type { Replicator } from '../replication/replicator.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { StoreBelowOptions } from '../sandboxes/store/store-below.ts';
import type { Drawers } from '../storage/drawer.ts';
import { markedStore, requireMarker } from '../storage/object-store/marked-store.ts';
import type { WatchedStore } from '../storage/object-store/watched-store.ts';
import { type ColdStoreParts, openColdStore } from './cold-store.ts';
import { forgetLeaving, LeavingStore } from './leaving-store.ts';
import { createReplica, type Replicated, type ReplicaWork } from './replica.ts';

export interface StoreParts {
  /** Those of this disk; a copy that is not there is brought. */
  drawers: Drawers;
  sandboxes: StoreBelowOptions | null;
  tenants: TenantStore | null;
  report: StoreReport | null;
  watched: WatchedStore | null;
  /** What cannot be reached, a sentence each. */
  degraded: () => string[];
  /** Ships what is committed to WB_REPLICA_URL; null without it. */
  replica: Replicator | null;
  replicaHealth: ReplicaHealth | null;
  replicaOfTenants: ReplicaOfTenants | null;
  replicaWork: ReplicaWork | null;
  /** The moments of the replica, to be read; null without one. */
  moments: MomentSource | null;
  /** Reads what an earlier process left for the replica. Before a sandbox wakes. */
  prepare: () => Promise<void>;
  /** Brings every copy to this disk; returns what could not be brought. */
  bringCopiesHome: () => Promise<{ name: string; why: string }[]>;
  start: () => void;
  /** Ends the uploads of copies. */
  stop: () => Promise<void>;
  /** Lets go of the store, once nothing uses it any more. */
  close: () => Promise<void>;
}

/**
 * Opens the stores of the settings and builds what is made from them. `local`: the drawers on disk. `sandboxes` is
 * asked only once they run. Throws as `openColdStore`.
 */
export async function createStoreParts(
  parts: ColdStoreParts & { config: Config },
  local: Drawers,
  replicated: Replicated & { sandboxes: () => Pick<Sandboxes, 'store'> },
): Promise<StoreParts> {
  const below = await createStoreBelow(parts, local, replicated.sandboxes);
  const replica = await createReplica(parts, below.watched, replicated).catch(async (error: unknown) => {
    await below.close();
    throw error;
  });
  return {
    ...below,
    replica: replica.files,
    replicaHealth: replica.report,
    replicaOfTenants: replica.tenants,
    replicaWork: replica.work,
    moments: replica.moments,
    prepare: () => replica.prepare(),
    degraded: () => [...below.degraded(), ...replica.degraded()],
    start() {
      below.start();
      replica.start();
    },
    async stop() {
      await replica.stop();
      await below.stop();
    },
    async close() {
      await replica.close();
      await below.close();
    },
  };
}

async function createStoreBelow(
  parts: ColdStoreParts & { config: Pick<Config, 'store' | 'dataFolder'> },
  local: Drawers,
  sandboxes: () => Pick<Sandboxes, 'store'>,
): Promise<Omit<StoreParts, 'replica' | 'replicaHealth' | 'replicaOfTenants' | 'replicaWork' | 'moments' | 'prepare'>> {
  const cold = await openColdStore(parts);
  const isLeaving = cold !== null && parts.config.store.isLeaving;
  if (!isLeaving) await forgetLeaving(parts);
  const nothing = async () => undefined;
  if (cold === null) {
    const none = { sandboxes: null, tenants: null, report: null, watched: null };
    const idle = { start: () => undefined, stop: nothing, close: nothing, bringCopiesHome: async () => [] };
    return { drawers: local, ...none, ...idle, degraded: () => [] };
  }
  const { registry, host, clock, log, config } = parts;
  const { objects, watched, traits, away } = cold;
  // What is to stay here is evicted no more.
  const cacheBytes = isLeaving ? Number.MAX_SAFE_INTEGER : config.store.cacheBytes;
  const cachedFiles = () => sandboxes().store?.cached.bytes ?? 0;
  const copies = new StoredCopies({
    objects,
    drawers: local,
    registry,
    host,
    clock,
    log,
    dataFolder: config.dataFolder,
    room: () => cacheBytes - cachedFiles(),
  });
  const leaving = new LeavingStore({
    ...{ registry, clock, log },
    bringHome: async (progress) => (await sandboxes().store?.bringHome(progress)) ?? { brought: 0, left: [] },
    countCopiesAway: () => copies.countAway(),
    bringCopiesHome: (brought) => copies.bringHome(brought),
  });
  const report = new StoreReport({
    settings: config.store,
    url: watched.url,
    away,
    traits,
    uploading: () => sandboxes().store?.uploading ?? 0,
    cachedBytes: () => cachedFiles() + copies.cachedBytes,
    requests: watched.requests,
    leaving: isLeaving ? () => leaving.progress() : null,
    registry,
    host: host.name,
    clock,
  });
  return {
    drawers: { ...local, ...copies.drawers() },
    sandboxes: {
      objects: markedStore(watched.foreground, watched),
      background: markedStore(watched.background, watched),
      isMissing: (name, signal) => watched.isMissing(name, signal),
      requireMarker: (signal) => requireMarker(watched, signal),
      cacheBytes,
      ack: config.store.ack,
      isLeaving,
    },
    tenants: { objects: watched.background, traits, late: new Set() },
    report,
    watched,
    degraded: () => (report.whyAway === null ? [] : [report.whyAway]),
    bringCopiesHome: () => copies.bringHome(),
    start: () => (isLeaving ? leaving.start() : copies.start()),
    stop: async () => void (await Promise.all([leaving.stop(), copies.stop()])),
    close: () => cold.close(),
  };
}
