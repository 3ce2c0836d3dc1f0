/**
 * The second clock of a host: opens the store of WB_REPLICA_URL, claims this installation's place in it, and ships what
 * sandboxes commit. Null everywhere without that setting.
 */
import { join } from 'node:path';
import { backupPassphraseOf } from '../backup/backup-tasks.ts';
import { copyInReplica } from '../backup/replica-extras.ts';
import { ShippedKeys } from '../backup/shipped-keys.ts';
import { epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { messageOf } from '../base/errors.ts';
import { type InstanceId, isInstanceId } from '../base/ids.ts';
import { retentionText } from '../base/replica-retention.ts';
import { parseStoreUrl } from '../base/store-url.ts';
import type { WallStates } from '../base/walls.ts';
import { ShippedCopies } from '../copies/shipped-copies.ts';
import { ReplicaHealth } from '../health/replica-health.ts';
import { ReplicaWatch } from '../health/replica-watch.ts';
import type { ReplicaOfTenants } from '../jobs/tenant-replica.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { lackingInLevels, mergeLacking } from '../replication/levels/bundle-cover.ts';
import { removeBundlesOf, removeReplicaOf } from '../replication/levels/replica-removal.ts';
import { SegmentLevels } from '../replication/levels/segment-levels.ts';
import { Cutter } from '../replication/log/cutter.ts';
import { createMomentSource, type MomentSource } from '../replication/moments/moment-source.ts';
import { Replicator } from '../replication/replicator.ts';
import { TenantBundles } from '../replication/segment-bundles/bundle-reader.ts';
import { BundleWriter } from '../replication/segment-bundles/bundle-writer.ts';
import { MinuteBundles } from '../replication/segment-bundles/minute-bundles.ts';
import type { ShippedRegistry } from '../replication/shipped-registry.ts';
import type { StoredUpTo } from '../replication/shipping/lacking-replicas.ts';
import { ReplicaTraffic } from '../replication/shipping/replica-traffic.ts';
import { SegmentUploads } from '../replication/shipping/segment-uploads.ts';
import { SteadyClock } from '../replication/steady-clock.ts';
import { StoredRegistry } from '../replication/stored-registry.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { WatchedStore } from '../storage/object-store/watched-store.ts';
import { type ColdStoreParts, openClaimedStore } from './cold-store.ts';
import { createDrawers } from './drawers.ts';
import { cutRegistryBase } from './registry-base.ts';
import { ReplicaCheck } from './replica-check.ts';
import { ReplicaCopies } from './replica-copies.ts';
import { ReplicaRetention } from './replica-retention.ts';
import { ReplicateClasses } from './replicate-classes.ts';
import { RestingFiles } from './resting-files.ts';

/** Of the spool's bytes: what was shipped and lies here until its minute, or hour, is merged. */
const KEPT_SHARE = 1 / 4;

/** What a replica does by itself as time goes on, for who needs it at once. */
export interface ReplicaWork {
  readonly files: Replicator;
  /** Null: the registry is in memory, and is not shipped. */
  readonly registry: ShippedRegistry | null;
  readonly uploads: Pick<SegmentUploads, 'bytes' | 'away'>;
  readonly levels: Pick<SegmentLevels, 'look' | 'whenMerged'>;
  readonly retention: Pick<ReplicaRetention, 'run'>;
}

/** What is shipped. Each function is asked only once the server starts. */
export interface Replicated {
  sandboxes: () => Pick<Sandboxes, 'copyRaw'>;
  /** The keeper of the registry's log; null: there is no replica, or the registry is in memory. */
  keeper: ShippedRegistry | null;
  /** The walls that stand around workers. */
  states: () => WallStates;
}

export interface ReplicaParts {
  readonly files: Replicator | null;
  readonly report: ReplicaHealth | null;
  /** What a forgotten tenant has in it. */
  readonly tenants: ReplicaOfTenants | null;
  readonly work: ReplicaWork | null;
  /** The moments that it has, to be read. */
  readonly moments: MomentSource | null;
  /** What cannot be reached, a sentence each. */
  degraded: () => string[];
  /** Reads what an earlier process left. Before a sandbox wakes. */
  prepare: () => Promise<void>;
  start: () => void;
  /** After the last sandbox rests. */
  stop: () => Promise<void>;
  close: () => Promise<void>;
}

/** `shared`: the store below the drawers, which may be the same. Throws as `openClaimedStore`. */
export async function createReplica(
  { config, registry, host, epoch, clock, log }: ColdStoreParts & { config: Config },
  shared: WatchedStore | null,
  { sandboxes, keeper, states }: Replicated,
): Promise<ReplicaParts> {
  const { replica } = config.store;
  const nothing = async () => undefined;
  if (replica === null) {
    return {
      files: null,
      report: null,
      tenants: null,
      ...{ work: null, moments: null },
      degraded: () => [],
      prepare: nothing,
      start: () => undefined,
      stop: nothing,
      close: nothing,
    };
  }
  const own =
    shared?.url === replica.url
      ? null
      : await openClaimedStore(
          { config, registry, host, epoch, clock, log },
          { url: replica.url, isEstablished: false, setting: 'WB_REPLICA_URL', claimsAnew: true },
        );
  const watched = own?.watched ?? shared;
  if (watched === null) throw new Error('There is no store of the replica.');
  const classes = new ReplicateClasses(registry, log, config.store.replicate);
  const classOf = (row: Pick<InstanceRow, 'tenant' | 'replicate'>) => classes.of(row);
  const cutter = new Cutter();
  const steady = new SteadyClock(clock, join(config.dataFolder, 'replica', 'clock'));
  const traffic = new ReplicaTraffic(() => performance.now());
  const isFolder = parseStoreUrl(watched.url).driver === 'file';
  // What a bundle says of those before it is of one writer: beside others each segment is an object.
  const bundles =
    isFolder || !host.isAlone
      ? null
      : new BundleWriter({
          store: watched.foreground,
          folder: join(config.dataFolder, 'replica', 'bundles'),
          clock: steady,
          log,
          term: host.term,
          lacking: (...of) => lackingInLevels(watched.background, ...of),
          merge: (segments) => mergeLacking(levels, segments),
        });
  const minutes = bundles === null ? null : new MinuteBundles({ bundles, traffic });
  const levels: SegmentLevels = new SegmentLevels({
    traffic,
    ...(minutes && { minutes }),
    onMerged: (segments) => bundles?.merged(segments),
    folder: join(config.dataFolder, 'replica', 'levels'),
    store: watched.background,
    cutter,
    clock: steady,
    log,
    keptBytes: config.store.spoolBytes * KEPT_SHARE,
  });
  const uploads = new SegmentUploads({
    store: watched.foreground,
    log,
    ...(bundles && { bundles }),
    isBack: async () => (await watched.check()).away === null,
    levels,
    traffic,
    cutter,
  });
  const storedRegistry = keeper === null ? null : new StoredRegistry(keeper, uploads);
  const files = new Replicator({
    dataFolder: config.dataFolder,
    uploads,
    ...(bundles && { bundles }),
    cutter,
    clock: steady,
    log,
    term: host.term,
    classOf,
    rowOf: (id) => registry.instances.get(id),
    copyStored: async (row) => (await copies?.shippedFor(row)) ?? true,
    registryStored: async () => storedRegistry?.join() ?? true,
    stillHeld: host.isAlone ? null : (ids) => registry.instances.stillHeld(ids),
    spoolBytes: config.store.spoolBytes,
    onGap: (id, why) => {
      const note = async () => {
        const row = await registry.instances.get(id);
        if (row === null) return;
        await registry.ledger.append([
          ledgerEntry({ clock }, row, systemAudit('reconcile'), 'replica.gap', { reason: why }),
        ]);
      };
      void note().catch((error: unknown) => log.warn({ id, error: messageOf(error) }, 'a gap was not recorded'));
    },
  });
  const noteRegistryGap = (why: string) => {
    log.warn({ why }, 'the replica of the registry begins anew');
    report.registryGap = { at: epochSeconds(clock), why };
    const line = ledgerEntry({ clock }, null, systemAudit('reconcile'), 'replica.gap', {
      reason: `the registry: ${why}`,
    });
    void registry.ledger
      .append([line])
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, 'a gap was not recorded'));
  };
  const monotonic = () => performance.now();
  const report = new ReplicaHealth({
    url: watched.url,
    replicate: config.store.replicate,
    retention: retentionText(config.store.replicaKeeps),
    traffic,
    spoolLimitBytes: config.store.spoolBytes,
    files,
    refusal: () => files.refusal ?? keeper?.file?.room.refusal ?? null,
    registry: keeper,
    requests: watched.requests,
    isShared: own === null,
    monotonic,
    clock,
  });
  const watch = new ReplicaWatch({ report, registry, clock, log, monotonic });
  const store = watched.background;
  const passphrase = backupPassphraseOf(config, config.backupPassphrase);
  const keys = new ShippedKeys({ store, config, passphrase, clock, log });
  const nearCopies = { store, nameOf: copyInReplica, drawers: createDrawers(config), registry, log };
  // A store below the drawers has them.
  const copies = config.store.cold === null || config.store.isLeaving ? new ShippedCopies(nearCopies) : null;
  const resting = new RestingFiles({ config, registry, host: host.name, log, files, classOf, sandboxes });
  classes.onRead(() => files.reclassify());
  const copiesThere = new ReplicaCopies({
    ...{ store, registry, clock, log },
    notes: join(config.dataFolder, 'replica', 'unneeded-copies.json'),
    keepMs: config.store.replicaKeeps.filingsMs,
    forget: (name) => copies?.forget(name),
  });
  const retention = new ReplicaRetention({
    ...{ store, registry, clock, log, cutter, levels },
    tmp: join(config.dataFolder, 'replica', 'aging'),
    keeps: config.store.replicaKeeps,
  });
  const check = new ReplicaCheck({
    ...{ store, log },
    points: () => [...files.storedUpTo(), ...[storedRegistry?.storedUpTo() ?? []].flat()],
    openBundles() {
      const found = new Map<string, TenantBundles>();
      return async (id) => {
        const row = isFolder || !isInstanceId(id) ? null : await registry.instances.get(id);
        if (row === null) return null;
        const own = found.get(row.tenant) ?? new TenantBundles(store, row.tenant, { nowMs: () => steady.now() });
        found.set(row.tenant, own);
        return own;
      };
    },
    isUsable: async () => (await watched.check()).away === null,
    shipAnew(point) {
      if (isInstanceId(point.id)) void shipFileAnew(point, point.id);
      else storedRegistry?.shipAnew(point);
      keys.putAgain();
      copies?.lookAgain();
    },
  });
  /** Unless another host has shipped it since: that one's series are what counts, and these go with time. */
  const shipFileAnew = async (point: StoredUpTo, id: InstanceId) => {
    try {
      const row = await registry.instances.get(id);
      const isOthers = row !== null && row.seriesHostTerm !== null && row.seriesHostTerm !== host.term;
      if (isOthers) await files.taken(id);
      else files.shipAnew(point);
    } catch (error) {
      log.warn({ id, error: messageOf(error) }, 'what the store lacks is not shipped anew yet');
    }
  };
  watched.onHealth(({ away }) => {
    if (away !== null) check.wasAway();
  });
  return {
    files,
    report,
    work: { files, registry: keeper, uploads, levels, retention },
    moments: createMomentSource({ url: replica.url, connection: config.store.connection }),
    tenants: {
      rebaseRegistry: async (isOver) => keeper?.rebase(isOver),
      async forget(id, isOver) {
        await files.giveUp(id);
        return removeReplicaOf(watched.background, id, isOver);
      },
      forgetBundles: (tenant, isOver) => removeBundlesOf(watched.background, tenant, isOver),
      forgetCopies: (isOver) => copiesThere.removeUnneeded(isOver),
    },
    degraded: () => (report.whyBehind === null ? [] : [`The replica is behind: ${report.whyBehind}`]),
    async prepare() {
      await classes.open();
      await levels.prepare();
      await bundles?.prepare();
      await files.prepare();
      await watch.start();
      const helper = { config, states: states(), log };
      await keeper?.start({
        ...{ uploads, cutter, clock: steady, log, store, term: host.term },
        ...{ dataFolder: config.dataFolder, spoolBytes: config.store.spoolBytes },
        cutBase: (request, signal) => cutRegistryBase(helper, request, signal),
        onGap: noteRegistryGap,
      });
    },
    start() {
      files.start();
      levels.start();
      resting.start();
      keys.start();
      copies?.start();
      retention.start();
      copiesThere.start();
      check.start();
    },
    async stop() {
      await watch.stop();
      await check.stop();
      await retention.stop();
      await copiesThere.stop();
      await resting.stop();
      await keys.stop();
      await copies?.stop();
      await files.stop();
      await keeper?.stop();
      await uploads.stop(config.drainMs);
      await bundles?.stop();
      await minutes?.stop();
      await levels.stop();
      await cutter.close();
      await classes.close();
    },
    async close() {
      await own?.close();
    },
  };
}
