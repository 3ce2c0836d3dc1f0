/** Prints lines of logs, those that there are or as they come. */
import type { LogEvent, Pages, PrintedLine } from '../client/client.ts';
import type { CommandContext } from './command.ts';
import { printable } from './format.ts';

type Output = Pick<CommandContext, 'json' | 'note' | 'print'>;

/** `hasNames`: each line has the name of its sandbox. */
function lineText({ time_ms, instance, source, level, text }: PrintedLine, hasNames: boolean): string {
  const words = [new Date(time_ms).toISOString(), ...(hasNames ? [instance] : []), source, level];
  return `${words.join(' ')}  ${printable(text)}\n`;
}

/** Prints a page of lines, the oldest first. */
export async function printLines({ print }: Output, page: Pages<PrintedLine>, hasNames: boolean): Promise<void> {
  const lines = (await page).items.toReversed();
  print(lines, () => lines.map((line) => lineText(line, hasNames)).join(''));
}

/** Prints lines as they come, until it is stopped; as JSON, one in each line. */
export async function printFollowed(
  { json, note }: Output,
  events: AsyncIterable<LogEvent>,
  hasNames: boolean,
): Promise<void> {
  for await (const event of events) {
    if (event.event === 'gap') note(`winterdock: ${event.dropped ?? 'some'} lines are missing here.`);
    else process.stdout.write(json ? `${JSON.stringify(event.line)}\n` : lineText(event.line, hasNames));
  }
}
