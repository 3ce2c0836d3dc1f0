/** Filters that have no field of their own, in words. Pure. */
import { exactMoment } from '../ui/durations.ts';

const moment = (value: string) => (/^\d{1,11}$/.test(value) ? exactMoment(Number(value)) : value);

const WORDS: Readonly<Record<string, (value: string) => string>> = {
  pending: (value) => (value === 'stuck' ? 'stuck for more than a minute' : 'with an operation under way'),
  due_since: (value) => `moving by itself from ${moment(value)} on`,
  due_until: (value) => `moving by itself until ${moment(value)}`,
  since: (value) => `last active since ${moment(value)}`,
  until: (value) => `last active until ${moment(value)}`,
  thermal: (value) => (value === 'hot' ? 'with a process' : value === 'cold' ? 'without a process' : value),
  name: (value) => `named “${value}”`,
};

export const EXTRA_FILTERS: readonly string[] = Object.keys(WORDS);

/** `moving by itself until 2026-…`; null for a filter that has a field. */
export function extraFilterInWords(name: string, value: string): string | null {
  return Object.hasOwn(WORDS, name) ? (WORDS[name]?.(value) ?? null) : null;
}
