/**
 * How awk reads records, writes numbers and times, and is stopped. Called by just-bash's awk as it is patched
 * (bash-command-patches.ts).
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import { textOfMoment } from './commands/date/date-format.ts';
import { refuses } from './declared-uses.ts';

/** How long awk runs before timers do, in milliseconds. */
const TURN_MS = 20;
const DIGITS = 6;
const DEFAULT_TIME = '%a %b %e %H:%M:%S %Z %Y';

/** A number as text: whole numbers in full, others with six digits, as `%.6g` writes them. */
export function textOfNumber(value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 1e16 ? String(value) : BigInt(value).toString();
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '-nan' : value > 0 ? '+inf' : '-inf';
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  const isWide = exponent < -4 || exponent >= DIGITS;
  const text = isWide ? value.toExponential(DIGITS - 1) : value.toPrecision(DIGITS);
  return wideExponent(text.replace(/\.?0+(?=e|$)/, ''));
}

/** An exponent with at least two digits. */
export function wideExponent(text: string): string {
  return text.replace(/e([-+])(\d)$/, 'e$10$2');
}

/** A number of `%g` without the zeros behind its last digit. */
export function trimmed(text: string): string {
  return text.includes('.') ? text.replace(/\.?0*(?=e|$)/, '') : text;
}

/** What ends each record of a text, as RT has it. */
export function endsOf(text: string, separator: string | number | undefined): string[] {
  const given = separator === undefined ? '\n' : String(separator);
  const pattern = given === '' ? '\n{2,}' : given.length === 1 ? given.replace(/[.*+?^${}()|[\]\\]/, '\\$&') : given;
  return Array.from(text.matchAll(new RegExp(pattern, 'g')), ([end]) => end);
}

/** The records of a text. An empty separator: paragraphs; of several characters: a regular expression. */
export function recordsOf(text: string, separator: string | number | undefined): string[] {
  const given = separator === undefined ? '\n' : String(separator);
  if (text === '') return [];
  if (given === '') {
    const trimmed = text.replace(/^\n+|\n+$/g, '');
    return trimmed === '' ? [] : trimmed.split(/\n{2,}/);
  }
  const records = text.split(given.length === 1 ? given : new RegExp(given));
  const last = records.at(-1);
  if (last === '' || (given !== '\n' && last === '\n')) records.pop();
  return records;
}

/** Seconds since the epoch. Throws `Stopped` for a component that does not declare a clock. */
export function systime(): number {
  if (refuses('clock')) throw new Stopped('stopped');
  return Math.floor(Date.now() / 1000);
}

/** gawk's strftime: a format and seconds since the epoch. */
export function strftime([format, seconds]: readonly (string | number | undefined)[]): string {
  const moment = (seconds === undefined ? systime() : Number(seconds)) * 1000;
  return textOfMoment(format === undefined ? DEFAULT_TIME : String(format), moment, 'UTC');
}

/** Ends awk where it stands. */
export class Stopped extends Error {}

/** What awk calls in its loops: lets timers run, and ends it when its call, or the `timeout` around it, has ended. */
export function turns(signal: AbortSignal | undefined): () => Promise<void> {
  let last = monotonicMs();
  return async () => {
    if (monotonicMs() - last < TURN_MS) return;
    await nextTurn();
    last = monotonicMs();
    if (signal?.aborted) throw new Stopped('stopped');
  };
}
