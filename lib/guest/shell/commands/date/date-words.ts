/**
 * Reads the dates that people give to `date -d`, `touch -d` and `find -newermt`: calendar dates, times, zones and
 * relative words. Pure.
 */

import { momentOf, type TimeZone, UTC } from './time-zone.ts';

const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  sec: 1000,
  second: 1000,
  min: 60_000,
  minute: 60_000,
  hour: 3_600_000,
};
/** Units of the calendar, in days: the clocks show the same time on that day. */
const DAYS_OF: Readonly<Record<string, number>> = { day: 1, week: 7, fortnight: 14 };
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const COUNTS: Readonly<Record<string, number>> = { last: -1, this: 0, next: 1, a: 1, an: 1 };

/** Milliseconds since the epoch; null when the words are no date. `now`: the same. `zone`: that of its clocks. */
export function readDate(words: string, now: number, zone: TimeZone = UTC): number | null {
  const shown = now + zone.offsetMs(now);
  if (words.trim() === '') return momentOf(Math.floor(shown / DAY_MS) * DAY_MS, zone);
  const reader = new DateReader(words.trim().toLowerCase(), shown);
  const day = reader.read();
  if (day === null) return null;
  if (reader.isMoment) return day + reader.days * DAY_MS + reader.shift;
  // A time that the clocks of that day pass over is none.
  const base = momentOf(day, zone);
  if (reader.names && base + zone.offsetMs(base) !== day) return null;
  return (reader.days === 0 ? base : momentOf(day + reader.days * DAY_MS, zone)) + reader.shift;
}

/**
 * Nanoseconds that a moment given by seconds (`@1.5`) or by a clock with a fraction has beyond its whole second; null
 * where the words have none.
 */
export function nanosecondsIn(words: string): number | null {
  const [, sign = '', fraction] =
    /^\s*@([-+]?)\d+[.,](\d+)\s*$/.exec(words) ?? /\d:\d\d:\d\d()[.,](\d+)/.exec(words) ?? [];
  if (fraction === undefined) return null;
  const after = Number(fraction.slice(0, 9).padEnd(9, '0'));
  return sign === '-' && after > 0 ? 1_000_000_000 - after : after;
}

class DateReader {
  #rest: string;
  readonly #now: Date;
  #day: [year: number, month: number, day: number] | null = null;
  #time: number | null = null;
  #zone = 0;
  #months = 0;
  /** Days, and milliseconds, from the day and time that are named. */
  days = 0;
  shift = 0;
  #weekday: { day: number; count: number } | null = null;
  /** It was given by seconds, or with a zone. */
  isMoment = false;

  /** Whether a day or a time is named, and not only how far from now. */
  get names(): boolean {
    return this.#day !== null || this.#time !== null;
  }

  constructor(words: string, now: number) {
    this.#rest = words;
    this.#now = new Date(now);
  }

  read(): number | null {
    const epoch = /^@([-+]?)(\d+)(?:[.,](\d+))?$/.exec(this.#rest);
    this.isMoment = epoch !== null;
    if (epoch) {
      const after = Number((epoch[3] ?? '').slice(0, 3).padEnd(3, '0'));
      return (epoch[1] === '-' ? -1 : 1) * (Number(epoch[2]) * 1000 + after);
    }
    while (this.#rest !== '') {
      if (!this.#item()) return null;
      this.#rest = this.#rest.replace(/^[\s,]+/, '');
    }
    return this.#value();
  }

  #value(): number {
    const now = this.#now;
    const [year, month, day] = this.#day ?? [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
    const names = this.#day !== null || this.#weekday !== null;
    const midnight = Date.UTC(year, month + this.#months, day);
    const ofDay =
      this.#time ?? (names ? 0 : now.getTime() - Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
    const value = midnight + ofDay - this.#zone;
    // A day of the week is left out beside a date.
    if (this.#weekday !== null && this.#day === null) {
      const ahead = (this.#weekday.day - new Date(value + this.days * DAY_MS + this.shift).getUTCDay() + 7) % 7;
      const weeks = this.#weekday.count > 0 && ahead > 0 ? this.#weekday.count - 1 : this.#weekday.count;
      return value + (ahead + 7 * weeks) * DAY_MS;
    }
    return value;
  }

  #takes(pattern: RegExp): RegExpExecArray | null {
    const match = pattern.exec(this.#rest);
    if (match) this.#rest = this.#rest.slice(match[0].length);
    return match;
  }

  #item(): boolean {
    return this.#calendar() || this.#clock() || this.#relative() || this.#named();
  }

  #calendar(): boolean {
    const iso = this.#takes(/^(\d{4})-(\d{1,2})-(\d{1,2})(?=$|[\st,])t?/);
    if (iso) return this.#setDay(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]));
    const slashed = this.#takes(/^(\d{1,2})\/(\d{1,2})\/(\d{4})(?=$|\s)/);
    if (slashed) return this.#setDay(Number(slashed[3]), Number(slashed[1]) - 1, Number(slashed[2]));
    const compact = this.#takes(/^(\d{4})(\d{2})(\d{2})(?=$|[\st])t?/);
    if (compact) return this.#setDay(Number(compact[1]), Number(compact[2]) - 1, Number(compact[3]));
    const dayFirst = this.#takes(/^(\d{1,2})[\s-]+([a-z]{3,9})\.?(?:[\s,-]+(\d{4}))?(?=$|[\s,])/);
    if (dayFirst && MONTHS.includes((dayFirst[2] ?? '').slice(0, 3)))
      return this.#setDay(
        this.#yearOf(dayFirst[3]),
        MONTHS.indexOf((dayFirst[2] ?? '').slice(0, 3)),
        Number(dayFirst[1]),
      );
    if (dayFirst) this.#rest = dayFirst[0] + this.#rest;
    const monthFirst = this.#takes(/^([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?(?=$|[\s,])/);
    if (monthFirst && MONTHS.includes((monthFirst[1] ?? '').slice(0, 3)))
      return this.#setDay(
        this.#yearOf(monthFirst[3]),
        MONTHS.indexOf((monthFirst[1] ?? '').slice(0, 3)),
        Number(monthFirst[2]),
      );
    if (monthFirst) this.#rest = monthFirst[0] + this.#rest;
    return false;
  }

  #yearOf(given: string | undefined): number {
    return given === undefined ? this.#now.getUTCFullYear() : Number(given);
  }

  #setDay(year: number, month: number, day: number): boolean {
    const date = new Date(Date.UTC(year, month, day));
    if (this.#day !== null || date.getUTCMonth() !== month || date.getUTCDate() !== day) return false;
    this.#day = [year, month, day];
    return true;
  }

  #clock(): boolean {
    const time = this.#takes(/^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*([ap])?\.?(?:m\.?)?/);
    const hourOnly = time ? null : this.#takes(/^(\d{1,2})\s*([ap])\.?m\.?(?=$|\s)/);
    if (!time && !hourOnly) return false;
    const half = time ? time[5] : hourOnly?.[2];
    const given = Number(time ? time[1] : hourOnly?.[1]);
    const hour = half === undefined ? given : (given % 12) + (half === 'p' ? 12 : 0);
    const [minute, second] = [Number(time?.[2] ?? 0), Number(time?.[3] ?? 0)];
    if (hour > 23 || minute > 59 || second > 59 || this.#time !== null) return false;
    this.#time = ((hour * 60 + minute) * 60 + second) * 1000 + Math.floor(Number(`0.${time?.[4] ?? 0}`) * 1000);
    const zone = this.#takes(/^\s*(?:(z|utc|gmt)(?=$|\s)|([-+])\s*(\d{1,2})(?::?(\d{2}))?(?!\d))/);
    this.isMoment ||= zone !== null;
    // A number with a sign behind a time is its zone, whatever word follows: `10:00 +2 hours` is 8 + 1 hours in UTC.
    if (zone?.[2]) this.#zone = (Number(zone[3]) * 60 + Number(zone[4] ?? 0)) * 60_000 * (zone[2] === '-' ? -1 : 1);
    return true;
  }

  #relative(): boolean {
    const match = this.#takes(
      /^([-+]?\s*\d+|last|this|next|an?)?\s*(sec|second|min|minute|hour|day|week|fortnight|month|year)s?(\s+ago)?(?=$|[\s+-])/,
    );
    if (!match || (match[1] === undefined && match[3] === undefined && this.#rest === '' && match[0] === ''))
      return false;
    const [, count = '1', unit = '', ago] = match;
    const number = (COUNTS[count] ?? Number(count.replace(/\s/g, ''))) * (ago === undefined ? 1 : -1);
    if (unit === 'month') this.#months += number;
    else if (unit === 'year') this.#months += 12 * number;
    else if (DAYS_OF[unit] !== undefined) this.days += number * DAYS_OF[unit];
    else this.shift += number * (UNITS[unit] ?? 0);
    return true;
  }

  #named(): boolean {
    const word = this.#takes(/^([a-z]+)\.?(?=$|[\s,])/)?.[1];
    if (word === undefined) return false;
    const shifts: Readonly<Record<string, number>> = { now: 0, today: 0, tomorrow: 1, yesterday: -1 };
    if (shifts[word] !== undefined) {
      this.days += shifts[word] ?? 0;
      return true;
    }
    if (['utc', 'gmt', 'z'].includes(word)) {
      this.isMoment = true;
      return true;
    }
    const ahead = COUNTS[word] === undefined ? null : this.#takes(/^\s+([a-z]+)(?=$|[\s,])/);
    const day = DAYS.indexOf((ahead?.[1] ?? word).slice(0, 3));
    if (day === -1) return false;
    this.#weekday = { day, count: COUNTS[word] ?? 0 };
    return true;
  }
}
