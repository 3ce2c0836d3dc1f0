/** When a schedule is next taken up: after its creation, a run, a failure, a missed time. Pure. */
import type { RunResult, ScheduleArming, ScheduleRow, ScheduleTiming } from '../registry/schedules.ts';
import { nextTime, spreadOf } from './timing.ts';

const FIRST_BACK_OFF_SECONDS = 10;
const LONGEST_BACK_OFF_SECONDS = 3600;

/** Seconds until a schedule may fire again after so many failures in a row. */
function backOffSeconds(failures: number): number {
  return Math.min(LONGEST_BACK_OFF_SECONDS, FIRST_BACK_OFF_SECONDS * 2 ** Math.max(0, failures - 1));
}

/** Takes a schedule up at `nextAt`, or with the spread of a crowded second. */
function armingAt(id: string, timing: ScheduleTiming, nextAt: number | null, windowSeconds: number): ScheduleArming {
  return { nextAt, notBefore: null, spread: spreadOf(id, timing, nextAt, windowSeconds), backlogUntil: null };
}

/** The next time after `now`: what was due before is no longer. */
export function armingFrom(id: string, timing: ScheduleTiming, now: number, windowSeconds: number): ScheduleArming {
  return armingAt(id, timing, nextTime(timing, now), windowSeconds);
}

/** Whether a result keeps a schedule back. */
export function isFailure(result: RunResult): boolean {
  return result === 'failed' || result === 'lost';
}

/** How a run ended. */
export interface EndedRun {
  /** The time that it was due at; null when somebody asked for it. */
  planned: number | null;
  result: RunResult;
  /** Nothing of it was done, so it may be tried again. */
  isUnbegun: boolean;
  /** A repetition is allowed although something of it may have been done: the server ended meanwhile. */
  isRepeated: boolean;
}

/**
 * The times after a run. A failure keeps the schedule back, longer each time: a run that never began is tried again
 * then, unless the next time has come by then; any other leaves out the times until then. Times that came while it ran
 * are left out.
 */
export function armingAfter(
  row: ScheduleRow,
  { planned, result, isUnbegun, isRepeated }: EndedRun,
  failures: number,
  now: number,
  windowSeconds: number,
): ScheduleArming {
  // Somebody asked for it in between: what was planned stays planned.
  if (planned === null) return { ...armingAt(row.id, row, row.nextAt, windowSeconds), backlogUntil: row.backlogUntil };
  const again = isFailure(result) ? now + backOffSeconds(failures) : now;
  const following = nextTime(row, Math.max(planned, now));
  if (isRepeated || (isUnbegun && (following === null || following > again))) {
    return { nextAt: planned, notBefore: again, spread: 0, backlogUntil: row.backlogUntil };
  }
  if (row.backlogUntil !== null) {
    const missed = nextTime(row, planned);
    if (missed !== null && missed <= row.backlogUntil) {
      return { nextAt: missed, notBefore: again, spread: 0, backlogUntil: row.backlogUntil };
    }
  }
  const next = isFailure(result) ? nextTime(row, Math.max(planned, again - 1)) : following;
  return armingAt(row.id, row, next, windowSeconds);
}
