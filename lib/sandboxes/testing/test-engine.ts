/**
 * A whole engine without its server on a data folder, for tests: real registry, real processes, real files; only the
 * clock may be fake.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, epochSeconds, FakeClock } from '../../base/clock.ts';
import { type Config, readConfig } from '../../base/config.ts';
import { createLogger } from '../../base/log.ts';
import { registryDriver } from '../../registry/drivers.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { Registry } from '../../registry/registry.ts';
import { registryOfHost } from '../../registry/registry-of-host.ts';
import { registryOfTestRun } from '../../registry/testing/delayed-registry.ts';
import { instance } from '../../registry/testing/fixtures.ts';
import { registryOfTests } from '../../registry/testing/registry-of-tests.ts';
import type { NewInstance } from '../../registry/types.ts';
import { withAnswers } from '../../registry/with-answers.ts';
import type { ReplicaOfFiles } from '../../replication/replica-of-files.ts';
import { createDiskDrawers } from '../../storage/disk.ts';
import type { Drawers } from '../../storage/drawer.ts';
import { instanceId, type Plain, type PlainIds, type PlainSandboxes, withPlainIds } from '../../testing/plain-ids.ts';
import { sharedReaders } from '../../testing/shared-readers.ts';
import { parseVfsPath } from '../../vfs/paths.ts';
import type { Volume } from '../../vfs/volumes.ts';
import type { CpuGroups } from '../../workers/cpu-groups.ts';
import type { HealthCheckTimes } from '../../workers/health-check.ts';
import { createPool } from '../../workers/pool.ts';
import type { WorkerWalls } from '../../workers/process.ts';
import type { InstancePool, InstanceProcess, OpenSpec } from '../../workers/protocol/instance.ts';
import { systemAudit } from '../engine.ts';
import { createSandboxes } from '../factory.ts';
import type { Failpoint } from '../recovery/failpoints.ts';
import type { ScrubPace } from '../recovery/scrub.ts';
import type { AuditContext } from '../sandboxes.ts';
import type { StoreBelowOptions } from '../store/store-below.ts';

export interface TestEngine {
  config: Config;
  clock: FakeClock;
  registry: PlainIds<Registry>;
  pool: InstancePool;
  sandboxes: PlainSandboxes;
  create(id: string, extra?: Partial<Plain<NewInstance>>): Promise<void>;
  put(id: string, path: string, text: string, volume?: Volume): Promise<void>;
  /** The text of a file, or null. Read as by any user, waking nothing. */
  get(id: string, path: string, volume?: Volume): Promise<string | null>;
  run(id: string, command: string): Promise<string>;
  stop(): Promise<void>;
  /** Ends the processes and closes the registry without suspending anything, as close to a kill as possible. */
  abandon(): Promise<void>;
}

export const REQUEST: AuditContext = {
  trigger: 'request',
  actor: 'key:test',
  via: 'api',
  requestId: null,
  address: null,
  reason: null,
};

export interface TestEngineOptions {
  dataFolder: string;
  environment?: Record<string, string>;
  clock?: FakeClock;
  failpoint?: (step: Failpoint) => void;
  scrub?: Partial<ScrubPace>;
  checkDelayMs?: number;
  healthCheckTimes?: Partial<HealthCheckTimes>;
  /** Default: those on disk. */
  drawers?: Drawers;
  /** Default: none. */
  cpuGroups?: CpuGroups | null;
  /** What stands around workers. Default: nothing. */
  walls?: WorkerWalls;
  /** Whether no other host uses the registry. Default: yes. */
  isAlone?: boolean;
  /** The store below the drawers. Default: none. */
  store?: Partial<StoreBelowOptions> & Pick<StoreBelowOptions, 'objects'>;
  /** Is told what happens to files. Default: nobody. */
  replica?: ReplicaOfFiles | null;
  /** What stands between the engine and the registry. Default: nothing. */
  between?: (registry: Registry) => Registry;
}

/** Starts an engine on a data folder and reconciles it. */
export async function startTestEngine({
  dataFolder,
  environment = {},
  clock = new FakeClock(),
  failpoint,
  scrub,
  checkDelayMs,
  healthCheckTimes,
  drawers = createDiskDrawers(dataFolder),
  cpuGroups = null,
  walls,
  isAlone = true,
  store,
  replica = null,
  between = (registry) => registry,
}: TestEngineOptions): Promise<TestEngine> {
  const registrySettings = await registryOfTests(dataFolder, environment.WB_REGISTRY);
  mkdirSync(dataFolder, { recursive: true });
  const config = readConfig({
    WB_DATA: dataFolder,
    WB_CACHE: process.env.WB_CACHE,
    WB_POOL: '0',
    WB_DRAIN_MS: '300',
    WB_LOG: 'silent',
    ...registrySettings,
    ...environment,
  });
  const log = createLogger('silent');
  const opened = registryOfTestRun(
    await registryDriver(config.registry).open({
      thresholds: {
        hotToWarmSeconds: config.hotToWarmSeconds,
        idleToSuspendSeconds: config.idleToSuspendSeconds,
        idleToFreezeSeconds: config.idleToFreezeSeconds,
      },
      scheduleLimits: { perSandbox: config.schedulesPerSandbox, perTenant: config.schedulesPerTenant },
      follow: true,
    }),
  );
  const term = await opened.hosts.begin(config.hostName, clock.now(), { alone: isAlone });
  const host = { name: config.hostName, term, isAlone };
  const registry = registryOfHost(withAnswers(between(opened)), host);
  const readers = sharedReaders(config);
  const pool = createPool({
    size: config.poolSize,
    maxActive: config.maxActive,
    memoryBytes: config.memoryBytes,
    dataFolder: config.dataFolder,
    cacheFolder: config.cacheFolder,
    walls,
    ...(healthCheckTimes === undefined ? {} : { healthCheckTimes }),
  });
  const sandboxes = createSandboxes({
    config,
    clock: clock satisfies Clock,
    log,
    registry,
    host,
    pool,
    readers,
    drawers,
    cpuGroups,
    replica,
    ...(store === undefined ? {} : { store: { cacheBytes: Number.MAX_SAFE_INTEGER, ack: 'stored', ...store } }),
    ...(failpoint === undefined ? {} : { failpoint }),
    ...(scrub === undefined ? {} : { scrub }),
    ...(checkDelayMs === undefined ? {} : { checkDelayMs }),
  });
  await Promise.all(Object.values(drawers).map((drawer) => drawer.prepare()));
  await readers.start();
  await sandboxes.reconcile();
  await pool.start();
  return {
    config,
    clock,
    registry: withPlainIds(registry),
    pool,
    sandboxes: withPlainIds(sandboxes) as PlainSandboxes,
    async create(id, extra = {}) {
      const row = instance(id, extra);
      const entry = ledgerEntry({ clock }, row, systemAudit('request'), 'instance.created');
      await registry.instances.create(row, epochSeconds(clock), entry);
    },
    async put(id, path, text, volume = 'workspace') {
      await sandboxes.write(
        instanceId(id),
        { op: 'put', volume, path: parseVfsPath(path), content: Buffer.from(text) },
        REQUEST,
      );
    },
    async get(id, path, volume = 'workspace') {
      const { content } = await sandboxes.read(instanceId(id), { op: 'get', volume, path: parseVfsPath(path) });
      return content === null ? null : Buffer.from(content).toString('utf8');
    },
    async run(id, command) {
      const outcome = await sandboxes.exec(instanceId(id), { command }, REQUEST);
      return outcome.stdout + outcome.stderr;
    },
    async stop() {
      await sandboxes.stop();
      await pool.stop();
      await readers.stop();
      await registry.close();
    },
    async abandon() {
      // First, so that nobody records the end of the processes.
      await registry.close();
      await pool.stop();
      await readers.stop();
    },
  };
}

/** Calls `listener` with each process of a pool that is handed a file from now on. */
export function observeOpens(pool: InstancePool, listener: (opening: InstanceProcess, spec: OpenSpec) => void): void {
  const claim = pool.claim.bind(pool);
  // What is opened without a claim of its caller gets one from the pool.
  pool.claim = () => {
    const claimed = claim();
    const open = (spec: OpenSpec) => {
      const opening = claimed.open(spec);
      listener(opening, spec);
      return opening;
    };
    return { started: claimed.started, open, release: () => claimed.release() };
  };
}

/** Where the live file of a sandbox is. */
export function liveFile(dock: Pick<TestEngine, 'config'>, id: string): string {
  return join(dock.config.dataFolder, 'live', id, 'vfs.sqlite');
}
