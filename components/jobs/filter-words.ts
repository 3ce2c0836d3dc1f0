/** Filters in words that say more than their names. Pure. */
import { thresholdInWords } from '../ui/durations.ts';
import { exactMoment } from '../ui/zones.ts';

const moment = (value: string, zone: string) => (/^\d{1,11}$/.test(value) ? exactMoment(Number(value), zone) : value);

const lasting = (value: string) => (/^\d{1,11}$/.test(value) ? thresholdInWords(Number(value)) : value);

/** `idle for more than 1 h`. `value`: seconds, as the address has them. */
export function idleOverInWords(value: string): string {
  return `idle for more than ${lasting(value)}`;
}

const THERMAL_WORDS: Readonly<Record<string, string>> = {
  hot: 'with a running process',
  warm: 'with a process paused in memory',
  cold: 'without a process',
};

const WORDS: Readonly<Record<string, (value: string, zone: string) => string>> = {
  pending: (value) => (value === 'stuck' ? 'stuck for more than a minute' : 'with an operation under way'),
  due_since: (value, zone) => `moving by itself from ${moment(value, zone)} on`,
  due_until: (value, zone) => `moving by itself until ${moment(value, zone)}`,
  since: (value, zone) => `last active since ${moment(value, zone)}`,
  until: (value, zone) => `last active until ${moment(value, zone)}`,
  idle_over: idleOverInWords,
  idle_under: (value) => `idle for less than ${lasting(value)}`,
  thermal: (value) => THERMAL_WORDS[value] ?? value,
  name: (value) => `named “${value}”`,
  host: (value) => `on the host ${value}`,
};

/** Those without a field. */
export const EXTRA_FILTERS: readonly string[] = Object.keys(WORDS).filter(
  (name) => name !== 'thermal' && name !== 'idle_over',
);

/** `moving by itself until 2026-…`; null for a filter whose name and value say it. `zone`: the reader's. */
export function extraFilterInWords(name: string, value: string, zone: string): string | null {
  return Object.hasOwn(WORDS, name) ? (WORDS[name]?.(value, zone) ?? null) : null;
}
