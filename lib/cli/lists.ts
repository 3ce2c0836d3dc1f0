/** Prints lists of the API as tables or as one JSON array, reading as many pages as `--limit` or `--all` needs. */
import type { Command } from 'commander';
import type { Pages } from '../client/client.ts';
import { type CommandContext, parseWholeNumber } from './command.ts';
import { table } from './format.ts';

/** The largest page that the API gives. */
const PAGE = 500;

export interface ListOptions {
  limit?: number;
  all?: boolean;
}

/** Adds `--limit` and `--all`. */
export function listOptions(command: Command, limit: number): Command {
  return command
    .option('--limit <count>', 'show so many at most', parseWholeNumber, limit)
    .option('--all', 'show every one, however many there are');
}

/**
 * Prints a list. `read` requests pages of `limit` items. JSON is written page by page, so a long list needs no memory.
 */
export async function printList<T>(
  { json, note }: Pick<CommandContext, 'json' | 'note'>,
  options: ListOptions,
  list: {
    read: (limit: number) => Pages<T>;
    headings: readonly string[];
    row: (item: T) => readonly string[];
    /** The note for an empty list. */
    none: string;
  },
): Promise<void> {
  const most = options.all === true ? Number.POSITIVE_INFINITY : (options.limit ?? PAGE);
  const pages = list.read(Math.max(1, Math.min(most, PAGE)));
  const shown: T[] = [];
  let count = 0;
  const show = (item: T) => {
    if (json) process.stdout.write(`${count === 0 ? '[' : ',\n'}${JSON.stringify(item)}`);
    else shown.push(item);
    count += 1;
  };
  const first = await pages;
  let more = first.next !== null;
  if (most <= PAGE) for (const item of first.items.slice(0, most)) show(item);
  else {
    more = false;
    for await (const item of pages) {
      more = count === most;
      if (more) break;
      show(item);
    }
  }
  process.stdout.write(json ? `${count === 0 ? '[' : ''}]\n` : table(list.headings, shown.map(list.row)));
  if (count === 0) note(list.none);
  else if (more && first.total !== null) {
    note(`${count} of ${first.total}${first.totalIsExact ? '' : ' or more'}: --all shows every one.`);
  } else if (more) note('There are more: --all shows every one.');
  else if (first.truncated) note('The search stopped early: there are more than these.');
}
