/** Lengths of time and sizes in words. Pure: the caller says what time it is. */

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

const UNITS: readonly [seconds: number, word: string][] = [
  [365 * DAY, 'year'],
  [30 * DAY, 'month'],
  [7 * DAY, 'week'],
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [1, 'second'],
];

/** A length of time in its largest whole unit: `3 days`, `1 minute`. `seconds` below one reads `a moment`. */
export function lengthInWords(seconds: number): string {
  for (const [size, word] of UNITS) {
    if (seconds >= size) {
      const count = Math.floor(seconds / size);
      return `${count} ${word}${count === 1 ? '' : 's'}`;
    }
  }
  return 'a moment';
}

/** A size: `812 B`, `4.2 kB`, `17 MB`. Decimal units. */
export function sizeInWords(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
