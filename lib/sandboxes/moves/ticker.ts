/**
 * The ticker: applies the ladder to the sandboxes that are due. Rounds never overlap; a round costs what is due and not
 * what exists, and a sandbox that fails stops no other.
 */
import { isMachineFailure, messageOf } from '../../base/errors.ts';
import { nextMove } from '../../lifecycle/ladder.ts';
import { isBlocking } from '../../lifecycle/words.ts';
import type { DueRow } from '../../registry/instances.ts';
import { discardLeft, stampOf } from '../../storage/files.ts';
import { removeLeft } from '../../storage/landing-folder.ts';
import { enforceMemoryLimit } from '../admission/make-space.ts';
import type { RetryDelays } from '../admission/retry-delays.ts';
import { correctFutureActivity } from '../clock-jumps.ts';
import { absolutePath, type Engine, isOwn, livePath, MEMORY, now, systemAudit } from '../engine.ts';
import { PREFETCH_SECONDS, type PrefetchDeadlines, returnPrefetched } from '../files/prefetch.ts';
import type { LostFileCheck } from '../recovery/lost-files.ts';
import { cleanUpAfterOperation } from '../recovery/orphan-search.ts';
import { deleteMemorySandbox } from '../recovery/process-death.ts';
import { settleIfInterrupted } from '../recovery/reconcile.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import { archive } from './archive.ts';
import { removeSandbox } from './delete.ts';
import { freeze } from './freeze.ts';
import { pauseIdleProcesses } from './idle-pauses.ts';
import { suspend } from './suspend.ts';

/** Sandboxes moved at the same time. */
const CONCURRENCY = 4;
/** Rows asked of the registry at a time. */
const BATCH = 100;
/** The list may repeat a row that failed, so a round ends after this many batches. */
const BATCHES = 50;

export interface LadderRound {
  moved: number;
  failed: number;
}

/** The most that the file of an active sandbox holds, with its log and writes under way; undefined without a file. */
export function weightOf(engine: Engine, runtime: SandboxRuntime): number | undefined {
  const file = absolutePath(engine, livePath(runtime.id));
  const size = stampOf(file)?.size;
  if (size === undefined) return undefined;
  // What a process that was taken over claims is no larger than a sandbox can be: no limit grows by it.
  const most = Math.max(engine.config.maxSandboxBytes, runtime.bytesAtWake);
  return Math.min(size + (stampOf(`${file}-wal`)?.size ?? 0), most) + runtime.reserved;
}

/** Writes the activity kept in memory to the registry, in one transaction. */
export async function flushActivity(engine: Engine): Promise<void> {
  const touched = engine.runtimes
    .values()
    .filter((runtime) => runtime.activity > 0 || runtime.attached > 0 || runtime.calls > 0);
  if (touched.length === 0) return;
  const current = now(engine);
  const touches = touched.map((runtime) => {
    const busy = runtime.attached > 0 || runtime.calls > 0;
    const bytes = runtime.process === null ? undefined : weightOf(engine, runtime);
    return { id: runtime.id, updated: busy ? current : runtime.activity, ...(bytes === undefined ? {} : { bytes }) };
  });
  const flushed = touched.map((runtime) => ({ runtime, activity: runtime.activity }));
  await engine.registry.instances.touch(touches);
  for (const { runtime, activity } of flushed) {
    if (runtime.activity === activity) runtime.activity = 0;
    engine.runtimes.drop(runtime);
  }
}

/** One round: first the clock, activity and memory limit, then every move that is due now. */
export async function runLadderRound(
  engine: Engine,
  prefetched: PrefetchDeadlines,
  retryDelays: RetryDelays,
  lostFiles: LostFileCheck,
): Promise<LadderRound> {
  await correctFutureActivity(engine);
  await flushActivity(engine);
  await enforceMemoryLimit(engine);
  await engine.admission.followDemand();
  await discardLeft();
  removeLeft();
  await settleInterruptedRows(engine);
  await lostFiles.check(engine);
  const round: LadderRound = { moved: 0, failed: 0 };
  const seen = new Set<string>();
  /** A round tries each of these once: a rollback raises the generation, so `seen` does not show them. */
  const failed = new Set<string>();
  for (let batch = 0; batch < BATCHES && !engine.stop.aborted; batch += 1) {
    // A row that was checked and did not move is still due and comes first again.
    const due = (await engine.registry.instances.due(now(engine), BATCH + seen.size - round.moved)).filter(
      ({ row }) => !seen.has(`${row.id}.${row.generation}`) && !failed.has(row.id),
    );
    if (due.length === 0) break;
    for (const { row } of due) seen.add(`${row.id}.${row.generation}`);
    for (let first = 0; first < due.length && !engine.stop.aborted; first += CONCURRENCY) {
      const few = due.slice(first, first + CONCURRENCY);
      const moved = await Promise.all(few.map((one) => move(engine, one, retryDelays)));
      for (const [at, outcome] of moved.entries()) {
        if (outcome === 'failed') failed.add(few[at]?.row.id ?? '');
        if (outcome === 'moved') round.moved += 1;
        if (outcome === 'failed') round.failed += 1;
      }
    }
  }
  await returnDuePrefetched(engine, prefetched);
  await pauseIdleProcesses(engine);
  return round;
}

async function move(engine: Engine, due: DueRow, retryDelays: RetryDelays): Promise<'moved' | 'failed' | 'skipped'> {
  const { id } = due.row;
  if (retryDelays.isWaiting(id, now(engine))) return 'skipped';
  return engine.runtimes.use(id, (runtime) =>
    runtime.verbs.runExclusive(async () => {
      try {
        const moved = await moveLocked(engine, runtime, due);
        retryDelays.clear(id);
        return moved ? 'moved' : 'skipped';
      } catch (error) {
        if (isMachineFailure(error)) retryDelays.delay(id, now(engine));
        engine.log.warn({ id: due.row.id, error: messageOf(error) }, 'automatic move failed');
        return 'failed';
      }
    }),
  );
}

/** Decides again under the lock: since the list was read the sandbox may have been used, moved or attached to. */
async function moveLocked(engine: Engine, runtime: SandboxRuntime, due: DueRow): Promise<boolean> {
  const row = await engine.registry.instances.get(due.row.id);
  if (row === null || row.generation !== due.row.generation) return false;
  const next = nextMove(
    {
      ...row,
      updated: Math.max(row.updated, runtime.activity),
      blocked: isBlocking(row.fault),
      attached: runtime.attached + runtime.calls,
    },
    due.thresholds,
  );
  if (next === null || next.at > now(engine)) return false;
  const audit = { ...systemAudit('idle', 'ticker'), reason: next.because };
  if (row.vfsPath === MEMORY) {
    const process = runtime.process;
    runtime.process = null;
    await process?.kill('closed');
    await deleteMemorySandbox(engine, row, audit);
    return true;
  }
  if (next.state === 'suspended') await suspend(engine, runtime, audit, false);
  else if (next.state === 'frozen') await freeze(engine, runtime, audit, false);
  else if (next.state === 'archived') {
    await archive(engine, runtime, audit, false, { passThrough: row.ephemeral });
    // Its timeout has passed: it is archived only on the way to its deletion. Nothing else is ever deleted by itself.
    if (row.ephemeral) await removeSandbox(engine, runtime, audit);
  } else await removeSandbox(engine, runtime, audit);
  return true;
}

/** Settles the operations that could neither be rolled back nor recorded, now that there may be room again. */
async function settleInterruptedRows(engine: Engine): Promise<void> {
  for (const id of engine.interrupted) {
    await engine.runtimes.use(id, (runtime) =>
      runtime.verbs.runExclusive(async () => {
        try {
          const row = await engine.registry.instances.get(id);
          // What another host has is not this one's to settle.
          if (row !== null && isOwn(engine, row)) await settleIfInterrupted(engine, runtime, row);
          const settled = await engine.registry.instances.get(id);
          if (settled !== null) await runtime.exclusive(() => cleanUpAfterOperation(engine, settled));
          engine.interrupted.delete(id);
        } catch (error) {
          engine.log.warn({ id, error: messageOf(error) }, 'not settled yet');
        }
      }),
    );
  }
}

async function returnDuePrefetched(engine: Engine, prefetched: PrefetchDeadlines): Promise<void> {
  for (const [id, at] of prefetched) {
    // One that was prefetched while the clock was ahead is due too.
    if (at > now(engine) && at <= now(engine) + PREFETCH_SECONDS) continue;
    prefetched.delete(id);
    await engine.runtimes.use(id, (runtime) =>
      runtime.verbs.runExclusive(async () => {
        try {
          await returnPrefetched(engine, runtime);
        } catch (error) {
          prefetched.set(id, now(engine) + PREFETCH_SECONDS);
          engine.log.warn({ id, error: messageOf(error) }, 'prefetched file not returned');
        }
      }),
    );
  }
}
