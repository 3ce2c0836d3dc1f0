/**
 * The second clock of a host: opens the store of WB_REPLICA_URL, claims this installation's place in it, and ships what
 * sandboxes commit. Null everywhere without that setting.
 */
import { join } from 'node:path';
import { backupPassphraseOf } from '../backup/backup-tasks.ts';
import { COPIES_IN_REPLICA, copyInReplica } from '../backup/replica-extras.ts';
import { ShippedKeys } from '../backup/shipped-keys.ts';
import type { Config } from '../base/config.ts';
import { COPY_KINDS, copyPath } from '../base/copy-paths.ts';
import { messageOf } from '../base/errors.ts';
import type { WallStates } from '../base/walls.ts';
import { ShippedCopies } from '../copies/shipped-copies.ts';
import { ReplicaHealth } from '../health/replica-health.ts';
import { ReplicaWatch } from '../health/replica-watch.ts';
import type { ReplicaOfTenants } from '../jobs/tenant-replica.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { Cutter } from '../replication/cutter.ts';
import { removeReplicaOf } from '../replication/replica-removal.ts';
import { Replicator } from '../replication/replicator.ts';
import { SegmentUploads } from '../replication/segment-uploads.ts';
import type { ShippedRegistry } from '../replication/shipped-registry.ts';
import { SteadyClock } from '../replication/steady-clock.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { WatchedStore } from '../storage/object-store/watched-store.ts';
import { type ColdStoreParts, openClaimedStore } from './cold-store.ts';
import { createDrawers } from './drawers.ts';
import { cutRegistryBase } from './registry-base.ts';
import { ReplicaRetention } from './replica-retention.ts';
import { ReplicateClasses } from './replicate-classes.ts';
import { RestingFiles } from './resting-files.ts';

const DAY_MS = 86_400_000;

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
          { url: replica.url, isEstablished: false, setting: 'WB_REPLICA_URL' },
        );
  const watched = own?.watched ?? shared;
  if (watched === null) throw new Error('There is no store of the replica.');
  const classes = new ReplicateClasses(registry, log, config.store.replicate);
  const classOf = (row: InstanceRow) => classes.of(row);
  const uploads = new SegmentUploads({
    store: watched.foreground,
    log,
    isBack: async () => (await watched.check()).away === null,
  });
  const cutter = new Cutter();
  const steady = new SteadyClock(clock, join(config.dataFolder, 'replica', 'clock'));
  const files = new Replicator({
    dataFolder: config.dataFolder,
    uploads,
    cutter,
    clock: steady,
    log,
    term: host.term,
    classOf,
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
  const monotonic = () => performance.now();
  const report = new ReplicaHealth({
    url: watched.url,
    replicate: config.store.replicate,
    spoolLimitBytes: config.store.spoolBytes,
    files,
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
  const resting = new RestingFiles({ config, registry, log, files, classOf, sandboxes });
  const keepMs = config.store.replicaKeepDays * DAY_MS;
  const retention = new ReplicaRetention({ store, registry, clock, log, keepMs });
  return {
    files,
    report,
    tenants: {
      rebaseRegistry: async (isOver) => keeper?.rebase(isOver),
      async forget(id, isOver) {
        await files.giveUp(id);
        return removeReplicaOf(watched.background, id, isOver);
      },
      async forgetCopies(isOver) {
        let removed = 0;
        for await (const page of store.list(COPIES_IN_REPLICA)) {
          for (const { name } of page) {
            const [kind, hash = ''] = name.slice(COPIES_IN_REPLICA.length).split('/');
            const known = COPY_KINDS.find((one) => one === kind);
            if (isOver() || known === undefined || (await registry.copies.isNeeded(copyPath(known, hash)))) continue;
            await store.purge(name);
            copies?.forget(name);
            removed += 1;
          }
        }
        return removed;
      },
    },
    degraded: () => (files.away === null ? [] : [`The replica is behind: ${files.away.why}`]),
    async prepare() {
      await classes.open();
      await files.prepare();
      await watch.start();
      const helper = { config, states: states(), log };
      await keeper?.start({
        ...{ uploads, cutter, clock: steady, log, store, term: host.term },
        ...{ dataFolder: config.dataFolder, spoolBytes: config.store.spoolBytes },
        cutBase: (request, signal) => cutRegistryBase(helper, request, signal),
      });
    },
    start() {
      files.start();
      resting.start();
      keys.start();
      copies?.start();
      retention.start();
    },
    async stop() {
      await watch.stop();
      await retention.stop();
      await resting.stop();
      await keys.stop();
      await copies?.stop();
      await files.stop();
      await keeper?.stop();
      await uploads.stop(config.drainMs);
      await cutter.close();
      await classes.close();
    },
    async close() {
      await own?.close();
    },
  };
}
