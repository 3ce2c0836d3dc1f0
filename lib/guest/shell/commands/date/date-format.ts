/** Times in formats of strftime(3), as `date`, `ls`, `stat`, `find` and awk write them: English. Pure. */

import { offsetText, type TimeZone } from './time-zone.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAY_MS = 86_400_000;

interface Field {
  text: string;
  width: number;
  pad: string;
}

/**
 * `moment`: milliseconds since the epoch. `zone`: a time zone, or how UTC is called. `nanoseconds`: of its second,
 * where they are known more exactly.
 */
export function textOfMoment(
  format: string,
  moment: number,
  zone: TimeZone | string,
  nanoseconds: number | null = null,
): string {
  const offset = typeof zone === 'string' ? 0 : zone.offsetMs(moment);
  return format.replace(
    /%([-_0^#+]*)(\d*)(:{0,3})([a-zA-Z%+])/g,
    (whole, flags: string, width: string, colons: string, letter: string) => {
      if (letter === 'z') return offsetText(offset, colons.length);
      const composed = COMPOSED[letter];
      const name = letter === 'Z' ? (typeof zone === 'string' ? zone : zone.nameAt(moment)) : '';
      const shown = letter === 's' ? moment : moment + offset;
      const field =
        composed === undefined
          ? fieldOf(letter, new Date(shown), name)
          : { text: textOfMoment(composed, moment, zone), width: 0, pad: ' ' };
      if (letter === 'N' && field !== null && nanoseconds !== null) field.text = String(nanoseconds).padStart(9, '0');
      // Its width is the number of digits.
      if (letter === 'N' && field !== null && width !== '')
        return field.text.slice(0, Number(width)).padEnd(Number(width), '0');
      return field === null ? whole : padded(field, flags, width);
    },
  );
}

const COMPOSED: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  r: '%I:%M:%S %p',
  R: '%H:%M',
  T: '%H:%M:%S',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
};

function padded({ text, width, pad }: Field, flags: string, given: string): string {
  const filler = flags.includes('-') ? '' : flags.includes('_') ? ' ' : flags.includes('0') ? '0' : pad;
  const wide =
    filler === '' && given === ''
      ? text
      : text.padStart(given === '' ? width : Number(given), filler === '' ? pad : filler);
  if (flags.includes('^')) return wide.toUpperCase();
  return flags.includes('#') ? (wide === wide.toUpperCase() ? wide.toLowerCase() : wide.toUpperCase()) : wide;
}

function fieldOf(letter: string, date: Date, zone: string): Field | null {
  const number = (value: number, width: number, pad = '0'): Field => ({ text: String(value), width, pad });
  const word = (text: string): Field => ({ text, width: 0, pad: ' ' });
  const year = date.getUTCFullYear();
  const hour = date.getUTCHours();
  const dayOfYear = Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / DAY_MS) + 1;
  const weekday = date.getUTCDay();
  const seconds = Math.floor(date.getTime() / 1000);
  switch (letter) {
    case '%':
      return word('%');
    case 'a':
      return word(DAYS[weekday]?.slice(0, 3) ?? '');
    case 'A':
      return word(DAYS[weekday] ?? '');
    case 'b':
    case 'h':
      return word(MONTHS[date.getUTCMonth()]?.slice(0, 3) ?? '');
    case 'B':
      return word(MONTHS[date.getUTCMonth()] ?? '');
    case 'C':
      return number(Math.floor(year / 100), 2);
    case 'd':
      return number(date.getUTCDate(), 2);
    case 'e':
      return number(date.getUTCDate(), 2, ' ');
    case 'g':
      return number(isoWeek(date).year % 100, 2);
    case 'G':
      return number(isoWeek(date).year, 4);
    case 'H':
      return number(hour, 2);
    case 'I':
      return number(hour % 12 || 12, 2);
    case 'j':
      return number(dayOfYear, 3);
    case 'k':
      return number(hour, 2, ' ');
    case 'l':
      return number(hour % 12 || 12, 2, ' ');
    case 'm':
      return number(date.getUTCMonth() + 1, 2);
    case 'M':
      return number(date.getUTCMinutes(), 2);
    case 'n':
      return word('\n');
    case 'N':
      return word(
        String(date.getTime() - seconds * 1000)
          .padStart(3, '0')
          .padEnd(9, '0'),
      );
    case 'p':
      return word(hour < 12 ? 'AM' : 'PM');
    case 'P':
      return word(hour < 12 ? 'am' : 'pm');
    case 'q':
      return number(Math.floor(date.getUTCMonth() / 3) + 1, 1);
    case 's':
      return number(seconds, 1);
    case 'S':
      return number(date.getUTCSeconds(), 2);
    case 't':
      return word('\t');
    case 'u':
      return number(weekday || 7, 1);
    case 'U':
      return number(Math.floor((dayOfYear + 6 - weekday) / 7), 2);
    case 'V':
      return number(isoWeek(date).week, 2);
    case 'w':
      return number(weekday, 1);
    case 'W':
      return number(Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7), 2);
    case 'y':
      return number(year % 100, 2);
    case 'Y':
      return number(year, 4);
    case 'Z':
      return word(zone);
    default:
      return null;
  }
}

/** The week of ISO 8601, which is in the year of its Thursday. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (3 - ((date.getUTCDay() + 6) % 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  return { year, week: Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1 };
}
