/**
 * Moments in a time zone, always with its distance from UTC. Server and browser say the same: only the numbers come
 * from their calendars, the words are ours. Pure.
 */
import { offsetAt } from '#lib/base/zoned-time.ts';

/** The zone of who has told none. */
export const UTC_ZONE = 'UTC';
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A moment as the clocks of a zone show it. */
interface ZonedTime {
  /** Its reading as if it were one of UTC, so that `Date` gives its parts. */
  shown: Date;
  /** `UTC`, `UTC+1`, `UTC-3:30`. */
  label: string;
}

/** `epoch` in seconds. */
function zonedTime(epoch: number, zone: string): ZonedTime {
  const whole = Math.floor(epoch);
  const ahead = zone === UTC_ZONE ? 0 : offsetAt(whole, zone);
  return { shown: new Date((whole + ahead) * 1000), label: offsetInWords(ahead) };
}

function offsetInWords(seconds: number): string {
  const minutes = Math.round(Math.abs(seconds) / 60);
  if (minutes === 0) return UTC_ZONE;
  const rest = minutes % 60;
  const sign = seconds < 0 ? '-' : '+';
  return `UTC${sign}${Math.floor(minutes / 60)}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

/** An exact moment: `2026-03-04 06:06:07 UTC+1`. `epoch` in seconds. */
export function exactMoment(epoch: number, zone: string): string {
  const { shown, label } = zonedTime(epoch, zone);
  return `${shown.toISOString().slice(0, 19).replace('T', ' ')} ${label}`;
}

/** The same to the minute: `2026-03-04 06:06 UTC+1`. */
export function minuteMoment(epoch: number, zone: string): string {
  const { shown, label } = zonedTime(epoch, zone);
  return `${shown.toISOString().slice(0, 16).replace('T', ' ')} ${label}`;
}

/** A time of day: `12:03 UTC`. `epoch` in seconds. */
export function timeOfDay(epoch: number, zone: string): string {
  const { shown, label } = zonedTime(epoch, zone);
  return `${shown.toISOString().slice(11, 16)} ${label}`;
}

/** The same to the second: `12:03:07 UTC`. */
export function secondOfDay(epoch: number, zone: string): string {
  const { shown, label } = zonedTime(epoch, zone);
  return `${shown.toISOString().slice(11, 19)} ${label}`;
}

/** A moment as one says it: `Tue 24 Nov 2026, 03:00 UTC`. `epoch` in seconds. */
export function spokenMoment(epoch: number, zone: string): string {
  const { shown, label } = zonedTime(epoch, zone);
  const date = `${WEEKDAYS[shown.getUTCDay()]} ${shown.getUTCDate()} ${MONTHS[shown.getUTCMonth()]}`;
  return `${date} ${shown.getUTCFullYear()}, ${shown.toISOString().slice(11, 16)} ${label}`;
}

/** In times shorter than these seconds, two labels would show the same minute. */
const MINUTES_ARE_EQUAL = 12 * 60;

/** A mark of an axis, without its label: `Mon 23 Nov 14:00`. `length`: of the time that is shown, in seconds. */
export function axisMoment(epoch: number, zone: string, length = Number.POSITIVE_INFINITY): string {
  const { shown } = zonedTime(epoch, zone);
  const time = shown.toISOString().slice(11, length < MINUTES_ARE_EQUAL ? 19 : 16);
  return `${WEEKDAYS[shown.getUTCDay()]} ${shown.getUTCDate()} ${MONTHS[shown.getUTCMonth()]} ${time}`;
}

/** `Mon 23 Nov 14:00 to Tue 24 Nov 14:00 UTC`, with both distances where the clocks change between. */
export function axisSpan(from: number, to: number, zone: string, length?: number): string {
  const [first, last] = [zonedTime(from, zone).label, zonedTime(to, zone).label];
  return `${axisMoment(from, zone, length)}${first === last ? '' : ` ${first}`} to ${axisMoment(to, zone, length)} ${last}`;
}

/** The distance of a zone from UTC at a moment: `UTC+1`. */
export function zoneLabel(epoch: number, zone: string): string {
  return zonedTime(epoch, zone).label;
}
