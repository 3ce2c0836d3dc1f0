/** Times as text: strftime(3) in UTC and English, and the dates that `touch -d` and `find -newermt` read. Pure. */

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

const two = (number: number) => String(number).padStart(2, '0');

/** One conversion of strftime; null for a letter that is none. `fraction` stands behind the seconds. */
export function timePart(letter: string, seconds: number, fraction = ''): string | null {
  const date = new Date(seconds * 1000);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const [hour, minute, second, weekday] = [
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
    date.getUTCDay(),
  ];
  const dayOfYear = Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / DAY_MS);
  const clock = `${two(hour)}:${two(minute)}:${two(second)}${fraction}`;
  switch (letter) {
    case 'a':
      return (DAYS[weekday] ?? '').slice(0, 3);
    case 'A':
      return DAYS[weekday] ?? '';
    case 'b':
    case 'h':
      return (MONTHS[month] ?? '').slice(0, 3);
    case 'B':
      return MONTHS[month] ?? '';
    case 'c':
      return `${timePart('a', seconds)} ${timePart('b', seconds)} ${String(day).padStart(2)} ${clock} ${year}`;
    case 'C':
      return two(Math.floor(year / 100));
    case 'd':
      return two(day);
    case 'D':
    case 'x':
      return `${two(month + 1)}/${two(day)}/${two(year % 100)}`;
    case 'e':
      return String(day).padStart(2);
    case 'F':
      return `${year}-${two(month + 1)}-${two(day)}`;
    case 'H':
      return two(hour);
    case 'I':
      return two(hour % 12 || 12);
    case 'j':
      return String(dayOfYear + 1).padStart(3, '0');
    case 'k':
      return String(hour).padStart(2);
    case 'l':
      return String(hour % 12 || 12).padStart(2);
    case 'm':
      return two(month + 1);
    case 'M':
      return two(minute);
    case 'n':
      return '\n';
    case 'N':
      return '000000000';
    case 'p':
      return hour < 12 ? 'AM' : 'PM';
    case 'P':
      return hour < 12 ? 'am' : 'pm';
    case 'r':
      return `${two(hour % 12 || 12)}:${two(minute)}:${two(second)}${fraction} ${hour < 12 ? 'AM' : 'PM'}`;
    case 'R':
      return `${two(hour)}:${two(minute)}`;
    case 's':
      return String(Math.floor(seconds));
    case 'S':
      return two(second) + fraction;
    case 't':
      return '\t';
    case 'T':
    case 'X':
      return clock;
    case 'u':
      return String(weekday || 7);
    case 'U':
      return two(Math.floor((dayOfYear + 7 - weekday) / 7));
    case 'w':
      return String(weekday);
    case 'W':
      return two(Math.floor((dayOfYear + 7 - ((weekday + 6) % 7)) / 7));
    case 'y':
      return two(year % 100);
    case 'Y':
      return String(year);
    case 'z':
      return '+0000';
    case 'Z':
      return 'UTC';
    case '%':
      return '%';
    default:
      return null;
  }
}

/** A time in a format of strftime. */
export function formatTime(format: string, seconds: number): string {
  return format.replaceAll(/%-?([A-Za-z%])/g, (written, letter: string) => {
    const part = timePart(letter, seconds);
    if (part === null) return written;
    return written.startsWith('%-') ? part.replace(/^[0 ]+(?=.)/, '') : part;
  });
}

const UNITS: Readonly<Record<string, number>> = {
  sec: 1,
  second: 1,
  min: 60,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
  fortnight: 1_209_600,
};
const WORDS: Readonly<Record<string, string>> = {
  now: '',
  today: '',
  yesterday: '-1 day',
  tomorrow: '+1 day',
};

/** Reads a date as GNU's tools do, in epoch seconds; null when it is none. `now` in epoch seconds. */
export function parseTime(given: string, now: number): number | null {
  let text = given.trim().toLowerCase();
  const epoch = /^@(-?\d+)(?:\.\d+)?$/.exec(text);
  if (epoch) return Number(epoch[1]);
  let base: number | null = null;
  let clock: number | null = null;
  let zone = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const found = pattern.exec(text);
    if (found) text = `${text.slice(0, found.index)} ${text.slice(found.index + found[0].length)}`.trim();
    return found;
  };
  const midnight = (year: number, month: number, day: number) => Date.UTC(year, month - 1, day) / 1000;
  const iso = take(/\b(\d{4})-(\d{1,2})-(\d{1,2})(?=$|[\st])t?/);
  const slashes = iso === null ? take(/(?<=^|\s)(\d{1,2})\/(\d{1,2})\/(\d{4})(?=$|\s)/) : null;
  const packed = iso === null && slashes === null ? take(/(?<=^|\s)(\d{4})(\d{2})(\d{2})(?=$|\s)/) : null;
  if (iso) base = midnight(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  else if (slashes) base = midnight(Number(slashes[3]), Number(slashes[1]), Number(slashes[2]));
  else if (packed) base = midnight(Number(packed[1]), Number(packed[2]), Number(packed[3]));
  else {
    const months = MONTHS.map((name) => name.slice(0, 3).toLowerCase()).join('|');
    const named =
      take(new RegExp(`(?<=^|\\s)(\\d{1,2}) +(${months})[a-z]*,? +(\\d{4})`)) ??
      take(new RegExp(`(?<=^|\\s)(${months})[a-z]* +(\\d{1,2}),? +(\\d{4})`));
    if (named) {
      const [first = '', second = ''] = [named[1], named[2]];
      const [month, day] = /^\d/.test(first) ? [second, first] : [first, second];
      base = midnight(Number(named[3]), months.split('|').indexOf(month.slice(0, 3)) + 1, Number(day));
    }
  }
  const time = take(/(?<=^|\s)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(am|pm)?/);
  if (time) {
    const hour = time[4] ? (Number(time[1]) % 12) + (time[4] === 'pm' ? 12 : 0) : Number(time[1]);
    if (hour > 24 || Number(time[2]) > 59 || Number(time[3] ?? 0) > 60) return null;
    clock = hour * 3600 + Number(time[2]) * 60 + Number(time[3] ?? 0);
    const offset = take(/^([+-])(\d{2}):?(\d{2})\b/);
    if (offset) zone = (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 3600 + Number(offset[3]) * 60);
  }
  take(/(?<=^|\s)(?:utc|gmt|z)(?=$|\s)/);
  text = text.replaceAll(/[a-z]+/g, (word) => WORDS[word] ?? word).trim();
  const start = base ?? (clock === null ? now : Math.floor(now / 86_400) * 86_400);
  if (iso && iso[2] !== undefined && (Number(iso[2]) > 12 || Number(iso[3]) > 31)) return null;
  return withSteps(start + (clock ?? 0) - zone, text, given.trim() === '' ? Math.floor(now / 86_400) * 86_400 : null);
}

/** Adds the steps of a date, as `2 days ago` and `+1 hour`. */
function withSteps(start: number, text: string, empty: number | null): number | null {
  if (empty !== null) return empty;
  let seconds = start;
  let rest = text;
  while (rest !== '') {
    const step = /^(?:([+-]?)\s*(\d+)|(next|last|a|an))\s*([a-z]+?)s?(\s+ago)?(?=$|\s|[+-])/.exec(rest);
    if (step === null) return null;
    rest = rest.slice(step[0].length).trim();
    const sign = (step[1] === '-' || step[3] === 'last' ? -1 : 1) * (step[5] ? -1 : 1);
    const amount = sign * Number(step[2] ?? 1);
    const unit = step[4] ?? '';
    const size = UNITS[unit];
    if (size !== undefined) seconds += amount * size;
    else if (unit === 'month' || unit === 'year') {
      const date = new Date(seconds * 1000);
      if (unit === 'month') date.setUTCMonth(date.getUTCMonth() + amount);
      else date.setUTCFullYear(date.getUTCFullYear() + amount);
      seconds = date.getTime() / 1000;
    } else return null;
  }
  return seconds;
}
