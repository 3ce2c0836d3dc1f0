/** Months of UTC, as `2026-11`. Pure. */

/** The month of a moment, in epoch milliseconds. */
export function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 7);
}

/** The first millisecond after a month. */
export function endOfMonth(month: string): number {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Date.UTC(year, number, 1);
}

/** The month after. */
export function monthAfter(month: string): string {
  return monthOf(endOfMonth(month));
}
