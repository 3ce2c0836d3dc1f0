/**
 * The ticker: applies the ladder to what is due. A round never overlaps another, costs what is due and not what exists,
 * and one failing sandbox stops no other.
 */
import { isWinterdockError, messageOf, storageFailure } from '../base/errors.ts';
import { nextMove } from '../lifecycle/ladder.ts';
import { blocks } from '../lifecycle/words.ts';
import type { DueRow } from '../registry/instances.ts';
import { discardLeft, stampOf } from '../storage/files.ts';
import { archive } from './archive.ts';
import { idleFromNow } from './clock-jumps.ts';
import { discardMemory } from './death.ts';
import { deleteSandbox } from './delete.ts';
import { absolute, type Engine, livePath, MEMORY, now, systemCause } from './engine.ts';
import { freeze } from './freeze.ts';
import type { LostFiles } from './lost.ts';
import { fileBack, PREFETCH_SECONDS, type Prefetched } from './prefetch.ts';
import type { PutOff } from './put-off.ts';
import { settleFirst } from './reconcile.ts';
import { keepWithin } from './room.ts';
import type { Entry } from './runtimes.ts';
import { suspend } from './suspend.ts';
import { tidy } from './sweep.ts';

/** Sandboxes moved at the same time. */
const CONCURRENCY = 4;
/** Rows asked of the registry at a time. */
const BATCH = 100;
/** A frozen copy of the due list may repeat a row that failed; a round ends after this many batches. */
const BATCHES = 50;

export interface Round {
  moved: number;
  failed: number;
}

/**
 * What the file of an active sandbox weighs at most, with its log and what is being written; undefined when it has
 * none.
 */
function weightOf(engine: Engine, entry: Entry): number | undefined {
  const file = absolute(engine, livePath(entry.id));
  const size = stampOf(file)?.size;
  return size === undefined ? undefined : size + (stampOf(`${file}-wal`)?.size ?? 0) + entry.reserved;
}

/** Writes the activity kept in memory to the registry, in one transaction. */
export async function flushActivity(engine: Engine): Promise<void> {
  const touched = engine.entries
    .values()
    .filter((entry) => entry.activity > 0 || entry.attached > 0 || entry.calls > 0);
  if (touched.length === 0) return;
  const current = now(engine);
  const touches = touched.map((entry) => {
    const busy = entry.attached > 0 || entry.calls > 0;
    const bytes = entry.process === null ? undefined : weightOf(engine, entry);
    return { id: entry.id, updated: busy ? current : entry.activity, ...(bytes === undefined ? {} : { bytes }) };
  });
  const flushed = touched.map((entry) => ({ entry, activity: entry.activity }));
  await engine.registry.instances.touch(touches);
  for (const { entry, activity } of flushed) {
    if (entry.activity === activity) entry.activity = 0;
    engine.entries.drop(entry);
  }
}

/** One round: the clock and activity first, then everything that is due at this moment. */
export async function runRound(
  engine: Engine,
  prefetched: Prefetched,
  putOff: PutOff,
  lost: LostFiles,
): Promise<Round> {
  await idleFromNow(engine);
  await flushActivity(engine);
  await keepWithin(engine);
  await discardLeft();
  await settleLeft(engine);
  await lost.look(engine);
  const round: Round = { moved: 0, failed: 0 };
  const seen = new Set<string>();
  /** Ids that a round tries once: what failed was put back, and is another generation. */
  const failed = new Set<string>();
  for (let batch = 0; batch < BATCHES && !engine.stop.aborted; batch += 1) {
    // What was looked at and did not move is due still, and comes first again.
    const due = (await engine.registry.instances.due(now(engine), BATCH + seen.size - round.moved)).filter(
      ({ row }) => !seen.has(`${row.id}.${row.generation}`) && !failed.has(row.id),
    );
    if (due.length === 0) break;
    for (const { row } of due) seen.add(`${row.id}.${row.generation}`);
    for (let first = 0; first < due.length && !engine.stop.aborted; first += CONCURRENCY) {
      const few = due.slice(first, first + CONCURRENCY);
      const moved = await Promise.all(few.map((one) => move(engine, one, putOff)));
      for (const [at, outcome] of moved.entries()) {
        if (outcome === 'failed') failed.add(few[at]?.row.id ?? '');
        if (outcome === 'moved') round.moved += 1;
        if (outcome === 'failed') round.failed += 1;
      }
    }
  }
  await returnPrefetched(engine, prefetched);
  return round;
}

async function move(engine: Engine, due: DueRow, putOff: PutOff): Promise<'moved' | 'failed' | 'skipped'> {
  const { id } = due.row;
  if (putOff.waits(id, now(engine))) return 'skipped';
  return engine.entries.with(id, (entry) =>
    entry.verbs.runExclusive(async () => {
      try {
        const moved = await moveLocked(engine, entry, due);
        putOff.forget(id);
        return moved ? 'moved' : 'skipped';
      } catch (thrown) {
        const error = storageFailure(thrown) ?? thrown;
        if (isWinterdockError(error) && error.code === 'storage_unavailable') putOff.refuse(id, now(engine));
        engine.log.warn({ id: due.row.id, error: messageOf(error) }, 'automatic move failed');
        return 'failed';
      }
    }),
  );
}

/** Asks again under the lock: what was due may have been touched, moved or attached to since. */
async function moveLocked(engine: Engine, entry: Entry, due: DueRow): Promise<boolean> {
  const row = await engine.registry.instances.get(due.row.id);
  if (row === null || row.generation !== due.row.generation) return false;
  const next = nextMove(
    {
      ...row,
      updated: Math.max(row.updated, entry.activity),
      blocked: blocks(row.fault),
      attached: entry.attached + entry.calls,
    },
    due.thresholds,
  );
  if (next === null || next.at > now(engine)) return false;
  const cause = { ...systemCause('idle', 'ticker'), reason: next.because };
  if (row.vfsPath === MEMORY) {
    const process = entry.process;
    entry.process = null;
    await process?.kill('closed');
    await discardMemory(engine, row, cause);
    return true;
  }
  if (next.state === 'suspended') await suspend(engine, entry, cause, false);
  else if (next.state === 'frozen') await freeze(engine, entry, cause, false);
  else if (next.state === 'archived') {
    await archive(engine, entry, cause, false, { passing: row.ephemeral });
    // Its time is over: it is archived on the way to its end, and not to wait there. Nothing else is ever deleted by
    // itself.
    if (row.ephemeral) await deleteSandbox(engine, entry, cause);
  } else await deleteSandbox(engine, entry, cause);
  return true;
}

/** Settles what could not even be given up, now that there may be room again. */
async function settleLeft(engine: Engine): Promise<void> {
  for (const id of engine.interrupted) {
    await engine.entries.with(id, (entry) =>
      entry.verbs.runExclusive(async () => {
        try {
          const row = await engine.registry.instances.get(id);
          if (row !== null) await settleFirst(engine, entry, row);
          const settled = await engine.registry.instances.get(id);
          if (settled !== null) await entry.exclusive(() => tidy(engine, settled));
          engine.interrupted.delete(id);
        } catch (error) {
          engine.log.warn({ id, error: messageOf(error) }, 'not settled yet');
        }
      }),
    );
  }
}

async function returnPrefetched(engine: Engine, prefetched: Prefetched): Promise<void> {
  for (const [id, at] of prefetched) {
    // One that was brought home while the clock was ahead is due too.
    if (at > now(engine) && at <= now(engine) + PREFETCH_SECONDS) continue;
    prefetched.delete(id);
    await engine.entries.with(id, (entry) =>
      entry.verbs.runExclusive(async () => {
        try {
          await fileBack(engine, entry);
        } catch (error) {
          prefetched.set(id, now(engine) + PREFETCH_SECONDS);
          engine.log.warn({ id, error: messageOf(error) }, 'prefetched file not returned');
        }
      }),
    );
  }
}
