/** `terminals`: the terminals of a sandbox that the server keeps for its console. */
import type { Command } from 'commander';
import { serverSent } from '../../client/client.ts';
import { choice } from '../choice.ts';
import { addCommand } from '../command.ts';
import { printable } from '../format.ts';
import { addCall } from '../one-call.ts';

/** What an event of a terminal holds, as far as people read it. */
interface Shown {
  text?: string;
  encoding?: 'base64';
  because?: string;
  exit_code?: number;
}

/** Prints one event: lines and their output on stdout, the rest beside it. */
function print(event: string, { text, encoding, because, exit_code: code }: Shown, note: (text: string) => void): void {
  if (event === 'stdout' || event === 'stderr') process[event].write(Buffer.from(text ?? '', encoding ?? 'utf8'));
  else if (event === 'line') process.stdout.write(`$ ${printable(text ?? '', true)}\n`);
  else if (event === 'gone') note(`winterdock: ${because ?? 'the terminal is gone.'}`);
  else if (event === 'exit' && code !== undefined && code !== 0) note(`winterdock: exit ${code}`);
}

export function addTerminalCommands(program: Command): void {
  const terminals = program
    .command('terminals')
    .summary('list, open, show and close the terminals of a sandbox')
    .description('Terminals that the server keeps for the console. They are in memory: a restart ends them.');

  addCall<object, [string]>(terminals, 'list <id>', {
    summary: 'list the terminals of a sandbox, and the last ones that ended',
    examples: [['terminals list sess-841', 'with why they ended']],
    ask: (client, call, _options, id) => client.listTerminals(id, call),
  });
  addCall<object, [string]>(terminals, 'open <id>', {
    summary: 'open a terminal',
    description: 'Wakes nothing.',
    examples: [['terminals open sess-841', 'and print its id']],
    ask: (client, call, _options, id) => client.openTerminal(id, call),
  });
  addCall<{ language?: 'shell' | 'js' | 'python' }, [string, string, string]>(
    terminals,
    'type <id> <terminal> <line>',
    {
      summary: 'run a line in a terminal',
      options: (command) => command.addOption(choice('--language <language>', 'what it is', ['shell', 'js', 'python'])),
      examples: [['terminals type sess-841 term-7 "ls -l"', 'whoever shows it, sees it']],
      ask: (client, call, { language }, id, terminal, text) =>
        client.typeInTerminal(id, terminal, { text, language }, call),
    },
  );
  for (const [verb, summary, effect] of [
    ['interrupt', 'stop the line that runs in a terminal', 'as Ctrl-C does'],
    ['clear', 'remove the scrollback of a terminal', 'for everybody who shows it'],
  ] as const) {
    addCall<object, [string, string]>(terminals, `${verb} <id> <terminal>`, {
      summary,
      examples: [[`terminals ${verb} sess-841 term-7`, effect]],
      ask: (client, call, _options, id, terminal) =>
        (verb === 'clear' ? client.clearTerminal : client.interruptTerminal)(id, terminal, call),
    });
  }
  addCall<object, [string, string]>(terminals, 'close <id> <terminal>', {
    summary: 'close a terminal, and stop the line that runs in it',
    examples: [['terminals close sess-841 term-7', 'its scrollback goes too']],
    async ask(client, call, _options, id, terminal) {
      await client.closeTerminal(id, terminal, call);
      return { id: terminal, closed: true };
    },
    text: (_answer, _id, terminal) => `${terminal} is closed.\n`,
  });

  addCommand(terminals, 'show <id> <terminal>', {
    summary: 'show a terminal: what stands in it, and then what happens, until it goes or Ctrl-C',
    description: 'As long as it is shown, a terminal that is used keeps its sandbox awake.',
    examples: [['terminals show sess-841 term-7', 'beside the console']],
    async run({ client, json, note, signal }, _options, id: string, terminal: string) {
      const shown = await client.streamTerminal(id, terminal, { signal });
      for await (const { event, data } of serverSent(shown.stream)) {
        if (json) process.stdout.write(`${JSON.stringify({ event, data: JSON.parse(data) })}\n`);
        else print(event, JSON.parse(data), note);
      }
    },
  });
}
