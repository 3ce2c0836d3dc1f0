/**
 * Org's repeaters: `+1w` (every week from its date), `++1w` (the same, only in the future), `.+1w` (a week after it was
 * done), in hours, days, weeks, months and years. Pure.
 */
import { asUtc, carriedOver, daysLater, epochOf, wallTimeOf } from '../base/zoned-time.ts';

export interface Repeater {
  kind: '+' | '++' | '.+';
  count: number;
  unit: 'h' | 'd' | 'w' | 'm' | 'y';
}

/** A habit's longest time (`.+2d/4d`) is allowed and says nothing about when it repeats. */
const REPEATER = /^(\.\+|\+\+|\+)([1-9]\d{0,4})([hdwmy])(?:\/[1-9]\d{0,4}[hdwmy])?$/;
const HOUR_SECONDS = 3600;
const ZONES_SECONDS = 36 * HOUR_SECONDS;
const WEEK_DAYS = 7;

/** Null for what is no repeater. */
export function parseRepeater(text: string): Repeater | null {
  const [, kind, count, unit] = REPEATER.exec(text) ?? [];
  if (kind === undefined || count === undefined || unit === undefined) return null;
  return { kind, count: Number(count), unit } as Repeater;
}

/**
 * The first time after `after` (epoch seconds) of a timestamp that repeats from `at`. With `.+` it counts from `after`,
 * and only hours move the time of day. Days, weeks, months and years keep the timestamp's time of day in `zone`; hours
 * are 3600 seconds each. A day that a month lacks is carried over, as org does: a month after 31 January is 3 March,
 * and the next one 3 April.
 */
export function nextRepeat(repeater: Repeater, at: number, zone: string, after: number): number {
  const { kind, count, unit } = repeater;
  if (at > after) return at;
  if (unit === 'h') {
    const step = count * HOUR_SECONDS;
    return kind === '.+' ? after + step : at + (Math.floor((after - at) / step) + 1) * step;
  }
  const first = wallTimeOf(at, zone);
  const { hour, minute, second } = first;
  let wall = kind === '.+' ? { ...wallTimeOf(after, zone), hour, minute, second } : first;
  if (unit === 'd' || unit === 'w') {
    const days = unit === 'd' ? count : count * WEEK_DAYS;
    // One step fewer than there may be: days of a zone have 23 to 25 hours.
    const passed = kind === '.+' ? 0 : Math.max(0, Math.floor((after - at) / 86_400 / days) - 1);
    wall = daysLater(wall, passed * days);
    for (;;) {
      wall = daysLater(wall, days);
      const next = epochOf(wall, zone);
      if (next > after) return next;
    }
  }
  for (;;) {
    wall = carriedOver(unit === 'm' ? { ...wall, month: wall.month + count } : { ...wall, year: wall.year + count });
    // Where a zone cannot matter it is not asked, which takes most of a step's time.
    if (asUtc(wall) + ZONES_SECONDS < after) continue;
    const next = epochOf(wall, zone);
    if (next > after) return next;
  }
}
