/** `run`, `runs`, `logs` and `stop-run`: commands of a sandbox that outlive the connection that began them. */
import type { Command } from 'commander';
import type { PrintedLine } from '../../client/client.ts';
import type { SandboxRun } from '../../contract/schema.ts';
import { choice } from '../choice.ts';
import { addCommand, type CommandContext, parsePairs, parseSeconds, parseWholeNumber } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { facts, millisecondsText, printable, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { printFollowed, printLines } from '../log-lines.ts';
import { scriptOf } from './calls.ts';

/** Bytes that are asked for at once. */
const READ_BYTES = 1024 * 1024;

function runFacts(run: SandboxRun): string {
  return facts([
    ['id', run.id],
    ['state', run.state],
    ['command', printable(run.command)],
    ['exit', run.exit_code === null ? null : String(run.exit_code)],
    ['took', run.took_ms === null ? null : millisecondsText(run.took_ms)],
    ['output', `${run.output_bytes} bytes`],
    ['why', run.reason],
  ]);
}

/** The exit code of a run that was waited for. */
function exitOf({ state, exit_code: code }: SandboxRun): number {
  return state === 'done' && code !== null ? code : exitCode('conflict');
}

function dropNote(context: CommandContext, dropped: number): void {
  if (dropped > 0) context.note(`winterdock: ${dropped} bytes of its output are no longer kept.`);
}

/** Prints what a run writes until it ends. */
async function followOutput(context: CommandContext, id: string, run: string): Promise<SandboxRun> {
  for await (const event of context.client.followRun(id, run, { signal: context.signal })) {
    if (event.event === 'stdout') process.stdout.write(event.bytes);
    else if (event.event === 'stderr') process.stderr.write(event.bytes);
    else if (event.event === 'gap') dropNote(context, event.dropped);
    else if (event.event === 'exit') {
      if (event.run.timed_out) context.note('winterdock: its time ran out.');
      if (event.run.reason !== null) context.note(`winterdock: ${event.run.reason}`);
      return event.run;
    }
  }
  throw new CliError('network', 'The connection ended before the run did.', 'The run goes on.');
}

/** Prints what is kept of a run's output. */
async function printOutput(context: CommandContext, id: string, run: string): Promise<void> {
  for (let offset = 0; ; ) {
    const query = { offset, limit: READ_BYTES };
    const {
      pieces,
      dropped,
      next,
      run: now,
    } = await context.client.getRunOutput(id, run, query, { signal: context.signal });
    dropNote(context, dropped);
    for (const { stream, text, encoding } of pieces) process[stream].write(Buffer.from(text, encoding ?? 'utf8'));
    if (next <= offset || next >= now.output_bytes) return;
    offset = next;
  }
}

const SOURCES = ['exec', 'eval', 'run', 'terminal', 'schedule', 'component', 'log'] as const;

interface LogFlags {
  follow?: boolean;
  tenant?: string;
  within?: number;
  search?: string;
  level?: PrintedLine['level'];
  source?: PrintedLine['source'];
  limit?: number;
  reason?: string;
}

export function addBackgroundCommands(program: Command): void {
  addCommand<{ cwd?: string; env?: Record<string, string>; timeout?: number; detach?: boolean }, [string, string[]]>(
    program,
    'run <id> [command...]',
    {
      summary: 'begin a command that outlives the connection',
      description:
        'Follows it and ends with its exit code; Ctrl-C leaves it running and says how to come back. One word is a shell script as it stands; several are one command. Options come before the command, on either side of the id.',
      options: (command) =>
        command
          .passThroughOptions()
          .option('-d, --detach', 'print its id and do not follow it')
          .option('--cwd <folder>', 'where it runs (default: /workspace)')
          .option('--env <key=value>', 'a variable; may come again', parsePairs('='))
          .option('--timeout <duration>', 'end it after so long, such as 20m', parseSeconds),
      examples: [
        ['run sess-841 "make all"', 'follow a build; a lost connection does not end it'],
        ['run -d --timeout 30m sess-841 python3 train.py', 'begin it and go'],
      ],
      async run(context, { detach = false, timeout, cwd, env }, id, given) {
        const words = given[0] === '--' ? given.slice(1) : given;
        if (words.length === 0) throw new CliError('usage', 'There is no command to run.');
        const input = {
          command: scriptOf(words),
          cwd,
          env,
          timeout_ms: timeout === undefined ? undefined : timeout * 1000,
        };
        const begun = await context.client.startRun(id, input, { signal: context.signal });
        if (detach || context.json) return context.print(begun, () => `${begun.id}\n`);
        context.signal.addEventListener('abort', () =>
          context.note(`It goes on: winterdock logs -f ${id} ${begun.id}, or winterdock stop-run ${id} ${begun.id}`),
        );
        context.exitWith(exitOf(await followOutput(context, id, begun.id)));
      },
    },
  );

  addCommand<ListOptions>(program, 'runs <id>', {
    summary: 'list the runs of a sandbox, newest first',
    options: (command) => listOptions(command, 20),
    examples: [['runs sess-841', 'those under way and the last ones that ended']],
    async run(context, options, id: string) {
      await printList(context, options, {
        read: (limit) => context.client.listRuns(id, { limit }, { signal: context.signal }),
        headings: ['RUN', 'STATE', 'EXIT', 'BEGAN', 'TOOK', 'COMMAND'],
        row: (run) => [
          run.id,
          run.state,
          run.exit_code === null ? '–' : String(run.exit_code),
          timeText(run.created),
          run.took_ms === null ? '–' : millisecondsText(run.took_ms),
          printable(run.command).slice(0, 60),
        ],
        none: 'No runs.',
      });
    },
  });

  addCommand<LogFlags>(program, 'logs [id] [run]', {
    summary: 'print what a sandbox, a tenant’s sandboxes or one run printed',
    description:
      'Of a sandbox: the newest lines of all that ran in it, with their time, what printed them and their level. Of a run: its output as it is; the server keeps the newest part, and with --follow it ends with the exit code of the run.',
    options: (command) =>
      command
        .option('-f, --follow', 'go on as lines come; of a run, until it ends')
        .option('--tenant <tenant>', 'of all sandboxes of a tenant')
        .option('--within <duration>', 'only of the last 15m, 24h, 7d …', parseSeconds)
        .option('--search <text>', 'only lines with this text, in any case')
        .addOption(choice('--level <level>', 'only of this level and those above', ['debug', 'info', 'warn', 'error']))
        .addOption(choice('--source <source>', 'only what this printed', SOURCES))
        .option('--limit <n>', 'so many lines at most (default: 100)', parseWholeNumber)
        .option('--reason <text>', 'why; support needs one'),
    examples: [
      ['logs sess-841', 'the last 100 lines of all that ran in it'],
      ['logs -f --tenant acme --level warn', 'follow what goes wrong at a tenant’s'],
      ['logs -f sess-841 run-7ke0', 'come back to a run'],
    ],
    async run(context, { follow = false, tenant, within, search, level, source, limit = 100, reason }, ...named) {
      const [id, run] = named;
      const { client, signal } = context;
      if ((id === undefined) === (tenant === undefined))
        throw new CliError('usage', 'Name a sandbox or, with --tenant, a tenant.');
      if (id === undefined || run === undefined) {
        const since = within === undefined ? undefined : Date.now() / 1000 - within;
        const query = { since, q: search, level, source, limit, reason };
        const onLost = () => context.note('winterdock: the connection broke; it is made again.');
        if (follow) {
          const events =
            id === undefined
              ? client.followTenantLogs(tenant ?? '', query, { signal, onLost })
              : client.followInstanceLogs(id, query, { signal, onLost });
          return printFollowed(context, events, id === undefined);
        }
        const page =
          id === undefined
            ? client.listTenantLogs(tenant ?? '', query, { signal })
            : client.listInstanceLogs(id, query, { signal });
        return printLines(context, page, id === undefined);
      }
      if (context.json) {
        const output = await client.getRunOutput(id, run, { limit: READ_BYTES }, { signal });
        context.print(output, () => '');
      } else if (follow) context.exitWith(exitOf(await followOutput(context, id, run)));
      else await printOutput(context, id, run);
    },
  });

  addCommand(program, 'stop-run <id> <run>', {
    summary: 'stop a run',
    description: 'What its commands wrote until then stays.',
    examples: [['stop-run sess-841 run-7ke0', 'one that has ended stays as it is']],
    async run({ client, print, signal }, _options, id: string, run: string) {
      const stopped = await client.stopRun(id, run, { signal });
      print(stopped, () => runFacts(stopped));
    },
  });
}
