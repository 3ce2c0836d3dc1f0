/**
 * When a schedule fires: a cron expression in a time zone, one time, or a time with an org repeater. Pure: `now` is an
 * argument, and nothing is kept.
 */
import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import { WinterdockError } from '../base/errors.ts';
import { isTimeZone } from '../base/zoned-time.ts';
import type { ScheduleTiming } from '../registry/schedules.ts';
import { nextRepeat, parseRepeater } from './repeater.ts';

/** The years after which croner gives up are too many: an expression that matches nothing by then never fires. */
const LAST = Date.UTC(9999, 0, 1) / 1000;

function cronOf(expression: string, zone: string): Cron {
  return new Cron(expression, { timezone: zone, mode: '5-or-6-parts' });
}

const invalid = (path: string, message: string, hint?: string) =>
  new WinterdockError('validation', `The schedule is not valid: ${path} ${message}.`, {
    extra: { errors: [{ path, message }] },
    ...(hint === undefined ? {} : { hint }),
  });

/** Throws `validation` for a timing that cannot be: two kinds or none, a wrong expression, zone or repeater. */
export function requireTiming(timing: ScheduleTiming): void {
  const { cron, at, repeat, timezone } = timing;
  if (!isTimeZone(timezone)) {
    throw invalid('timezone', `"${timezone}" is no time zone`, 'Write it as in the IANA list: Europe/Berlin, UTC.');
  }
  if ((cron === null) === (at === null)) throw invalid('cron', 'or at is needed, and not both');
  if (repeat !== null && (at === null || parseRepeater(repeat) === null)) {
    throw invalid('repeat', 'must be an org repeater of a time in at', 'For example +1d, ++1w or .+2h.');
  }
  if (cron === null) return;
  try {
    cronOf(cron, timezone);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : 'it is none';
    throw invalid('cron', `is no cron expression: ${reason}`, 'Five fields, or six with the seconds first.');
  }
}

/**
 * The first time after `after` (epoch seconds) that a schedule is due, or null when there is none. A time without a
 * repeater is due once: `planned` is the time that it was last due at, or null.
 */
export function nextTime(timing: ScheduleTiming, after: number, planned: number | null = null): number | null {
  const { cron, at, repeat, timezone } = timing;
  if (cron !== null) {
    const next = cronOf(cron, timezone).nextRun(new Date(after * 1000));
    return next === null ? null : Math.floor(next.getTime() / 1000);
  }
  if (at === null) return null;
  const repeater = repeat === null ? null : parseRepeater(repeat);
  if (repeater === null) return planned === null && at > after ? at : null;
  const next = nextRepeat(repeater, at, timezone, after);
  return next > LAST ? null : next;
}

/** The times from `from` to `until` (inclusive) that a schedule was due at: the last `most` of them, in order. */
export function timesBetween(timing: ScheduleTiming, from: number, until: number, most: number): number[] {
  if (timing.cron !== null) {
    return cronOf(timing.cron, timing.timezone)
      .previousRuns(most, new Date((until + 1) * 1000))
      .map((time) => Math.floor(time.getTime() / 1000))
      .filter((time) => time >= from && time <= until)
      .sort((one, other) => one - other);
  }
  const times: number[] = [];
  // What counts from when it was done is due once, however long ago.
  const isCounted = timing.repeat !== null && parseRepeater(timing.repeat)?.kind !== '.+';
  for (let time: number | null = from; time !== null && time <= until; ) {
    times.push(time);
    if (times.length > most) times.shift();
    time = isCounted ? nextTime(timing, time) : null;
  }
  return times;
}

/** Times that are counted; beyond them it is said that there are more. */
const MOST_COUNTED = 200;

/** The times from `from`, which is one, to `until` (inclusive) in words; null when there are none. */
export function timesInWords(timing: ScheduleTiming, from: number, until: number): string | null {
  const times = timesBetween(timing, from, until, MOST_COUNTED + 1);
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return null;
  if (times.length === 1) return `once, at ${isoOf(first)}`;
  if (times.length > MOST_COUNTED) return `more than ${MOST_COUNTED} times, from ${isoOf(from)} to ${isoOf(last)}`;
  return `${times.length} times, from ${isoOf(first)} to ${isoOf(last)}`;
}

const isoOf = (epoch: number) => new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');

/**
 * Seconds by which a schedule fires later when many are due at the same second: its place in the window by its id, and
 * never more than half the time to its following firing.
 */
export function spreadOf(id: string, timing: ScheduleTiming, next: number | null, windowSeconds: number): number {
  if (next === null || windowSeconds === 0) return 0;
  const following = nextTime(timing, next, next);
  const window = following === null ? windowSeconds : Math.min(windowSeconds, Math.floor((following - next) / 2));
  if (window <= 0) return 0;
  return createHash('sha256').update(id).digest().readUInt32BE(0) % window;
}
