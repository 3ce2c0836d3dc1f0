/** Operations on the health of the store: what it reports of itself, and the checks that a person may ask for. */
import type { Caller } from '../auth/caller.ts';
import type { ReplicaLate, Storage, StorageCheckInput } from '../contract/schema/storage.ts';
import type { ReplicaFacts, ReplicaLateness } from '../health/replica-health.ts';
import type { StorageHealth } from '../health/storage-health.ts';
import type { LeavingStatus, StoreStatus } from '../health/store-report.ts';
import type { Registry } from '../registry/registry.ts';
import { SCRUB_PACE } from '../sandboxes/recovery/scrub.ts';
import type { ScrubPass } from '../sandboxes/recovery/scrub-progress.ts';
import { auditContextOf } from './audit-context.ts';
import { type KeptLimits, keptSeries } from './kept-series.ts';

export interface StorageOperations {
  /** Constant cost: slow measurements are the last ones made, with their time. */
  storage(caller: Caller): Promise<Storage>;
  /** That sandboxes have been more behind than promised for a minute; null: none is, or nothing replicates. */
  replicaLateness(caller: Caller): Promise<ReplicaLate | null>;
  /**
   * Checks the registry or measures the drawers. Answers once it is done, or after some seconds with what is known by
   * then.
   */
  checkStorage(caller: Caller, input: StorageCheckInput): Promise<Storage>;
}

/** Rows of a series are counted up to this number. */
const COUNT_CAP = 100_000;
/** How long an answer waits for a check. */
const WAIT_MS = 10_000;

function storeOf(store: StoreStatus | null): Storage['store'] {
  if (store === null) return null;
  const { cache, leaving, ...facts } = store;
  return {
    ...facts,
    cache: { bytes: cache.bytes, limit_bytes: cache.limitBytes },
    leaving: leaving === null ? null : leavingOf(leaving),
  };
}

function leavingOf({ isDone, ...progress }: LeavingStatus): NonNullable<Storage['store']>['leaving'] {
  return { ...progress, done: isDone };
}

function replicationOf(replica: ReplicaFacts | null): Storage['replication'] {
  if (replica === null) return null;
  const { url, replicate, retention, month, away, spool, lag, waiting, requests, isShared, late, registryGap } =
    replica;
  return {
    url,
    replicate,
    retention,
    month,
    away,
    spool: { bytes: spool.bytes, limit_bytes: spool.limitBytes, refused: spool.refused },
    lag: {
      ...{ open: lag.open, behind: lag.behind, max_s: lag.maxMs / 1000, mean_s: lag.meanMs / 1000 },
      registry_s: lag.registryMs / 1000,
    },
    registry_gap: registryGap,
    waiting,
    requests: { count: requests, shared: isShared },
    late: late === null ? null : latenessOf(late),
  };
}

function latenessOf({ since, sandboxes, mostMs, isRegistry }: ReplicaLateness): ReplicaLate {
  return { since, sandboxes, registry: isRegistry, most_s: mostMs / 1000 };
}

export function storageOperations(parts: {
  registry: Pick<Registry, 'ledger' | 'maintenance' | 'segments'>;
  health: StorageHealth;
  config: KeptLimits;
}): StorageOperations {
  const { registry, health, config } = parts;

  const look = async (): Promise<Storage> => {
    const [facts, segments, head, rows] = await Promise.all([
      health.look(),
      registry.segments.list(),
      registry.ledger.head(),
      registry.maintenance.keptRows(COUNT_CAP + 1),
    ]);
    const { file, inside, bytes, walBytes, freeBytes, checkpointed, check } = facts.registry;
    const { measured, disk, scrub } = facts;
    const last = segments.at(-1);
    return {
      registry: {
        file,
        inside_data: inside,
        bytes,
        wal_bytes: walBytes,
        free_bytes: freeBytes,
        checkpointed,
        check:
          check === null
            ? null
            : { time: check.time, took_ms: check.tookMs, ok: check.says === 'ok', says: check.says },
      },
      ledger: {
        seq: head.seq,
        sealed: segments.length,
        dropped: segments.filter(({ droppedMs }) => droppedMs !== null).length,
        last_sealed: last?.id ?? null,
        open_lines: head.seq - (last?.lastSeq ?? 0),
      },
      drawers: facts.drawers.map(({ drawer, rows, bytes: ofRows, writable, sameDisk }) => ({
        drawer,
        rows,
        bytes: ofRows,
        writable,
        same_disk: sameDisk,
      })),
      measured:
        measured === null
          ? null
          : { time: measured.time, took_ms: measured.tookMs, drawers: measured.drawers, rows: measured.rows },
      scrub: {
        walk: scrub?.walk == null ? null : counted(scrub.walk),
        last: scrub?.last == null ? null : { ...counted(scrub.last), ended: scrub.last.ended },
        next: scrub === null || scrub.walk !== null ? null : scrub.since + SCRUB_PACE.passMs / 1000,
      },
      store: storeOf(facts.store),
      disk: { bytes: disk.bytes, free_bytes: disk.freeBytes },
      places: facts.places,
      memory: {
        serving_bytes: facts.memory.servingBytes,
        spare_bytes: facts.memory.spareBytes,
        limit_bytes: facts.memory.limitBytes,
      },
      cpu: { shared_by: facts.cpuSharing },
      walls: facts.walls,
      backup: facts.backup,
      kept: keptSeries(rows, config, COUNT_CAP),
      replication: replicationOf(facts.replica),
      running: facts.running,
    };
  };

  return {
    storage: look,
    async replicaLateness() {
      const late = health.replicaLateness;
      return late === null ? null : latenessOf(late);
    },
    async checkStorage(caller, { what }) {
      const waited = new AbortController();
      const done = health.check(what, auditContextOf(caller));
      // It may fail after the answer: the log has the error.
      done.catch(() => undefined);
      await Promise.race([done, pause(WAIT_MS, waited.signal)]);
      waited.abort();
      return look();
    },
  };
}

/** Without how far it has come: an id is a tenant's. */
function counted({ begun, files, bytes, rotten }: Omit<ScrubPass, 'after'>) {
  return { begun, files, bytes, rotten };
}

function pause(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    ended.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
