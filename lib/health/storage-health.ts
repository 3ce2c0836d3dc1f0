/**
 * The health of the store: the registry's file, the contents of the drawers, the disk, the worker processes. A status
 * read costs the same whatever there is. A check that reads every file or page runs only on request, one at a time, and
 * its result is saved with its time.
 */
import { statfs } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { z } from 'zod';
import { type LastBackup, readLastBackup } from '../backup/last-backup.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { WALLS, type Wall } from '../base/walls.ts';
import type { State } from '../lifecycle/state-map.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { readProgress, type ScrubProgress } from '../sandboxes/recovery/scrub-progress.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import type { DrawerStatus, Drawers } from '../storage/drawer.ts';
import { folderStatus } from '../storage/folder.ts';
import type { CpuGroups } from '../workers/cpu-groups.ts';
import type { InstancePool, MemoryUse } from '../workers/protocol/instance.ts';
import type { Walls } from '../workers/walls/walls.ts';
import { DRAWERS, measureDrawers } from './measure.ts';
import type { ReplicaFacts, ReplicaHealth, ReplicaLateness } from './replica-health.ts';
import type { StoreReport, StoreStatus } from './store-report.ts';

type CheckName = 'registry' | 'drawers';

const registryCheckSchema = z.object({ time: z.int(), tookMs: z.number(), says: z.string() });
const measureSchema = z.object({
  time: z.int(),
  tookMs: z.number(),
  drawers: z.array(z.object({ drawer: z.enum(DRAWERS), files: z.int(), bytes: z.number() })),
  /** Rows by drawer when the measurement ended. */
  rows: z.object({ live: z.int(), cold: z.int(), archive: z.int() }),
});
/** Times in epoch seconds. `says` is `ok` or the first complaint. */
type RegistryCheck = z.infer<typeof registryCheckSchema>;
type Measure = z.infer<typeof measureSchema>;

/** Drawers whose rows are counted. */
const COUNTED = ['live', 'cold', 'archive'] as const;
type Counted = (typeof COUNTED)[number];

export interface StorageFacts {
  registry: {
    /** Name of the file, or of the database on a server. Null: it is in memory, and there is neither. */
    file: string | null;
    /** The registry file is in the data folder. */
    inside: boolean;
    bytes: number;
    walBytes: number;
    /** Of `bytes`: pages that hold nothing now. */
    freeBytes: number;
    /** Epoch seconds of the last write to the file itself: only a checkpoint writes there. */
    checkpointed: number | null;
    check: RegistryCheck | null;
  };
  drawers: { drawer: Counted; rows: number; bytes: number; writable: boolean; sameDisk: boolean }[];
  measured: Measure | null;
  /** Null before the first pass begins. */
  scrub: ScrubProgress | null;
  /** Null: there was no backup of this registry yet. */
  backup: LastBackup | null;
  /** Null: there is no object store. */
  store: StoreStatus | null;
  /** Null: nothing replicates. */
  replica: ReplicaFacts | null;
  disk: { bytes: number; freeBytes: number };
  /** Processes: those that serve, those started ahead of need, how many are kept ahead, how many may serve. */
  places: { serving: number; spare: number; ahead: number; most: number };
  /** Memory of those processes. */
  memory: MemoryUse;
  /** How processors are shared among tenants. */
  cpuSharing: 'cgroup_v2' | 'cgroup_v1' | 'priorities';
  /** What stands around these processes; `missing`: why a wall does not. */
  walls: { wall: Wall; missing: string | null }[];
  running: CheckName[];
}

const STATES_OF: Readonly<Record<Counted, readonly State[]>> = {
  live: ['active', 'suspended'],
  cold: ['frozen'],
  archive: ['archived'],
};

interface Parts {
  config: Pick<Config, 'dataFolder' | 'maxActive' | 'poolSize'>;
  registry: Pick<Registry, 'facts' | 'ledger' | 'maintenance' | 'storage'>;
  drawers: Drawers;
  /** Null: there is no object store. */
  store: StoreReport | null;
  /** Null: nothing replicates. */
  replica: Pick<ReplicaHealth, 'look' | 'late'> | null;
  pool: Pick<InstancePool, 'ready' | 'active' | 'memory'>;
  cpuGroups: Pick<CpuGroups, 'version'> | null;
  walls: Pick<Walls, 'states' | 'missing'>;
  clock: Clock;
  log: Logger;
}

export class StorageHealth {
  readonly #parts: Parts;
  readonly #running = new Map<CheckName, Promise<void>>();
  #stopping = false;
  readonly #check = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** That sandboxes are more behind than promised; null: none is. */
  get replicaLateness(): ReplicaLateness | null {
    return this.#parts.replica?.late ?? null;
  }

  /** Reads the status. Its cost does not depend on the number of sandboxes or files. */
  async look(): Promise<StorageFacts> {
    const { config, registry, pool, cpuGroups, walls } = this.#parts;
    const { dataFolder } = config;
    const [recorded, disk, check, measured, scrub, backup, stored, statuses, store] = await Promise.all([
      registry.maintenance.sizes(),
      statfs(dataFolder),
      registry.facts.read('registry_check'),
      registry.facts.read('measured'),
      readProgress(registry.facts),
      readLastBackup(registry.facts),
      registry.storage.status(),
      this.#statuses(),
      this.#parts.store?.look() ?? null,
    ]);
    const drawers = COUNTED.map((drawer) => ({
      drawer,
      rows: STATES_OF[drawer].reduce((sum, state) => sum + recorded.rows[state], 0),
      bytes: STATES_OF[drawer].reduce((sum, state) => sum + recorded.fileBytes[state], 0),
      writable: statuses[drawer].writable,
      sameDisk: statuses.live.volume !== null && statuses[drawer].volume === statuses.live.volume,
    }));
    return {
      registry: {
        file: stored.path === null ? stored.database : basename(stored.path),
        inside: stored.path !== null && !relative(dataFolder, stored.path).startsWith('..'),
        bytes: stored.bytes,
        walBytes: stored.logBytes,
        freeBytes: stored.freeBytes,
        checkpointed: stored.checkpointed,
        check: registryCheckSchema.nullable().catch(null).parse(check),
      },
      drawers,
      measured: measureSchema.nullable().catch(null).parse(measured),
      scrub,
      backup,
      store,
      replica: this.#parts.replica?.look() ?? null,
      disk: { bytes: disk.blocks * disk.bsize, freeBytes: disk.bavail * disk.bsize },
      places: { serving: pool.active, spare: pool.ready, ahead: config.poolSize, most: config.maxActive },
      memory: pool.memory,
      cpuSharing: cpuGroups === null ? 'priorities' : `cgroup_v${cpuGroups.version}`,
      walls: WALLS.map((wall) => ({ wall, missing: walls.missing.get(wall) ?? null })),
      running: [...this.#running.keys()],
    };
  }

  /**
   * Checks the registry or measures the drawers, and saves the result. A call during a running check waits for that
   * check.
   */
  check(name: CheckName, cause: AuditContext): Promise<void> {
    const known = this.#running.get(name);
    if (known !== undefined) return known;
    const work = (name === 'registry' ? this.#checkRegistry(cause) : this.#measure())
      .catch((error: unknown) => {
        if (this.#stopping) return;
        this.#parts.log.error({ err: error, name }, 'a check of the store failed');
        throw error;
      })
      .finally(() => this.#running.delete(name));
    this.#running.set(name, work);
    return work;
  }

  /** Aborts running checks. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#check.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #checkRegistry(cause: AuditContext): Promise<void> {
    const { registry, clock, log } = this.#parts;
    const started = performance.now();
    let says: string;
    try {
      says = await registry.storage.check(this.#check.signal);
    } catch (error) {
      if (this.#stopping) return;
      says = messageOf(error);
    }
    const tookMs = Math.round(performance.now() - started);
    const check: RegistryCheck = { time: epochSeconds(clock), tookMs, says: says.slice(0, 1000) };
    if (says !== 'ok') log.error({ says }, 'the registry did not pass its check');
    await registry.facts.write('registry_check', check, check.time);
    await registry.ledger.append([
      ledgerEntry(
        { clock },
        null,
        cause,
        'registry.checked',
        says === 'ok' ? { reason: 'ok', tookMs } : { error: check.says, tookMs },
      ),
    ]);
  }

  async #measure(): Promise<void> {
    const { config, registry, drawers, clock } = this.#parts;
    const started = performance.now();
    const weights = await measureDrawers(config.dataFolder, drawers, this.#check.signal);
    const { rows } = await registry.maintenance.sizes();
    const counted = (drawer: Counted) => STATES_OF[drawer].reduce((sum, state) => sum + rows[state], 0);
    const measured: Measure = {
      time: epochSeconds(clock),
      tookMs: Math.round(performance.now() - started),
      drawers: weights,
      rows: { live: counted('live'), cold: counted('cold'), archive: counted('archive') },
    };
    await registry.facts.write('measured', measured, measured.time);
  }

  async #statuses(): Promise<Record<Counted, DrawerStatus>> {
    const { config, drawers } = this.#parts;
    // A drawer that cannot be reached takes no file.
    const unreached = () => ({ writable: false, volume: null });
    const [live, cold, archive] = await Promise.all([
      folderStatus(join(config.dataFolder, 'live')),
      drawers.cold.status().catch(unreached),
      drawers.archive.status().catch(unreached),
    ]);
    return { live, cold, archive };
  }
}
