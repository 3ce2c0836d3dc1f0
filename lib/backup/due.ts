/** When a backup or a trial is due, and what is wrong when there was none. Pure: `now` is an argument. */
import type { BackupRecord } from '../registry/backups.ts';
import type { ScheduleTiming } from '../registry/schedules.ts';
import { nextTime, timesBetween } from '../schedules/timing.ts';
import type { BackupFault, BackupSettings } from './backup-settings.ts';

/** What the registry knows of earlier backups to a target, as far as this decides by it. */
export interface BackupHistory {
  /** The newest that was made and is there. */
  made: BackupRecord | null;
  /** Those that failed since then, newest first. */
  failed: readonly BackupRecord[];
  /** The one that is asked for or under way. */
  open: BackupRecord | null;
  /** The one that was tried last. */
  tried: BackupRecord | null;
}

const FIRST_PAUSE_SECONDS = 300;
const LONGEST_PAUSE_SECONDS = 3600;
const LEAST_MARGIN_SECONDS = 600;
const MOST_MARGIN_SECONDS = 6 * 3600;

const timingOf = (cron: string, timezone: string): ScheduleTiming => ({ cron, at: null, repeat: null, timezone });
const seconds = (ms: number | null): number => Math.floor((ms ?? 0) / 1000);

/** The last time of a schedule from `since` to `now`, both in epoch seconds; null: there was none. */
function lastTime({ cron, timezone }: { cron: string; timezone: string }, since: number, now: number): number | null {
  return timesBetween(timingOf(cron, timezone), since + 1, now, 1)[0] ?? null;
}

/** Since when times of the schedule count: its last change, or the time that the last backup was for. */
function servedUntil(settings: BackupSettings, { made, failed }: BackupHistory): number {
  return Math.max(
    settings.changed,
    made?.planned ?? 0,
    seconds(made?.begunMs ?? null),
    ...failed.map(({ planned }) => planned ?? 0),
  );
}

/** Epoch seconds of the next time of the schedule, for people; null: there is none. */
export function nextBackup(settings: BackupSettings, history: BackupHistory, now: number): number | null {
  if (!settings.enabled || settings.target === null) return null;
  const next = nextTime(timingOf(settings.cron, settings.timezone), servedUntil(settings, history));
  const again = againAt(history);
  const first = next === null || (again !== null && again < next) ? again : next;
  return first === null ? null : Math.max(first, now);
}

/** When one that failed is tried again: later each time. */
function againAt({ failed }: BackupHistory): number | null {
  const [last] = failed;
  if (last === undefined) return null;
  const pause = Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (failed.length - 1));
  return seconds(last.endedMs) + pause;
}

/**
 * The time that a backup is due for now, in epoch seconds; null: none is. Times that the server was not there for are
 * made up for by one.
 */
export function dueBackup(settings: BackupSettings, history: BackupHistory, now: number): number | null {
  if (!settings.enabled || settings.target === null || history.open !== null) return null;
  const time = lastTime(settings, servedUntil(settings, history), now);
  if (time !== null) return time;
  const again = againAt(history);
  return again !== null && now >= again ? (history.failed[0]?.planned ?? again) : null;
}

/** Whether one sandbox is to be restored now to try the newest backup. */
export function isTrialDue(settings: BackupSettings, { made, tried }: BackupHistory, now: number): boolean {
  const { enabled, target, trialCron, timezone, changed } = settings;
  if (!enabled || target === null || trialCron === null || made === null) return false;
  const since = Math.max(changed, seconds(tried?.verifiedMs ?? null));
  return lastTime({ cron: trialCron, timezone }, since, now) !== null;
}

/** Seconds that a backup may take until it is called overdue: half the time to the next one, within bounds. */
function marginAfter({ cron, timezone }: BackupSettings, planned: number): number {
  const next = nextTime(timingOf(cron, timezone), planned);
  const half = next === null ? MOST_MARGIN_SECONDS : Math.floor((next - planned) / 2);
  return Math.min(MOST_MARGIN_SECONDS, Math.max(LEAST_MARGIN_SECONDS, half));
}

/** What is wrong with backups now, the worst first; null: nothing. */
export function backupFaultOf(settings: BackupSettings, history: BackupHistory, now: number): BackupFault | null {
  const { made, failed, open, tried } = history;
  const [last] = failed;
  // One that is made again is judged by how that ends.
  if (last !== undefined && (open === null || failed.length > 1)) {
    const times = failed.length === 1 ? '' : ` ${failed.length} times in a row`;
    return {
      kind: 'failed',
      since: seconds(failed.at(-1)?.endedMs ?? null),
      reason: `The last backup failed${times}: ${last.error}`,
    };
  }
  if (settings.enabled && settings.target !== null) {
    const since = Math.max(settings.changed, seconds(made?.begunMs ?? null));
    const first = nextTime(timingOf(settings.cron, settings.timezone), since);
    if (first !== null && now >= first + marginAfter(settings, first)) {
      const what = made === null ? 'There was none yet' : `The last one is of ${iso(seconds(made.begunMs))}`;
      return { kind: 'overdue', since: first, reason: `A backup was due at ${iso(first)}. ${what}.` };
    }
  }
  if (tried?.verifiedError != null && tried.state === 'made') {
    return {
      kind: 'trial',
      since: seconds(tried.verifiedMs),
      reason: `The backup ${tried.id} did not pass its trial: ${tried.verifiedError}`,
    };
  }
  return null;
}

const iso = (epoch: number) => new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');
