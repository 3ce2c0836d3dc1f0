/** Parses durations and sizes that a person types. Pure. */

const SECONDS: Readonly<Record<string, number>> = { s: 1, sec: 1, m: 60, min: 60, h: 3600, d: 86_400 };
const BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };
const AMOUNT = /^(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]*)$/i;

function amountOf(text: string, units: Readonly<Record<string, number>>, plain: string): number | null {
  const [, number, unit = ''] = AMOUNT.exec(text.trim()) ?? [];
  const size = units[unit.toLowerCase() || plain];
  if (number === undefined || size === undefined) return null;
  const amount = Math.round(Number(number) * size);
  return Number.isSafeInteger(amount) ? amount : null;
}

/** Seconds of `90`, `90 s`, `15 min`, `24 h` or `2 d`; null for anything else. */
export function parseDuration(text: string): number | null {
  return amountOf(text, SECONDS, 's');
}

/** Seconds as `parseDuration` reads them; 0 of `never`. */
export function parsePause(text: string): number | null {
  return text.trim().toLowerCase() === 'never' ? 0 : parseDuration(text);
}

/** A time as text that `parseDuration` reads back exactly: `2 h`, `90 s`. */
export function exactDuration(seconds: number): string {
  const unit = seconds === 0 ? 's' : (['d', 'h', 'min'].find((one) => seconds % (SECONDS[one] ?? 1) === 0) ?? 's');
  return `${seconds / (SECONDS[unit] ?? 1)} ${unit}`;
}

/** Bytes of `4096`, `50 MB` or `1.5 GB`, in decimal units; null for anything else. */
export function parseSize(text: string): number | null {
  return amountOf(text, BYTES, 'b');
}

/** A size as text that `parseSize` reads back exactly: `50 MB`, `1.5 GB`, `1234567 B`. */
export function exactSize(bytes: number): string {
  for (const unit of ['TB', 'GB', 'MB', 'kB']) {
    const value = bytes / (BYTES[unit.toLowerCase()] ?? 1);
    if (value >= 1 && Number.isInteger(value * 1000)) return `${value} ${unit}`;
  }
  return `${bytes} B`;
}
