/** When a backup that is there is gone by at the latest, as the schedule and the retention are now. Pure. */
import { nextTime } from '../schedules/timing.ts';
import type { BackupSettings } from './backup-settings.ts';
import { GRACE_MS } from './prune.ts';
import type { Retention } from './retention.ts';

const DAY_SECONDS = 86_400;
/** The longest of each: an hour more on the day that the clock is set back. */
const LENGTHS: Readonly<Record<keyof Retention, number>> = {
  hourly: 3600,
  daily: DAY_SECONDS + 3600,
  weekly: 7 * DAY_SECONDS + 3600,
  monthly: 31 * DAY_SECONDS + 3600,
};
/** Those that somebody asked for are left alone for so long; see records.ts. */
const SPARED_SECONDS = 7 * DAY_SECONDS;
/** Times of the schedule that are looked at for the longest pause between two. */
const TIMES = 60;

/**
 * Epoch seconds; null: no schedule makes the backups that take its place. `begun`: of the backup, in epoch seconds. It
 * holds as long as backups go on being made: a span of which there is none keeps an older one.
 */
export function goneBy(
  { enabled, cron, timezone, keep }: Pick<BackupSettings, 'enabled' | 'cron' | 'timezone' | 'keep'>,
  begun: number,
  now: number,
): number | null {
  const pause = enabled ? longestPause({ cron, timezone }, now) : null;
  if (pause === null) return null;
  let last = SPARED_SECONDS;
  for (const [span, length] of Object.entries(LENGTHS) as [keyof Retention, number][]) {
    if (keep[span] > 0) last = Math.max(last, (keep[span] + 1) * Math.max(length, pause));
  }
  // It is retired by the first backup that is made after that, and removed by the first one a day later.
  return Math.max(begun + last, now) + pause + GRACE_MS / 1000 + pause;
}

/** The longest time between two backups, in seconds; null: there are not two. */
function longestPause({ cron, timezone }: Pick<BackupSettings, 'cron' | 'timezone'>, now: number): number | null {
  let longest: number | null = null;
  let before: number | null = null;
  for (let at: number | null = now, nth = 0; nth < TIMES; nth += 1) {
    at = nextTime({ cron, at: null, repeat: null, timezone }, at);
    if (at === null) break;
    if (before !== null) longest = Math.max(longest ?? 0, at - before);
    before = at;
  }
  return longest;
}
