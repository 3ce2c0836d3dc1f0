/** Filters in words that say more than their names. Pure. */
import { exactMoment, thresholdInWords } from '../ui/durations.ts';

const moment = (value: string) => (/^\d{1,11}$/.test(value) ? exactMoment(Number(value)) : value);

const lasting = (value: string) => (/^\d{1,11}$/.test(value) ? thresholdInWords(Number(value)) : value);

const THERMAL_WORDS: Readonly<Record<string, string>> = {
  hot: 'with a running process',
  warm: 'with a process paused in memory',
  cold: 'without a process',
};

const WORDS: Readonly<Record<string, (value: string) => string>> = {
  pending: (value) => (value === 'stuck' ? 'stuck for more than a minute' : 'with an operation under way'),
  due_since: (value) => `moving by itself from ${moment(value)} on`,
  due_until: (value) => `moving by itself until ${moment(value)}`,
  since: (value) => `last active since ${moment(value)}`,
  until: (value) => `last active until ${moment(value)}`,
  idle_over: (value) => `idle for more than ${lasting(value)}`,
  idle_under: (value) => `idle for less than ${lasting(value)}`,
  thermal: (value) => THERMAL_WORDS[value] ?? value,
  name: (value) => `named “${value}”`,
};

/** Those without a field. */
export const EXTRA_FILTERS: readonly string[] = Object.keys(WORDS).filter(
  (name) => name !== 'thermal' && name !== 'idle_over',
);

/** `moving by itself until 2026-…`; null for a filter whose name and value say it. */
export function extraFilterInWords(name: string, value: string): string | null {
  return Object.hasOwn(WORDS, name) ? (WORDS[name]?.(value) ?? null) : null;
}
