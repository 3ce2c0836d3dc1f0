/** The filters of `list` and `jobs start`: a typed one and options, as one. Sends nothing. */
import type { Command } from 'commander';
import type { JobFilter } from '../contract/schema.ts';
import { parseTypedFilter } from '../contract/typed-filter.ts';
import { parseSeconds } from './command.ts';
import { CliError } from './failure.ts';

export interface FilterOptions {
  filter?: string;
  idleOver?: number;
  idleUnder?: number;
}

/** Adds the options that `combinedFilter` reads. */
export function filterOptions(command: Command): Command {
  return command
    .option('--filter <text>', 'a typed filter, such as "idle:>1h tenant:acme state:frozen label:env=prod"')
    .option('--idle-over <duration>', 'idle for at least so long, such as 1h', parseSeconds)
    .option('--idle-under <duration>', 'idle for at most so long', parseSeconds);
}

/** What the typed filter and the options say together. Throws `usage` for a wrong one, and for what both say. */
export function combinedFilter<F extends JobFilter>({ filter, idleOver, idleUnder }: FilterOptions, options: F): F {
  const { parameters, complaints } = parseTypedFilter(filter ?? '');
  if (complaints.length > 0) throw new CliError('usage', complaints.join(' '));
  const typed: Record<string, string | number> = { ...parameters };
  for (const name of ['idle_over', 'idle_under'] as const) {
    if (typed[name] !== undefined) typed[name] = Number(typed[name]);
  }
  const given = { ...options, idle_over: idleOver, idle_under: idleUnder };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (name in typed) throw new CliError('usage', `The filter and an option both say “${name.replace('_', ' ')}”.`);
    typed[name] = value;
  }
  return typed as F;
}
