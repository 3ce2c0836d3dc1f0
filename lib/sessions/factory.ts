/** Builds the sessions: one interface for every verb, call and read, each under the locks that it needs. */
import { join } from 'node:path';
import { Mutex } from 'async-mutex';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { makeFolderNow } from '../base/effects.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { InstancePool, InstanceProcess } from '../instance/instance.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { Drawers } from '../storage/drawer.ts';
import { closeToRest, openLive } from '../vfs/open.ts';
import type { Readers } from '../vfs/types.ts';
import { archive } from './archive.ts';
import { Attachments } from './attachments.ts';
import { BackgroundChecks } from './background-checks.ts';
import { evaluateInSandbox, exec, write } from './calls.ts';
import { correctFutureActivity } from './clock-jumps.ts';
import { CopyQueue } from './copy-queue.ts';
import { removeSandbox } from './delete.ts';
import { type Engine, ledgerEntry, livePath, MEMORY, now, requireInstance, systemAudit } from './engine.ts';
import type { Failpoint } from './failpoints.ts';
import { locationOf } from './file-locations.ts';
import { freeze } from './freeze.ts';
import { LostFileCheck } from './lost-files.ts';
import { searchDrawers } from './orphan-search.ts';
import { executePlan } from './plan.ts';
import { PREFETCH_SECONDS, type PrefetchDeadlines, prefetch } from './prefetch.ts';
import { deleteMemorySandbox, settleDeadProcess } from './process-death.ts';
import { copyRaw } from './raw-copy.ts';
import { copyOut, Expansions, type ReadContext, read } from './reading.ts';
import { reconcile, settleInterrupted } from './reconcile.ts';
import { restore } from './restore.ts';
import { RetryDelays } from './retry-delays.ts';
import { Runtimes, type SandboxRuntime } from './runtimes.ts';
import { SCRUB_PACE, type ScrubPace, scrubForever } from './scrub.ts';
import type { AuditContext, LiveStatus, ResumeResult, Sessions } from './sessions.ts';
import { withStorageErrors } from './storage-errors.ts';
import { suspend } from './suspend.ts';
import { flushActivity, type LadderRound, runLadderRound } from './ticker.ts';
import { wake } from './wake.ts';

export interface SessionsOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  registry: Registry;
  pool: InstancePool;
  readers: Readers;
  drawers: Drawers;
  /** Called at each failpoint, for fault injection. */
  failpoint?: (step: Failpoint) => void;
  /** Whether the registry is the one that was signed; default: yes. */
  registryIsWhole?: () => boolean;
  /** The pace of the scrubber; for tests. */
  scrub?: Partial<ScrubPace>;
}

/** Sandboxes suspended at the same time when the server stops. */
const STOP_CONCURRENCY = 8;
/** How long a stop hashes filed files, in milliseconds, at most what is left of the drain time. */
const HASH_AT_STOP_MS = 2000;

/** Makes the sessions and the folders that they need. `reconcile` has to run before anything else. */
export function createSessions(options: SessionsOptions): Sessions {
  const { config, log, readers, registry } = options;
  for (const folder of ['live', 'cold', 'archive', 'expanded', 'orphans']) {
    makeFolderNow(join(config.dataFolder, folder));
  }
  const checks = new BackgroundChecks();
  const prefetched: PrefetchDeadlines = new Map();
  const putOff = new RetryDelays();
  const lost = new LostFileCheck();
  const reading: ReadContext = {
    copyQueue: new CopyQueue(),
    expansions: new Expansions(config.dataFolder),
    emptyFile: join(config.dataFolder, 'expanded', 'empty.sqlite'),
  };
  const stopping = new AbortController();
  const engine: Engine = {
    ...options,
    runtimes: new Runtimes(),
    memoryMutex: new Mutex(),
    failpoint: options.failpoint ?? (() => {}),
    registryIsWhole: options.registryIsWhole ?? (() => true),
    scheduleCheck: (id, generation) => checks.schedule(engine, id, generation),
    watchProcess: (id, process) => watch(engine, id, process),
    interrupted: new Set(),
    stop: stopping.signal,
  };
  const { runtimes } = engine;
  const attachments = new Attachments(runtimes);
  const locked = <T>(id: string, work: (runtime: SandboxRuntime) => Promise<T>): Promise<T> =>
    runtimes.use(id, (runtime) => runtime.verbs.runExclusive(() => work(runtime)));

  let round: Promise<LadderRound> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let drawersSwept: Promise<unknown> = Promise.resolve();
  let scrubbing: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | null = null;

  const tick = (): Promise<LadderRound> => {
    attachments.expire(now(engine));
    round ??= runLadderRound(engine, prefetched, putOff, lost).finally(() => {
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
  const resume: Sessions['resume'] = (id, audit, { policy, force } = {}) =>
    locked(id, async (runtime): Promise<ResumeResult> => {
      const woke = await wake(engine, runtime, audit, {
        revives: true,
        ...(policy === undefined ? {} : { policy }),
        ...(force === undefined ? {} : { force }),
      });
      runtime.markUsed(now(engine));
      prefetched.delete(id);
      return {
        path: woke.source === null ? 'warm' : 'cold',
        source: woke.source,
        vfsPath: woke.row.vfsPath ?? livePath(id),
        tookMs: woke.tookMs,
        row: woke.row,
      };
    });

  return withStorageErrors({
    resume,
    prefetch: (id, audit) => locked(id, (runtime) => prefetch(engine, prefetched, runtime, audit)),
    suspend: (id, audit, { force = false } = {}) => locked(id, (runtime) => suspend(engine, runtime, audit, force)),
    freeze: (id, audit, { force = false } = {}) => locked(id, (runtime) => freeze(engine, runtime, audit, force)),
    archive: (id, audit, { force = false } = {}) => locked(id, (runtime) => archive(engine, runtime, audit, force)),
    delete: (id, audit) => locked(id, async (runtime) => void (await removeSandbox(engine, runtime, audit))),
    runPlan: (id, to, audit, options = {}) => locked(id, (runtime) => executePlan(engine, runtime, to, audit, options)),
    settle: (id, audit) =>
      runtimes.use(id, async (runtime) => {
        if (runtime.verbs.isLocked()) throw underWay(id);
        return runtime.verbs.runExclusive(async () => {
          const row = await requireInstance(engine, id);
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
    write: (id, operation, audit) => runtimes.use(id, (runtime) => write(engine, runtime, operation, audit)),
    read: (id, request) => runtimes.use(id, (runtime) => read(engine, reading, runtime, request)),
    copyOut: (id, path, { volumes }) => runtimes.use(id, (runtime) => copyOut(engine, reading, runtime, path, volumes)),
    restore: (id, snapshot, audit) => locked(id, (runtime) => restore(engine, prefetched, runtime, snapshot, audit)),
    copyRaw: (id, folder) => runtimes.use(id, (runtime) => copyRaw(engine, runtime, folder)),
    async attach(id, attachment) {
      const { state } = await requireInstance(engine, id);
      if (state === 'archived') {
        throw new WinterdockError('archived', `The sandbox "${id}" is archived; a terminal does not revive it.`, {
          hint: 'Revive it first.',
        });
      }
      attachments.hold(id, attachment, now(engine));
    },
    detach: (id, attachment) => attachments.release(id, attachment, now(engine)),
    live: (row) => live(runtimes.peek(row.id), row),
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
      scrubbing = scrubForever(engine, engine.stop, { ...SCRUB_PACE, ...options.scrub });
      drawersSwept = searchDrawers(engine).catch((error) => log.error({ error: messageOf(error) }, 'orphan search'));
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  });

  async function stop(): Promise<void> {
    stopping.abort();
    if (timer !== null) clearTimeout(timer);
    // A suspension would wait for copies.
    reading.copyQueue.stop();
    await readers.breakOffCopies();
    await Promise.allSettled([round, drawersSwept, scrubbing, checks.pause()]);
    // On a full disk the idle clocks stay where they were; active sandboxes are suspended all the same.
    await flushActivity(engine).catch((error) => log.error({ error: messageOf(error) }, 'activity at stop'));
    const audit = { ...systemAudit('stop'), reason: 'the server stops' };
    const drainUntil = performance.now() + config.drainMs;
    // No wake begins any more. A wake under way has its process, or was rolled back, once its lock is free.
    const busy = runtimes.values().filter((runtime) => runtime.process !== null || runtime.verbs.isLocked());
    while (busy.length > 0) {
      const few = busy.splice(0, STOP_CONCURRENCY);
      await Promise.all(few.map((runtime) => stopOne(engine, runtime, audit, drainUntil)));
    }
    await checks.finish(engine, Math.min(drainUntil, performance.now() + HASH_AT_STOP_MS));
    await reading.expansions.stop();
  }
}

/**
 * Suspends one sandbox for the stop, once its verb under way has ended. Its calls get what is left of the drain time.
 */
async function stopOne(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  drainUntil: number,
): Promise<void> {
  await runtime.verbs.runExclusive(async () => {
    await runtime.waitForCalls(Math.max(0, drainUntil - performance.now()));
    const { process } = runtime;
    if (process === null) return;
    const row = await engine.registry.instances.get(runtime.id);
    try {
      if (row !== null && row.vfsPath === MEMORY) {
        runtime.process = null;
        await process.kill('closed');
        await deleteMemorySandbox(engine, row, audit);
      } else {
        await suspend(engine, runtime, audit, true, { evenIfEphemeral: true });
      }
    } catch (error) {
      engine.log.error({ id: runtime.id, error: messageOf(error) }, 'suspending at stop');
    }
  });
}

function live(runtime: SandboxRuntime | undefined, row: InstanceRow): LiveStatus {
  return {
    thermal: row.state === 'active' ? 'hot' : 'cold',
    updated: Math.max(row.updated, runtime?.activity ?? 0),
    attached: runtime?.attached ?? 0,
    calls: runtime?.calls ?? 0,
    pending: runtime?.pendingOn(row) ?? row.pending?.verb ?? null,
    isLocked: runtime?.verbs.isLocked() ?? false,
  };
}

function underWay(id: string): WinterdockError {
  return new WinterdockError('conflict', `An operation on the sandbox "${id}" is really under way.`, {
    hint: 'Wait for its end. If it has none, restart the server: a start settles it.',
  });
}

async function tellSilence(engine: Engine, id: string): Promise<void> {
  engine.log.warn({ id }, 'a process answers nothing while no call runs');
  const row = await engine.registry.instances.get(id);
  if (row?.state !== 'active') return;
  const reason = 'its process left ten checks unanswered while no call ran';
  await engine.registry.ledger.append([ledgerEntry(engine, row, systemAudit('crash'), 'process.silent', { reason })]);
}

/** Suspends the sandbox of a process that ends without being asked. */
function watch(engine: Engine, id: string, process: InstanceProcess): void {
  process.whenSilent(() => {
    tellSilence(engine, id).catch((error) => engine.log.error({ id, error: messageOf(error) }, 'a silent process'));
  });
  void process.ended.then((death) => {
    const runtime = engine.runtimes.peek(id);
    if (runtime === undefined || runtime.process !== process) return;
    const settling = runtime.verbs
      .runExclusive(async () => {
        // A filing that closed the process has taken it from the runtime by now.
        if (runtime.process !== process) return;
        engine.log.warn({ id, ...death }, 'a process ended by itself');
        runtime.process = null;
        const row = await engine.registry.instances.get(id);
        if (row === null || row.state !== 'active') return;
        const timeout = death.cause === 'timeout';
        // The server ended it: that says nothing against the sandbox.
        const ended = death.cause === 'killed';
        if (row.vfsPath !== MEMORY && locationOf(engine, row) === 'live' && death.cause === 'memory') {
          await engine.registry.ledger.append([
            ledgerEntry(engine, row, systemAudit('crash'), 'exec.out_of_memory', { error: death.detail }),
          ]);
        }
        await settleDeadProcess(engine, runtime, row, {
          trigger: timeout ? 'timeout' : ended ? 'stop' : 'crash',
          // A stuck process is replaced from the file: nothing is known to be wrong with the sandbox.
          fault: timeout || ended || death.cause === 'silent' ? null : 'error',
          detail: death.detail,
        });
      })
      .catch((error) => engine.log.error({ id, error: messageOf(error) }, 'settling a dead process'))
      .finally(() => {
        if (runtime.settling === settling) runtime.settling = null;
        engine.runtimes.drop(runtime);
      });
    runtime.settling = settling;
  });
}
