/** Builds the sandboxes: one interface for every verb, call and read, each under the locks that it needs. */
import { join } from 'node:path';
import { Mutex } from 'async-mutex';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { makeFolderNow } from '../base/effects.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity, InstanceRow } from '../registry/types.ts';
import type { MomentSource } from '../replication/moments/moment-source.ts';
import type { ReplicaOfFiles, ReplicaStatus } from '../replication/replica-of-files.ts';
import type { Drawers } from '../storage/drawer.ts';
import { endRemovals } from '../storage/landing-folder.ts';
import { closeToRest, openLive } from '../vfs/open.ts';
import type { Readers } from '../vfs/types.ts';
import type { CpuGroups } from '../workers/cpu-groups.ts';
import type { InstancePool } from '../workers/protocol/instance.ts';
import { WakeAdmission } from './admission/admission.ts';
import { CpuAccounts } from './admission/cpu-accounts.ts';
import { CpuFairness } from './admission/cpu-fairness.ts';
import { RetryDelays } from './admission/retry-delays.ts';
import { Attachments } from './attachments.ts';
import { evaluateInSandbox, exec, requireCallable, write } from './calls.ts';
import { correctFutureActivity } from './clock-jumps.ts';
import { callWorkbook } from './component-calls.ts';
import { ComponentRecords } from './component-records.ts';
import { ComponentRequests } from './component-requests.ts';
import { type Engine, isOwn, livePath, now, onAnotherHost, requireOwnInstance } from './engine.ts';
import { copyQueue } from './files/copy-queue.ts';
import { PREFETCH_SECONDS, type PrefetchDeadlines, prefetch } from './files/prefetch.ts';
import { copyRaw } from './files/raw-copy.ts';
import { copyOut, Expansions, type ReadContext, read } from './files/reading.ts';
import { withStorageErrors } from './files/storage-errors.ts';
import { withHeldAnswers } from './held-answers.ts';
import { archive } from './moves/archive.ts';
import { removeSandbox } from './moves/delete.ts';
import { freeze } from './moves/freeze.ts';
import { handOver } from './moves/hand-over.ts';
import { forgetChangedThresholds, pauseNow } from './moves/idle-pauses.ts';
import { restore } from './moves/restore.ts';
import { executePlan } from './moves/run-plan.ts';
import { suspendAll } from './moves/shutdown.ts';
import { suspend } from './moves/suspend.ts';
import { flushActivity, type LadderRound, runLadderRound, weightOf } from './moves/ticker.ts';
import { wake } from './moves/wake.ts';
import { createPast, momentsFor } from './past.ts';
import { BackgroundChecks } from './recovery/background-checks.ts';
import type { Failpoint } from './recovery/failpoints.ts';
import { LostFileCheck } from './recovery/lost-files.ts';
import { searchDrawers } from './recovery/orphan-search.ts';
import { watchProcess } from './recovery/process-watch.ts';
import { reconcile, settleInterrupted } from './recovery/reconcile.ts';
import { SCRUB_PACE, type ScrubPace, scrubForever } from './recovery/scrub.ts';
import { endTaken, hostAwayFacts } from './recovery/takeover.ts';
import { Runtimes, type SandboxRuntime } from './runtimes.ts';
import type { LiveStatus, ResumeResult, Sandboxes } from './sandboxes.ts';
import { tellReplica } from './shipping.ts';
import { takeStored } from './store/from-stored.ts';
import { DrawerStore, type StoreBelowOptions } from './store/store-below.ts';

export interface SandboxesOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  /** As this host uses it: lib/registry/registry-of-host.ts. */
  registry: Registry;
  host: HostIdentity;
  pool: InstancePool;
  readers: Readers;
  drawers: Drawers;
  /** Control groups for what gives way. Default: none. */
  cpuGroups?: CpuGroups | null;
  /** The object store below the cold drawer and the archive. Default: none. */
  store?: StoreBelowOptions | null;
  /** Is told what happens to files, and ships what is committed to them. Default: nobody. */
  replica?: ReplicaOfFiles | null;
  /** The moments of the replica. Default: there is none. */
  moments?: MomentSource | null;
  /** The refusal of a sandbox that is another host's. Default: it names that one. */
  elsewhere?: Engine['elsewhere'];
  /** What is known of a sandbox whose host does not answer. Default: each one's host answers. */
  unreachable?: Engine['unreachable'];
  /** The host of a row, if it is dead. Default: each one lives. */
  fallen?: Engine['fallen'];
  /** Is told of each sandbox that was taken from a dead host. */
  tookOver?: Engine['tookOver'];
  /** Whether this host is being emptied. Default: it never is. */
  isDraining?: Engine['isDraining'];
  /** Called at each failpoint, for fault injection. */
  failpoint?: (step: Failpoint) => void;
  /** Whether the registry is the one that was signed; default: yes. */
  registryIsWhole?: () => boolean;
  /** The pace of the scrubber; for tests. */
  scrub?: Partial<ScrubPace>;
  /** Milliseconds between a filing and its background check; for tests. */
  checkDelayMs?: number;
}

/** How long a stop hashes filed files, in milliseconds, at most what is left of the drain time. */
const HASH_AT_STOP_MS = 2000;

/** Makes the sandboxes and the folders that they need. `reconcile` has to run before anything else. */
export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { config, log, readers, registry } = options;
  // The listings of archived sandboxes lie in `archive/`, wherever their files are.
  for (const folder of ['live', 'archive', 'expanded', 'orphans']) {
    makeFolderNow(join(config.dataFolder, folder));
  }
  const checks = new BackgroundChecks(options.checkDelayMs);
  const prefetched: PrefetchDeadlines = new Map();
  const retryDelays = new RetryDelays();
  const lostFiles = new LostFileCheck();
  const moments = options.moments ? momentsFor(config, options.moments) : null;
  const reading: ReadContext = {
    copyQueue: copyQueue(),
    expansions: new Expansions(config.dataFolder),
    emptyFile: join(config.dataFolder, 'expanded', 'empty.sqlite'),
  };
  const stopping = new AbortController();
  const operationListeners = new Set<(id: InstanceId) => void>();
  const engine: Engine = {
    ...options,
    runtimes: new Runtimes({
      operationChanged: (id) => {
        for (const listener of operationListeners) listener(id);
      },
      whenRested: async (id) => options.replica?.whenRested(id),
    }),
    admission: new WakeAdmission(() => engine),
    cpuGroups: options.cpuGroups ?? null,
    replica: options.replica ?? null,
    momentSource: options.moments ?? null,
    moments: moments?.opened ?? null,
    get cpuBudget() {
      return cpuAccounts;
    },
    get store() {
      return below;
    },
    elsewhere: options.elsewhere ?? onAnotherHost,
    unreachable: options.unreachable ?? (() => null),
    fallen: options.fallen ?? (() => null),
    tookOver: options.tookOver ?? (() => undefined),
    isDraining: options.isDraining ?? (() => false),
    leaving: new Set(),
    roomMutex: new Mutex(),
    failpoint: options.failpoint ?? (() => {}),
    registryIsWhole: options.registryIsWhole ?? (() => true),
    scheduleCheck: (id, generation) => checks.schedule(engine, id, generation),
    hurryCheck: (id, generation) => checks.hurry(engine, id, generation),
    watchProcess: (id, process) => watchProcess(engine, id, process),
    interrupted: new Set(),
    stop: stopping.signal,
  };
  const { runtimes } = engine;
  const below = options.store ? new DrawerStore(engine, options.store) : null;
  /** A filing answers once its file is stored, where that is so set. */
  const acknowledged = async (filing: Promise<InstanceRow>): Promise<InstanceRow> => {
    const row = await filing;
    return below === null ? row : below.acknowledged(row);
  };
  const stopForgetting = forgetChangedThresholds(engine);
  const components = { requests: new ComponentRequests(engine), records: new ComponentRecords(() => engine) };
  const attachments = new Attachments(runtimes);
  const cpuFairness = new CpuFairness(engine);
  const cpuAccounts = new CpuAccounts(engine);
  const locked = <T>(id: InstanceId, work: (runtime: SandboxRuntime) => Promise<T>): Promise<T> =>
    runtimes.use(id, (runtime) => runtime.verbs.runExclusive(() => work(runtime)));

  let round: Promise<LadderRound> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let orphanSearch: Promise<unknown> = Promise.resolve();
  let scrubbing: Promise<void> = Promise.resolve();
  let storing: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | null = null;

  const tick = (): Promise<LadderRound> => {
    attachments.expire(now(engine));
    round ??= runLadderRound(engine, prefetched, retryDelays, lostFiles)
      // After the round, which notes the sizes of files. What could not be saved stays for the next one.
      .finally(() => cpuAccounts.save().catch((error) => log.warn({ error: messageOf(error) }, 'usage was not saved')))
      .finally(() => {
        round = null;
      });
    return round;
  };
  const schedule = () => {
    if (engine.stop.aborted) return;
    timer = setTimeout(() => {
      tick()
        .catch((error) => log.error({ error: messageOf(error) }, 'tick'))
        .finally(schedule);
    }, config.tickMs);
  };
  const resume: Sandboxes['resume'] = (id, audit, { policy, force, makesRoom = true, fromStored = false } = {}) =>
    locked(id, async (runtime): Promise<ResumeResult> => {
      if (fromStored) await takeStored(engine, runtime, audit);
      const woke = await wake(engine, runtime, audit, {
        revives: true,
        makesRoom,
        ...(policy === undefined ? {} : { policy }),
        ...(force === undefined ? {} : { force }),
      });
      runtime.markUsed(now(engine));
      runtime.isPauseWanted = false;
      prefetched.delete(id);
      return {
        path: woke.source === null ? 'warm' : 'cold',
        source: woke.source,
        vfsPath: woke.row.vfsPath ?? livePath(id),
        tookMs: woke.tookMs,
        row: woke.row,
      };
    });

  options.replica?.onTaken?.((id) => {
    endTaken(engine, [id]).catch((error: unknown) => log.warn({ id, err: error }, 'a process is not ended yet'));
  });
  const unheld: Sandboxes = {
    resume,
    pause: (id, audit) => runtimes.use(id, (runtime) => pauseNow(engine, runtime, audit)),
    prefetch: (id, audit) => locked(id, (runtime) => prefetch(engine, prefetched, runtime, audit)),
    suspend: (id, audit, { force = false } = {}) => locked(id, (runtime) => suspend(engine, runtime, audit, force)),
    freeze: (id, audit, { force = false } = {}) =>
      acknowledged(locked(id, (runtime) => freeze(engine, runtime, audit, force))),
    archive: (id, audit, { force = false } = {}) =>
      acknowledged(locked(id, (runtime) => archive(engine, runtime, audit, force))),
    delete: (id, audit) => locked(id, async (runtime) => void (await removeSandbox(engine, runtime, audit))),
    runPlan: (id, to, audit, options = {}) =>
      acknowledged(locked(id, (runtime) => executePlan(engine, runtime, to, audit, options))),
    handOver: (id, audit, options) =>
      handOver(engine, async (row) => (await below?.whenStored(row)) ?? row, id, audit, options),
    settle: (id, audit) =>
      runtimes.use(id, async (runtime) => {
        if (runtime.verbs.isLocked()) throw operationUnderWay(id);
        return runtime.verbs.runExclusive(async () => {
          const row = await requireOwnInstance(engine, id);
          if (row.pending === null) return row;
          await settleInterrupted(engine, runtime, row, audit);
          return (await registry.instances.get(id)) ?? row;
        });
      }),
    revive: async (id, audit, options = {}) => (await resume(id, audit, options)).row,
    exec: (id, request, audit, callOptions) =>
      runtimes.use(id, (runtime) => exec(engine, runtime, request, audit, callOptions)),
    eval: (id, request, audit, callOptions) =>
      runtimes.use(id, (runtime) => evaluateInSandbox(engine, runtime, request, audit, callOptions)),
    requireCallable: (id, capability, audit) =>
      runtimes.use(id, (runtime) => requireCallable(engine, runtime, capability, audit)),
    callWorkbook: (id, call, audit, callOptions) =>
      runtimes.use(id, (runtime) => callWorkbook(engine, components, runtime, call, audit, callOptions)),
    write: (id, operation, audit) => runtimes.use(id, (runtime) => write(engine, runtime, operation, audit)),
    read: (id, request) => runtimes.use(id, (runtime) => read(engine, reading, runtime, request)),
    copyOut: (id, path, options) => runtimes.use(id, (runtime) => copyOut(engine, reading, runtime, path, options)),
    restore: (id, snapshot, audit) => locked(id, (runtime) => restore(engine, prefetched, runtime, snapshot, audit)),
    reclassified: (row) => void tellReplica(engine, row.id, (replica) => replica.reclassified(row)),
    recorded: async () => undefined,
    requireRecordable: () => undefined,
    fileMade: (id) => void tellReplica(engine, id, (replica) => replica.replaced(id)),
    copyRaw: (id, folder) => runtimes.use(id, (runtime) => copyRaw(engine, runtime, folder)),
    async attach(id, attachment) {
      const { state } = await requireOwnInstance(engine, id);
      if (state === 'archived') {
        throw new WinterdockError('archived', `The sandbox "${id}" is archived; a terminal does not revive it.`, {
          hint: 'Revive it first.',
        });
      }
      attachments.hold(id, attachment, now(engine));
    },
    detach: (id, attachment) => attachments.release(id, attachment, now(engine)),
    live: (row) => ({
      ...statusOf(runtimes.peek(row.id), row),
      isHere: isOwn(engine, row),
      unreachable: hostAwayFacts(engine, row),
      upload: below?.uploadOf(row) ?? 'none',
      replica: tellReplica(engine, row.id, (replica) => replica.describe(row)) ?? NOT_REPLICATED,
    }),
    endTaken: (ids) => endTaken(engine, ids),
    isAwakeHere: (id) => (runtimes.peek(id)?.process ?? null) !== null,
    get attachedIds() {
      return runtimes.values().flatMap(({ id, attached }) => (attached > 0 ? [id] : []));
    },
    get warmIds() {
      return runtimes.values().flatMap(({ id, warmSince }) => (warmSince === null ? [] : [id]));
    },
    get wakesWaiting() {
      return engine.admission.waiting;
    },
    store: below,
    past: createPast(engine, moments),
    onWakeWaited: (listener) => engine.admission.onWaited(listener),
    onOperationChange(listener) {
      operationListeners.add(listener);
      return () => operationListeners.delete(listener);
    },
    get totalsByTenant() {
      return cpuAccounts.totals;
    },
    get memoryByTenant() {
      return cpuAccounts.memory;
    },
    load: {
      serving: () => cpuAccounts.serving(),
      onUse: (watcher) => cpuAccounts.onUse(watcher),
      diskBytes(id) {
        const runtime = runtimes.peek(id);
        return runtime === undefined ? null : (weightOf(engine, runtime) ?? null);
      },
    },
    get callsRunning() {
      return runtimes.values().reduce((sum, runtime) => sum + runtime.calls, 0);
    },
    async reconcile() {
      await reading.expansions.start();
      closeToRest(
        openLive(reading.emptyFile, {
          maxBytes: config.maxSandboxBytes,
          maxFileBytes: config.maxFileBytes,
          mustExist: false,
        }),
      );
      await correctFutureActivity(engine);
      const reconciled = await reconcile(engine);
      for (const id of reconciled.prefetched) prefetched.set(id, now(engine) + PREFETCH_SECONDS);
      return reconciled;
    },
    tick,
    start() {
      if (timer !== null) return;
      schedule();
      cpuFairness.start();
      cpuAccounts.start();
      scrubbing = scrubForever(engine, engine.stop, { ...SCRUB_PACE, ...options.scrub });
      storing = below?.start().catch((error) => log.error({ error: messageOf(error) }, 'uploads')) ?? storing;
      orphanSearch = searchDrawers(engine).catch((error) => log.error({ error: messageOf(error) }, 'orphan search'));
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
  return withStorageErrors(withHeldAnswers(unheld, engine));

  async function stop(): Promise<void> {
    stopping.abort();
    if (timer !== null) clearTimeout(timer);
    cpuFairness.stop();
    // A suspension would wait for copies.
    reading.copyQueue.stop();
    await readers.breakOffCopies();
    await storing;
    await Promise.allSettled([round, orphanSearch, scrubbing, checks.pause(), below?.stop()]);
    // On a full disk the idle clocks stay where they were; active sandboxes are suspended all the same.
    await flushActivity(engine).catch((error) => log.error({ error: messageOf(error) }, 'activity at stop'));
    const drainUntil = performance.now() + config.drainMs;
    await suspendAll(engine, drainUntil);
    await components.records.flush();
    await checks.finish(engine, Math.min(drainUntil, performance.now() + HASH_AT_STOP_MS));
    // In this order nobody waits for what is being made.
    await Promise.all([moments?.opened.stop(), moments?.source.close()]);
    await reading.expansions.stop();
    await endRemovals();
    await cpuAccounts.stop().catch((error) => log.error({ error: messageOf(error) }, 'usage at stop'));
    stopForgetting();
  }
}

/** What is in memory about a sandbox, as callers see it. */
/** On a server without a replica. */
const NOT_REPLICATED: ReplicaStatus = {
  ...{ replicate: 'off', isFromNextWake: false },
  ...{ atMs: null, behindMs: null, as: 'none' },
};

type OfRuntime = Omit<LiveStatus, 'upload' | 'replica' | 'isHere' | 'unreachable'>;

function statusOf(runtime: SandboxRuntime | undefined, row: InstanceRow): OfRuntime {
  const warmSince = row.state === 'active' ? (runtime?.warmSince ?? null) : null;
  return {
    thermal: row.state !== 'active' ? 'cold' : warmSince === null ? 'hot' : 'warm',
    warmSince,
    updated: Math.max(row.updated, runtime?.activity ?? 0),
    runningPolicy: row.state === 'active' ? (runtime?.policyAtWake ?? row.policy) : null,
    attached: runtime?.attached ?? 0,
    calls: runtime?.calls ?? 0,
    pending: runtime?.pendingOn(row) ?? row.pending?.verb ?? null,
    isLocked: runtime?.verbs.isLocked() ?? false,
  };
}

function operationUnderWay(id: InstanceId): WinterdockError {
  return new WinterdockError('conflict', `An operation on the sandbox "${id}" is still under way.`, {
    hint: 'Wait until it ends. If it never does, restart the server: a start settles it.',
  });
}
