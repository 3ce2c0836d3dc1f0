/** Wall-clock time in a time zone, to and from epoch seconds. Uses the system's zone data. Pure. */

export interface WallTime {
  year: number;
  /** From 1. May lie outside a month or year, as may the day: they are carried over. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

const DAY_SECONDS = 86_400;
/** Zones whose formatter is kept; there are some 600 names. */
const REMEMBERED = 1000;
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Throws a RangeError for a zone that does not exist. */
function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (formatters.size >= REMEMBERED) formatters.clear();
    formatters.set(zone, formatter);
  }
  return formatter;
}

export function isTimeZone(zone: string): boolean {
  try {
    formatterOf(zone);
    return true;
  } catch {
    // A zone that does not exist is all that a formatter refuses here.
    return false;
  }
}

/** The wall clock of a zone at `epoch` (seconds). */
export function wallTimeOf(epoch: number, zone: string): WallTime {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatterOf(zone).formatToParts(epoch * 1000)) parts[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, hour, minute, second };
}

/** Epoch seconds of the same numbers as if they were of UTC: less than a day and a half from those in any zone. */
export function asUtc({ year, month, day, hour, minute, second }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

/** The day after or before, by whole days. */
export function daysLater(wall: WallTime, days: number): WallTime {
  const moved = new Date((asUtc(wall) + days * DAY_SECONDS) * 1000);
  return { ...wall, year: moved.getUTCFullYear(), month: moved.getUTCMonth() + 1, day: moved.getUTCDate() };
}

/** The same with days and months carried over: 31 February is 3 March. */
export function carriedOver(wall: WallTime): WallTime {
  return daysLater(wall, 0);
}

/** Seconds that the clock of a zone is ahead of UTC at `epoch` (seconds). */
export function offsetAt(epoch: number, zone: string): number {
  return asUtc(wallTimeOf(epoch, zone)) - epoch;
}

/**
 * Epoch seconds at which the clock of a zone shows `wall`. For a time that occurs twice it is the first; a time that
 * the clock skips is moved by as much as the clock skips.
 */
export function epochOf(wall: WallTime, zone: string): number {
  const utc = asUtc(wall);
  const before = utc - offsetAt(utc - DAY_SECONDS, zone);
  const after = utc - offsetAt(utc + DAY_SECONDS, zone);
  const shown = [before, after].filter((epoch) => epoch + offsetAt(epoch, zone) === utc);
  return shown.length === 0 ? before : Math.min(...shown);
}
