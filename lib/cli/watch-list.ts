/**
 * Lists that go on: on a terminal the table is drawn anew, elsewhere a line is printed for each row that changed. Looks
 * again and again; looking wakes nothing.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Pages } from '../client/client.ts';
import type { CommandContext } from './command.ts';
import { table } from './format.ts';

/** The largest page that the API gives. */
const PAGE = 500;
/** From the top left, clearing each line's rest and what is below. */
const HOME = '\x1b[H';
const LINE_END = '\x1b[K\n';
const BELOW = '\x1b[J';
const CLEAR = '\x1b[2J';

interface WatchedList<T> {
  read: (limit: number) => Pages<T>;
  headings: readonly string[];
  row: (item: T) => readonly string[];
  none: string;
  idOf: (item: T) => string;
  /** What of a row is a change, in one text: not what passes by itself, such as idle seconds. */
  facts: (item: T) => string;
}

interface WatchListOptions {
  limit?: number;
  all?: boolean;
  intervalSeconds: number;
}

async function itemsOf<T>(list: WatchedList<T>, most: number): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list.read(Math.max(1, Math.min(most, PAGE)))) {
    if (items.length >= most) break;
    items.push(item);
  }
  return items;
}

/** Draws the whole table over the one before. */
function draw<T>(list: WatchedList<T>, items: readonly T[], isFirst: boolean): void {
  const text = items.length === 0 ? `${list.none}\n` : table(list.headings, items.map(list.row));
  // A terminal that does not know its size says 0.
  const height = Math.max(2, (process.stdout.rows || 24) - 1);
  const width = process.stdout.columns || 80;
  const lines = text.trimEnd().split('\n');
  const cut =
    lines.length > height ? [...lines.slice(0, height - 1), `… and ${lines.length - height + 1} more`] : lines;
  const drawn = cut.map((line) => [...line].slice(0, width).join('') + LINE_END).join('');
  process.stdout.write(`${isFirst ? CLEAR : ''}${HOME}${drawn}${BELOW}`);
}

/** Whether the next look may be answered. */
function passes(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'network' || error.status === 429 || error.status >= 500);
}

/**
 * Shows a list until the signal is aborted; throws its reason then. With `json` a line for each item that is new or
 * changed, and `{"id", "listed": false}` for one that is not in the list any more.
 */
export async function watchList<T>(
  { json, note, signal }: Pick<CommandContext, 'json' | 'note' | 'signal'>,
  { limit, all, intervalSeconds }: WatchListOptions,
  list: WatchedList<T>,
): Promise<never> {
  const most = all === true ? Number.POSITIVE_INFINITY : (limit ?? PAGE);
  const isDrawn = !json && process.stdout.isTTY === true;
  let before: Map<string, string> | null = null;
  let isLost = false;
  for (;;) {
    try {
      const items = await itemsOf(list, most);
      isLost = false;
      const now = new Map(items.map((item) => [list.idOf(item), list.facts(item)]));
      if (isDrawn) draw(list, items, before === null);
      else {
        const known: ReadonlyMap<string, string> = before ?? new Map();
        const changed = items.filter((item) => known.get(list.idOf(item)) !== list.facts(item));
        const left = [...known.keys()].filter((id) => !now.has(id));
        if (json) {
          for (const item of changed) process.stdout.write(`${JSON.stringify(item)}\n`);
          for (const id of left) process.stdout.write(`${JSON.stringify({ id, listed: false })}\n`);
        } else {
          const text = table(list.headings, [...changed.map(list.row), ...left.map((id) => [id, '', 'not listed'])]);
          // The headings stand above the first rows alone.
          process.stdout.write(
            before === null ? text || list.headings.join('  ').concat('\n') : text.replace(/^.*\n/, ''),
          );
        }
      }
      before = now;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (before === null || !passes(error)) throw error;
      if (!isLost) note('winterdock: the server does not answer; it is asked again.');
      isLost = true;
    }
    await pause(intervalSeconds * 1000, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }
}
