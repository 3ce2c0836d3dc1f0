/**
 * Dates as `git log --since` takes them: exact ones, and texts such as `2 weeks ago` or `last friday noon`, of which
 * every word that is not known is passed over. All in UTC, the zone of the sandbox. Pure but for the clock.
 */
import { parseDate } from './configuration.ts';

const DAY = 86_400;
const UNITS: readonly (readonly [string, number])[] = [
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
  ['days', DAY],
  ['weeks', 7 * DAY],
];
const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const WEEKDAYS = 'sundays mondays tuesdays wednesdays thursdays fridays saturdays'.split(' ');
const NUMBERS = 'zero one two three four five six seven eight nine ten'.split(' ');
const HOURS: Readonly<Record<string, number>> = { midnight: 0, noon: 12, tea: 17 };
/** Numbers from here on are seconds since 1970. */
const FIRST_EPOCH = 100_000_000;
/** A date without a clear order of its parts is not read as one further ahead than this. */
const MOST_AHEAD_SECONDS = 10 * DAY;
const EXACT = [
  /^@\d+(?: [+-]\d{4})?$/,
  /^\d{9,}(?: [+-]\d{4})?$/,
  /^\d{4}-\d{1,2}-\d{1,2}[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?$/,
  /^(?:[A-Za-z]{3},? )?\d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}:\d{2}(?: (?:[+-]\d{4}|GMT|UTC))?$/,
];
/** As git prints it by default. */
const DEFAULT = /^[A-Za-z]{3} ([A-Za-z]{3}) (\d{1,2}) (\d{2}:\d{2}:\d{2}) (\d{4})(?: ([+-]\d{4}))?$/;

/** Seconds since 1970 of a date as git's options take it; a text without a date means now, as in git. */
export function approximateSeconds(text: string): number {
  const given = text.trim();
  const printed = DEFAULT.exec(given);
  const exact = printed
    ? `${printed[2]} ${printed[1]} ${printed[4]} ${printed[3]} ${printed[5] ?? '+0000'}`
    : EXACT.some((form) => form.test(given))
      ? given.replace(/^(\d{4}-\d\d-\d\d)[T ](\d{1,2}:\d{2}(?::\d{2})?)(?:\.\d+)?/, '$1 $2')
      : null;
  return exact === null ? new Reading(given).seconds() : parseDate(exact).seconds;
}

/** What a text has said so far, beside the time that it is read at. */
class Reading {
  readonly #text: string;
  readonly #now = Math.floor(Date.now() / 1000);
  #year: number | null = null;
  /** From 0. */
  #month: number | null = null;
  #day: number | null = null;
  /** Second of the day. */
  #clock = this.#now % DAY;
  /** A number whose unit is not read yet. */
  #number = 0;

  constructor(text: string) {
    this.#text = text;
  }

  seconds(): number {
    for (const [token] of this.#text.matchAll(/\d+(?:([:./-])\d+(?:\1\d+)?)?|[A-Za-z]+/g)) {
      if (/^[A-Za-z]/.test(token)) {
        this.#word(token.toLowerCase());
        continue;
      }
      this.#settleNumber();
      const parts = token.split(/[:./-]/);
      const mark = token[parts[0]?.length ?? 0];
      if (mark !== undefined && this.#together(mark, parts.map(Number))) continue;
      for (const digits of parts) {
        this.#settleNumber();
        this.#plain(digits);
      }
    }
    this.#settleNumber();
    return this.#move(0);
  }

  #plain(digits: string): void {
    const value = Number(digits);
    if (value >= FIRST_EPOCH && this.#day === null && this.#month === null && this.#year === null) this.#setTo(value);
    else if (!digits.startsWith('0') || digits.length <= 2) this.#number = value;
  }

  /** A number without a unit is a day, a month or a year, whichever is not known. */
  #settleNumber(): void {
    const value = this.#number;
    this.#number = 0;
    if (value === 0) return;
    if (this.#day === null && value < 32) this.#day = value;
    else if (this.#month === null && value < 13) this.#month = value - 1;
    else this.#year ??= yearOf(value);
  }

  /** Numbers that a mark joins; false when they are neither a time nor a date. */
  #together(mark: string, [first = 0, second = 0, third]: number[]): boolean {
    if (mark === ':') {
      if (first > 24 || second > 59 || (third ?? 0) > 60) return false;
      this.#clock = first * 3600 + second * 60 + (third ?? 0);
      return true;
    }
    const last = third ?? null;
    if (first > 70 && last !== null && (this.#date(first, second, last) || this.#date(first, last, second)))
      return true;
    if (mark !== '.' && this.#date(last, first, second, true)) return true;
    return this.#date(last, second, first, true) || (mark === '.' && this.#date(last, first, second, true));
  }

  #date(year: number | null, month: number, day: number, isNear = false): boolean {
    if (month < 1 || month > 12 || day < 1 || day > 31) return false;
    const known = year === null ? new Date(this.#now * 1000).getUTCFullYear() : yearOf(year);
    if (known === null) return false;
    if (isNear && Date.UTC(known, month - 1, day) / 1000 + this.#clock > this.#now + MOST_AHEAD_SECONDS) return false;
    [this.#year, this.#month, this.#day] = [known, month - 1, day];
    return true;
  }

  #word(word: string): void {
    const month = MONTHS.findIndex((name) => word.length >= 3 && name.startsWith(word));
    if (month >= 0) this.#month = month;
    else if (word === 'yesterday') {
      this.#number = 0;
      this.#move(DAY);
    } else if (Object.hasOwn(HOURS, word)) {
      this.#settleNumber();
      const hour = (HOURS[word] ?? 0) * 3600;
      if (this.#clock < hour) this.#move(DAY);
      this.#clock = hour;
    } else if (word === 'am' || word === 'pm') this.#half(word === 'pm');
    else if (word === 'never') this.#setTo(0);
    else if (word === 'now') this.#move(0);
    else if (this.#number === 0) this.#number = word === 'last' ? 1 : Math.max(0, NUMBERS.indexOf(word));
    else this.#unit(word);
  }

  #half(isAfternoon: boolean): void {
    if (this.#number > 0) this.#clock = this.#number * 3600;
    this.#number = 0;
    this.#clock = (this.#clock % (DAY / 2)) + (isAfternoon ? DAY / 2 : 0);
  }

  #unit(word: string): void {
    const count = this.#number;
    const unit = UNITS.find(([name]) => word === name || word === name.slice(0, -1));
    const weekday = WEEKDAYS.findIndex((name) => word.length >= 3 && name.startsWith(word));
    if (unit !== undefined) this.#move(unit[1] * count);
    else if (weekday >= 0) {
      const back = new Date(this.#now * 1000).getUTCDay() - weekday;
      this.#move((back + 7 * (back <= 0 ? count : count - 1)) * DAY);
    } else if (word === 'month' || word === 'months') {
      this.#move(0);
      const whole = (this.#year ?? 0) * 12 + (this.#month ?? 0) - count;
      [this.#year, this.#month] = [Math.floor(whole / 12), whole % 12];
    } else if (word === 'year' || word === 'years') {
      this.#move(0);
      this.#year = (this.#year ?? 0) - count;
    } else return;
    this.#number = 0;
  }

  /** Fills in what is not known from now, goes back, and returns the time. */
  #move(back: number): number {
    const now = new Date(this.#now * 1000);
    this.#day ??= now.getUTCDate();
    this.#month ??= now.getUTCMonth();
    this.#year ??= now.getUTCFullYear() - (this.#month > now.getUTCMonth() ? 1 : 0);
    const time = Date.UTC(this.#year, this.#month, this.#day) / 1000 + this.#clock - back;
    this.#setTo(time);
    return time;
  }

  #setTo(time: number): void {
    const at = new Date(time * 1000);
    [this.#year, this.#month, this.#day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
    this.#clock = ((time % DAY) + DAY) % DAY;
  }
}

/** Of four digits, or of two; null for others. */
function yearOf(value: number): number | null {
  if (value >= 1970 && value < 2100) return value;
  if (value > 69 && value < 100) return 1900 + value;
  return value < 38 ? 2000 + value : null;
}
