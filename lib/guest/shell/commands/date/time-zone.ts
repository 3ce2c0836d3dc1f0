/** Time zones as `TZ` names them: those of the tz database, and fixed ones as `UTC-2` and `<+05>-5`. Pure. */
import { isTimeZone, offsetAt } from '../../../../base/zoned-time.ts';

export interface TimeZone {
  /** Milliseconds that its clocks are ahead of UTC. */
  offsetMs(moment: number): number;
  /** What `%Z` prints. */
  nameAt(moment: number): string;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Each knows the letters of some zones, as EST or CET. */
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-IN', 'en-ZA', 'en-NZ', 'ja-JP'];

function fixed(name: string, offset: number): TimeZone {
  return { offsetMs: () => offset, nameAt: () => name };
}

export const UTC: TimeZone = fixed('UTC', 0);

/** The zone of a value of `TZ`. One that nobody knows is UTC by another name, as in glibc. */
export function zoneOf(value: string | undefined): TimeZone {
  const name = value?.replace(/^:/, '') ?? '';
  if (name === '') return UTC;
  const written = /^(?:<([^>]+)>|([A-Za-z]{3,}))([-+]?)(\d{1,2})(?::(\d{2}))?$/.exec(name);
  if (written) {
    const [, quoted, letters, sign, hours, minutes = '0'] = written;
    const offset = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
    return fixed(quoted ?? letters ?? name, offset === 0 || sign === '-' ? offset : -offset);
  }
  return named(name) ?? fixed(/^[A-Za-z]*/.exec(name)?.[0] || 'UTC', 0);
}

function named(timeZone: string): TimeZone | null {
  if (timeZone === 'UTC' || timeZone === 'GMT') return fixed(timeZone, 0);
  if (!isTimeZone(timeZone)) return null;
  const offsetMs = (moment: number) => offsetAt(Math.floor(moment / 1000), timeZone) * 1000;
  const letters = (locale: string, moment: number) =>
    new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' })
      .formatToParts(moment)
      .find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const nameAt = (moment: number) =>
    LOCALES.map((locale) => letters(locale, moment)).find((name) => /^[A-Z]+$/.test(name)) ??
    offsetText(offsetMs(moment), 0).replace(/00$/, '');
  return { offsetMs, nameAt };
}

/** `%z` with this many colons. */
export function offsetText(offset: number, colons: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const size = Math.abs(offset);
  const [hours, minutes, seconds] = [size / HOUR_MS, (size % HOUR_MS) / MINUTE_MS, (size % MINUTE_MS) / 1000].map(two);
  const sign = offset < 0 ? '-' : '+';
  if (colons === 3) return `${sign}${hours}${minutes === '00' ? '' : `:${minutes}`}`;
  return `${sign}${hours}${colons === 0 ? '' : ':'}${minutes}${colons === 2 ? `:${seconds}` : ''}`;
}

/**
 * The moment at which the clocks of a zone show this, given as if they were at UTC. What they pass over is counted as
 * if they had not been put forward.
 */
export function momentOf(shown: number, zone: TimeZone): number {
  const moment = shown - zone.offsetMs(shown - zone.offsetMs(shown));
  return moment + zone.offsetMs(moment) === shown ? moment : shown - zone.offsetMs(shown - 24 * HOUR_MS);
}
