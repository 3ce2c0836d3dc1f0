/** Schedules in words. Pure. */
import type { Schedule } from '#lib/contract/schema.ts';
import { cronInWords } from './rhythm.ts';

/** What it runs: the command's first line, or the component's path. */
export function runsInWords({ command, component }: Pick<Schedule, 'command' | 'component'>): string {
  if (component !== null) return component;
  const [first = '', ...rest] = (command ?? '').split('\n');
  return rest.length === 0 ? first : `${first} …`;
}

const REPEATERS: Readonly<Record<string, string>> = { h: 'hour', d: 'day', w: 'week', m: 'month', y: 'year' };

/** `+1d` and its kin as a person would say them: `every day`, `every 2 weeks`. */
function repeatInWords(repeat: string): string {
  const [, count = '1', unit = ''] = /^(?:\+\+|\.\+|\+)?(\d+)([hdwmy])$/.exec(repeat) ?? [];
  const word = REPEATERS[unit];
  if (word === undefined) return `again ${repeat}`;
  return count === '1' ? `every ${word}` : `every ${count} ${word}s`;
}

/** When it fires: its cron expression in words where there are any, or how it repeats. */
export function rhythmInWords({ cron, repeat }: Pick<Schedule, 'cron' | 'repeat'>): string {
  if (cron !== null) return cronInWords(cron) ?? `cron ${cron}`;
  return repeat === null ? 'once' : repeatInWords(repeat);
}

export const MISSED_CHOICES = [
  { name: 'skip', says: 'leave them out' },
  { name: 'once', says: 'run once for all of them' },
  { name: 'all', says: 'run each of them' },
] as const;
