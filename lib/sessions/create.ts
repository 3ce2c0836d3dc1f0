/**
 * Puts the sessions together: one door for every verb, call and read, with the locks of DESIGN's promises around each.
 */
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
import { createArchiveDrawer, createColdDrawer, createCopyDrawers } from '../storage/disk.ts';
import { closeToRest, openLive } from '../vfs/open.ts';
import type { Readers } from '../vfs/types.ts';
import { archive } from './archive.ts';
import { Attachments } from './attachments.ts';
import { tellingStorage } from './border.ts';
import { evaluate, exec, write } from './calls.ts';
import { Checks } from './checks.ts';
import { idleFromNow } from './clock-jumps.ts';
import { CopyTurns } from './copy-turns.ts';
import { discardMemory, settleDead } from './death.ts';
import { deleteSandbox } from './delete.ts';
import { type Engine, line, livePath, MEMORY, now, rowOf, systemCause } from './engine.ts';
import { placeOf } from './file-locations.ts';
import { freeze } from './freeze.ts';
import { LostFiles } from './lost.ts';
import { walk } from './plan.ts';
import { PREFETCH_SECONDS, type Prefetched, prefetch } from './prefetch.ts';
import { PutOff } from './put-off.ts';
import { copyRaw } from './raw.ts';
import { copyOut, Expansions, type Reading, read } from './reading.ts';
import { reconcile, settleInterrupted } from './reconcile.ts';
import { restore } from './restore.ts';
import { Entries, type Entry } from './runtimes.ts';
import { PACE, type Pace, scrubForever } from './scrub.ts';
import type { Cause, Live, ResumeResult, Sessions } from './sessions.ts';
import type { Step } from './steps.ts';
import { suspend } from './suspend.ts';
import { sweepDrawers } from './sweep.ts';
import { flushActivity, type Round, runRound } from './ticker.ts';
import { wake } from './wake.ts';

export interface SessionsOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  registry: Registry;
  pool: InstancePool;
  readers: Readers;
  /** Fault injection: called as each step of a filing or waking is reached. */
  reached?: (step: Step) => void;
  /** Whether the registry is the one that was signed; default: yes. */
  registryIsWhole?: () => boolean;
  /** How fast files at rest are looked through; for tests. */
  scrub?: Partial<Pace>;
}

/** Sandboxes suspended at the same time when the server stops. */
const STOP_CONCURRENCY = 8;
/** How long a stop hashes what it has filed, in milliseconds, when the drain time is not over before. */
const HASH_AT_STOP_MS = 2000;

/** Makes the sessions and the folders they need. `reconcile` must have run before anything else is asked of them. */
export function createSessions(options: SessionsOptions): Sessions {
  const { config, log, readers, registry } = options;
  for (const folder of ['live', 'cold', 'archive', 'expanded', 'orphans']) {
    makeFolderNow(join(config.dataFolder, folder));
  }
  const checks = new Checks();
  const prefetched: Prefetched = new Map();
  const putOff = new PutOff();
  const lost = new LostFiles();
  const reading: Reading = {
    copyTurns: new CopyTurns(),
    expansions: new Expansions(config.dataFolder),
    emptyFile: join(config.dataFolder, 'expanded', 'empty.sqlite'),
  };
  const stopping = new AbortController();
  const engine: Engine = {
    ...options,
    cold: createColdDrawer(config.dataFolder),
    archive: createArchiveDrawer(config.dataFolder),
    copies: createCopyDrawers(config.dataFolder),
    entries: new Entries(),
    room: new Mutex(),
    reached: options.reached ?? (() => {}),
    registryIsWhole: options.registryIsWhole ?? (() => true),
    checkLater: (id, generation) => checks.ask(engine, id, generation),
    watch: (id, process) => watch(engine, id, process),
    interrupted: new Set(),
    stop: stopping.signal,
  };
  const { entries } = engine;
  const attachments = new Attachments(entries);
  const locked = <T>(id: string, work: (entry: Entry) => Promise<T>): Promise<T> =>
    entries.with(id, (entry) => entry.verbs.runExclusive(() => work(entry)));

  let round: Promise<Round> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let drawersSwept: Promise<unknown> = Promise.resolve();
  let scrubbing: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | null = null;

  const tick = (): Promise<Round> => {
    attachments.expire(now(engine));
    round ??= runRound(engine, prefetched, putOff, lost).finally(() => {
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
  const resume: Sessions['resume'] = (id, cause, { policy, force } = {}) =>
    locked(id, async (entry): Promise<ResumeResult> => {
      const woke = await wake(engine, entry, cause, {
        revives: true,
        ...(policy === undefined ? {} : { policy }),
        ...(force === undefined ? {} : { force }),
      });
      entry.used(now(engine));
      prefetched.delete(id);
      return {
        path: woke.source === null ? 'warm' : 'cold',
        source: woke.source,
        vfsPath: woke.row.vfsPath ?? livePath(id),
        tookMs: woke.tookMs,
        row: woke.row,
      };
    });

  return tellingStorage({
    resume,
    prefetch: (id, cause) => locked(id, (entry) => prefetch(engine, prefetched, entry, cause)),
    suspend: (id, cause, { force = false } = {}) => locked(id, (entry) => suspend(engine, entry, cause, force)),
    freeze: (id, cause, { force = false } = {}) => locked(id, (entry) => freeze(engine, entry, cause, force)),
    archive: (id, cause, { force = false } = {}) => locked(id, (entry) => archive(engine, entry, cause, force)),
    delete: (id, cause) => locked(id, async (entry) => void (await deleteSandbox(engine, entry, cause))),
    walk: (id, to, cause, options = {}) => locked(id, (entry) => walk(engine, entry, to, cause, options)),
    settle: (id, cause) =>
      entries.with(id, async (entry) => {
        if (entry.verbs.isLocked()) throw underWay(id);
        return entry.verbs.runExclusive(async () => {
          const row = await rowOf(engine, id);
          if (row.pending === null) return row;
          await settleInterrupted(engine, entry, row, cause);
          return (await registry.instances.get(id)) ?? row;
        });
      }),
    revive: async (id, cause, options = {}) => (await resume(id, cause, options)).row,
    exec: (id, request, cause, callOptions) =>
      entries.with(id, (entry) => exec(engine, entry, request, cause, callOptions)),
    eval: (id, request, cause, callOptions) =>
      entries.with(id, (entry) => evaluate(engine, entry, request, cause, callOptions)),
    write: (id, operation, cause) => entries.with(id, (entry) => write(engine, entry, operation, cause)),
    read: (id, request) => entries.with(id, (entry) => read(engine, reading, entry, request)),
    copyOut: (id, path, { volumes }) => entries.with(id, (entry) => copyOut(engine, reading, entry, path, volumes)),
    restore: (id, snapshot, cause) => locked(id, (entry) => restore(engine, prefetched, entry, snapshot, cause)),
    copyRaw: (id, folder) => entries.with(id, (entry) => copyRaw(engine, entry, folder)),
    async attach(id, attachment) {
      const { state } = await rowOf(engine, id);
      if (state === 'archived') {
        throw new WinterdockError('archived', `The sandbox "${id}" is archived; a terminal does not revive it.`, {
          hint: 'Revive it first.',
        });
      }
      attachments.hold(id, attachment, now(engine));
    },
    detach: (id, attachment) => attachments.release(id, attachment, now(engine)),
    live: (row) => live(entries.peek(row.id), row),
    get callsRunning() {
      return entries.values().reduce((sum, entry) => sum + entry.calls, 0);
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
      await idleFromNow(engine);
      const reconciled = await reconcile(engine);
      for (const id of reconciled.early) prefetched.set(id, now(engine) + PREFETCH_SECONDS);
      return reconciled;
    },
    tick,
    start() {
      if (timer !== null) return;
      schedule();
      scrubbing = scrubForever(engine, engine.stop, { ...PACE, ...options.scrub });
      drawersSwept = sweepDrawers(engine).catch((error) => log.error({ error: messageOf(error) }, 'orphan search'));
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  });

  async function stop(): Promise<void> {
    stopping.abort();
    if (timer !== null) clearTimeout(timer);
    // A suspension would wait for them.
    reading.copyTurns.stop();
    await readers.breakOffCopies();
    await Promise.allSettled([round, drawersSwept, scrubbing, checks.pause()]);
    // On a full disk the idle clocks stay where they were; what runs is put to sleep all the same.
    await flushActivity(engine).catch((error) => log.error({ error: messageOf(error) }, 'activity at stop'));
    const cause = { ...systemCause('stop'), reason: 'the server stops' };
    const drainUntil = performance.now() + config.drainMs;
    // No wake begins any more; one that is under way has its process, or was taken back, once its lock is free.
    const busy = entries.values().filter((entry) => entry.process !== null || entry.verbs.isLocked());
    while (busy.length > 0) {
      const few = busy.splice(0, STOP_CONCURRENCY);
      await Promise.all(few.map((entry) => stopOne(engine, entry, cause, drainUntil)));
    }
    await checks.finish(engine, Math.min(drainUntil, performance.now() + HASH_AT_STOP_MS));
    await reading.expansions.stop();
  }
}

/**
 * Suspends one sandbox for the stop, once what is under way with it is over: its calls get what is left of the drain
 * time, then they are ended.
 */
async function stopOne(engine: Engine, entry: Entry, cause: Cause, drainUntil: number): Promise<void> {
  await entry.verbs.runExclusive(async () => {
    await entry.drained(Math.max(0, drainUntil - performance.now()));
    const { process } = entry;
    if (process === null) return;
    const row = await engine.registry.instances.get(entry.id);
    try {
      if (row !== null && row.vfsPath === MEMORY) {
        entry.process = null;
        await process.kill('closed');
        await discardMemory(engine, row, cause);
      } else {
        await suspend(engine, entry, cause, true, { unasked: true });
      }
    } catch (error) {
      engine.log.error({ id: entry.id, error: messageOf(error) }, 'suspending at stop');
    }
  });
}

function live(entry: Entry | undefined, row: InstanceRow): Live {
  return {
    thermal: row.state === 'active' ? 'hot' : 'cold',
    updated: Math.max(row.updated, entry?.activity ?? 0),
    attached: entry?.attached ?? 0,
    calls: entry?.calls ?? 0,
    pending: entry?.pendingOn(row) ?? row.pending?.verb ?? null,
    held: entry?.verbs.isLocked() ?? false,
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
  await engine.registry.ledger.append([line(engine, row, systemCause('crash'), 'process.silent', { reason })]);
}

/** A process that goes without having been asked takes its sandbox to `suspended`. */
function watch(engine: Engine, id: string, process: InstanceProcess): void {
  process.whenSilent(() => {
    tellSilence(engine, id).catch((error) => engine.log.error({ id, error: messageOf(error) }, 'a silent process'));
  });
  void process.ended.then((death) => {
    const entry = engine.entries.peek(id);
    if (entry === undefined || entry.process !== process) return;
    const settling = entry.verbs
      .runExclusive(async () => {
        // One that a filing has closed is no longer the entry's by now.
        if (entry.process !== process) return;
        engine.log.warn({ id, ...death }, 'a process ended by itself');
        entry.process = null;
        const row = await engine.registry.instances.get(id);
        if (row === null || row.state !== 'active') return;
        const timeout = death.cause === 'timeout';
        // By the end of the server: whatever is wrong then, the sandbox is not.
        const ended = death.cause === 'killed';
        if (row.vfsPath !== MEMORY && placeOf(engine, row) === 'live' && death.cause === 'memory') {
          await engine.registry.ledger.append([
            line(engine, row, systemCause('crash'), 'exec.out_of_memory', { error: death.detail }),
          ]);
        }
        await settleDead(engine, entry, row, {
          trigger: timeout ? 'timeout' : ended ? 'stop' : 'crash',
          // One that was stuck is replaced from its file: nothing of the sandbox's is known to be wrong.
          fault: timeout || ended || death.cause === 'silent' ? null : 'error',
          detail: death.detail,
        });
      })
      .catch((error) => engine.log.error({ id, error: messageOf(error) }, 'settling a dead process'))
      .finally(() => {
        if (entry.settling === settling) entry.settling = null;
        engine.entries.drop(entry);
      });
    entry.settling = settling;
  });
}
