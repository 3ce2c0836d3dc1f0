/** Moments in addresses and form fields: always UTC, to the minute. Pure. */

const TYPED = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}))?Z?)?$/;
const EPOCH = /^\d{1,11}$/;
const MINUTE = 60;
const DAY = 86_400;

/**
 * Epoch seconds of `2026-11-22`, `2026-11-22T05:30`, `2026-11-22T05:30:07` (UTC), or of epoch seconds; null for
 * anything else. `edge`: whether a day or a minute means its first or its last second.
 */
export function parseMoment(text: string, edge: 'first' | 'last'): number | null {
  if (EPOCH.test(text)) return Number(text);
  const [, date, minute, second] = TYPED.exec(text) ?? [];
  if (date === undefined) return null;
  const parsed = Date.parse(`${date}T${minute ?? '00:00'}:${second ?? '00'}Z`);
  // `Date` takes a day that a month does not have for one of the next month.
  if (Number.isNaN(parsed) || parsed < 0 || !new Date(parsed).toISOString().startsWith(date)) return null;
  const length = minute === undefined ? DAY : second === undefined ? MINUTE : 1;
  return parsed / 1000 + (edge === 'first' ? 0 : length - 1);
}

/** A moment as the value of a `datetime-local` field: `2026-11-22T05:30`. `epoch` in seconds. */
export function formatMinute(epoch: number): string {
  return new Date(epoch * 1000).toISOString().slice(0, 16);
}
