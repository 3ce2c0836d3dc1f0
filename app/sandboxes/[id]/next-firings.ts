/** The coming times of schedules, soonest first. Pure. */
import { Cron } from 'croner';
import type { Schedule } from '#lib/contract/schema.ts';

export interface ComingTime {
  /** Epoch seconds. */
  at: number;
  schedule: Schedule;
}

/** Times after the next one that are worked out for each schedule. */
const AHEAD = 4;

/** The times after `next_at`, as its cron expression has them; none for other schedules. */
function laterTimes({ cron, timezone, next_at }: Schedule): number[] {
  if (cron === null || next_at === null) return [];
  return new Cron(cron, { timezone }).nextRuns(AHEAD, new Date(next_at * 1000)).map((time) => Math.floor(+time / 1000));
}

/** At most `limit` times of all the schedules. Paused and resting ones have none. */
export function nextFirings(schedules: readonly Schedule[], limit: number): ComingTime[] {
  return schedules
    .flatMap((schedule) =>
      schedule.next_at === null ? [] : [schedule.next_at, ...laterTimes(schedule)].map((at) => ({ at, schedule })),
    )
    .sort((one, other) => one.at - other.at)
    .slice(0, limit);
}
