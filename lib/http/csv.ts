/** Ledger lines as CSV (RFC 4180). Cells that a spreadsheet would run as a formula are escaped. Pure. */
import { type Event, eventSchema } from '../contract/schema.ts';

const COLUMNS = Object.keys(eventSchema.shape) as (keyof Event)[];
/**
 * What makes a cell a formula: https://owasp.org/www-community/attacks/CSV_Injection, the full-width twins included.
 */
const FORMULA = /^[\s\p{Cf}]*[=+\-@\t\r\n＝＋－＠]/u;

/** The last column: when, as in ISO 8601, beside the numbers of the API. */
const TIME_ISO = 'time_iso';

/** The first row: the names of the columns. */
export const CSV_HEADER = `${[...COLUMNS, TIME_ISO].join(',')}\r\n`;

/** One row. */
export function csvRow(event: Event): string {
  const cells = [...COLUMNS.map((name) => cell(event[name])), new Date(event.time_ms).toISOString()];
  return `${cells.join(',')}\r\n`;
}

function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = FORMULA.test(value) || /^[\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
