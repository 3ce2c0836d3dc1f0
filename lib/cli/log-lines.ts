/** Prints lines of logs, those that there are or as they come. */
import { setTimeout } from 'node:timers/promises';
import type { LogsQuery, Pages, PrintedLine } from '../client/client.ts';
import type { CommandContext } from './command.ts';
import { printable } from './format.ts';

/** Lines that are asked for at once. */
const PAGE = 1000;
const POLL_MS = 500;

type Read = (query: LogsQuery) => Pages<PrintedLine>;

/** `hasNames`: each line has the name of its sandbox. */
function lineText({ time_ms, instance, source, level, text }: PrintedLine, hasNames: boolean): string {
  const words = [new Date(time_ms).toISOString(), ...(hasNames ? [instance] : []), source, level];
  return `${words.join(' ')}  ${printable(text)}\n`;
}

/** Prints the newest `limit` lines, the oldest first; with `follow` those that come then too, until it is stopped. */
export async function printLines(
  { json, signal, print }: Pick<CommandContext, 'json' | 'print' | 'signal'>,
  read: Read,
  { limit, follow, hasNames, query }: { limit: number; follow: boolean; hasNames: boolean; query: LogsQuery },
): Promise<void> {
  const { items } = await read({ ...query, limit });
  const lines = items.toReversed();
  if (!follow) return print(lines, () => lines.map((line) => lineText(line, hasNames)).join(''));
  const write = (line: PrintedLine) =>
    process.stdout.write(json ? `${JSON.stringify(line)}\n` : lineText(line, hasNames));
  lines.forEach(write);
  for (let last = lines.at(-1)?.seq ?? -1; !signal.aborted; ) {
    await setTimeout(POLL_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const fresh: PrintedLine[] = [];
    // Page by page back to the last one that was printed: none is left out.
    for await (const line of read({ ...query, limit: PAGE })) {
      if (line.seq <= last) break;
      fresh.push(line);
    }
    fresh.reverse().forEach(write);
    last = fresh.at(-1)?.seq ?? last;
  }
}
