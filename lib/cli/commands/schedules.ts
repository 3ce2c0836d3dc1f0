/** `schedule`: what runs in a sandbox by itself, when, and how it went. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { carriedOver, epochOf, isTimeZone } from '../../base/zoned-time.ts';
import type { CreateScheduleInput, Schedule, ScheduleRun } from '../../contract/schema.ts';
import { choice } from '../choice.ts';
import { addCommand, type CommandContext, parseSeconds } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { facts, millisecondsText, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';

/** Milliseconds between looks at a run that is waited for. */
const LOOK_MS = 250;

interface AddOptions {
  cron?: string;
  at?: string;
  repeat?: string;
  timezone?: string;
  component?: string;
  input?: string;
  missed?: Schedule['missed'];
  timeout?: number;
  paused?: boolean;
}

const when = (time: number | null) => (time === null ? '–' : timeText(time));
const timing = ({ cron, at, repeat }: Schedule) => cron ?? [when(at), repeat].filter(Boolean).join(' ');
const action = ({ command, component }: Schedule) => command ?? component ?? '(hidden)';

function stateOf({ paused, resting, failures, next_at: next }: Schedule): string {
  if (resting) return 'resting';
  if (paused) return 'paused';
  if (failures > 0) return `failing (${failures})`;
  return next === null ? 'over' : 'on';
}

function scheduleFacts(schedule: Schedule): string {
  return facts([
    ['id', schedule.id],
    ['when', `${timing(schedule)} ${schedule.timezone}`],
    ['runs', action(schedule)],
    ['missed', schedule.missed],
    ['timeout', schedule.timeout_ms === null ? null : millisecondsText(schedule.timeout_ms)],
    ['state', stateOf(schedule)],
    ['next', schedule.next_at === null ? null : timeText(schedule.next_at)],
    ['last', schedule.last_at === null ? null : `${timeText(schedule.last_at)} ${schedule.last_result}`],
    ['fault', schedule.fault],
    ['by', schedule.source === 'workbook' ? 'the workbook' : null],
  ]);
}

function runFacts(run: ScheduleRun): string {
  return facts([
    ['id', run.id],
    ['result', run.result ?? 'runs'],
    ['exit', run.exit_code === null ? null : String(run.exit_code)],
    ['took', run.took_ms === null ? null : millisecondsText(run.took_ms)],
    ['woke', run.woke],
    ['error', run.error],
  ]);
}

const WALL = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?$/;

/** Epoch seconds of an ISO time, or of a whole number of them. A time without an offset is that of the zone. */
function parseTime(text: string, zone: string): number {
  const wrong = new CliError('usage', `"${text}" is not a time such as 2026-11-24T03:00:00Z.`);
  const wall = WALL.exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (wall === undefined) {
    const seconds = /^\d{9,12}$/.test(text) ? Number(text) : Date.parse(text) / 1000;
    if (Number.isNaN(seconds)) throw wrong;
    return Math.floor(seconds);
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = wall;
  const isTime = carriedOver({ year, month, day, hour, minute, second }).day === day && hour < 24 && minute < 60;
  if (!isTime || month > 12 || second > 59) throw wrong;
  if (!isTimeZone(zone)) throw new CliError('usage', `There is no time zone "${zone}": write it as Europe/Berlin.`);
  return epochOf({ year, month, day, hour, minute, second }, zone);
}

function inputOf(command: string | undefined, options: AddOptions): CreateScheduleInput {
  const { at, input, ...rest } = options;
  const { cron, repeat, timezone, component, missed, paused, timeout } = rest;
  let parsed: unknown;
  try {
    parsed = input === undefined ? undefined : JSON.parse(input);
  } catch {
    throw new CliError('usage', 'The input is not JSON.');
  }
  if (parsed !== undefined && (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))) {
    throw new CliError('usage', 'The input is not a JSON object.');
  }
  const times = { cron, repeat, timezone, ...(at === undefined ? {} : { at: parseTime(at, timezone ?? 'UTC') }) };
  const timeoutMs = timeout === undefined ? {} : { timeout_ms: timeout * 1000 };
  return {
    ...times,
    ...timeoutMs,
    command,
    component,
    missed,
    paused,
    ...(parsed ? { input: parsed as object as never } : {}),
  };
}

/** Waits for the end of a run. */
async function waitForRun(
  { client, signal }: CommandContext,
  sandbox: string,
  schedule: string,
  run: ScheduleRun,
): Promise<ScheduleRun> {
  for (;;) {
    const { items } = await client.listScheduleRuns(sandbox, schedule, { limit: 20 }, { signal });
    const found = items.find(({ id }) => id === run.id);
    if (found === undefined) throw new CliError('conflict', 'The run is no longer in the history.');
    if (found.result !== null) return found;
    await pause(LOOK_MS, undefined, { signal });
  }
}

export function addScheduleCommands(program: Command): void {
  const schedules = program
    .command('schedule')
    .summary('run things in a sandbox at their times')
    .description(
      'Run commands and components in a sandbox at their times. A firing wakes it; an archived one’s schedules rest.',
    );

  addCommand<ListOptions>(schedules, 'list <sandbox>', {
    summary: 'list the schedules of a sandbox',
    options: (command) => listOptions(command, 100),
    examples: [['schedule list sess-841', 'what runs in it by itself, and when next']],
    async run(context, options, sandbox: string) {
      await printList(context, options, {
        read: (limit) => context.client.listSchedules(sandbox, { limit }, { signal: context.signal }),
        headings: ['ID', 'WHEN', 'ZONE', 'STATE', 'NEXT', 'LAST', 'RUNS'],
        row: (one) => [
          one.id,
          timing(one),
          one.timezone,
          stateOf(one),
          when(one.next_at),
          one.last_result ?? '–',
          action(one),
        ],
        none: 'No schedules.',
      });
    },
  });

  addCommand<AddOptions, [string, string | undefined]>(schedules, 'add <sandbox> [command]', {
    summary: 'schedule a command or a component',
    description: 'Give --cron, or --at with or without --repeat; and a command, or --component.',
    options: (command) =>
      command
        .option('--cron <expression>', 'five fields, or six with the seconds first')
        .option('--at <time>', 'once, at this time: 2026-11-24T03:00:00Z, or without the Z in --timezone')
        .option('--repeat <repeater>', 'with --at: again as org repeats, for example +1d, ++1w or .+2h')
        .option('--timezone <name>', 'of the expression or the time, for example Europe/Berlin (default: UTC)')
        .option('--component <path>', 'instead of a command: this component or world of its workbook')
        .option('--input <json>', 'with --component: its input, an object')
        .option(
          '--timeout <duration>',
          'end a run after so long, such as 30s (default: what its policy allows)',
          parseSeconds,
        )
        .addOption(
          choice('--missed <policy>', 'times at which the server did not run (default: skip)', ['skip', 'once', 'all']),
        )
        .option('--paused', 'do not begin yet'),
    examples: [
      ['schedule add sess-841 --cron "0 3 * * *" --timezone Europe/Berlin "sh nightly.sh"', 'every night'],
      ['schedule add sess-841 --cron "*/10 * * * *" --component main/poll --input \'{"limit":10}\'', 'a component'],
    ],
    async run({ client, print, signal }, options, sandbox, command) {
      const made = await client.createSchedule(sandbox, inputOf(command, options), { signal });
      print(made, () => scheduleFacts(made));
    },
  });

  for (const [verb, paused, summary] of [
    ['pause', true, 'pause a schedule'],
    ['resume', false, 'let a paused schedule go on'],
  ] as const) {
    addCommand(schedules, `${verb} <sandbox> <schedule>`, {
      summary,
      description: 'Times that pass while it is paused are not made up for.',
      examples: [[`schedule ${verb} sess-841 sched-7`, 'whether its workbook or somebody made it']],
      async run({ client, print, signal }, _options, sandbox: string, schedule: string) {
        const changed = await client.patchSchedule(sandbox, schedule, { paused }, { signal });
        print(changed, () => scheduleFacts(changed));
      },
    });
  }

  addCommand<{ wait: boolean }>(schedules, 'run <sandbox> <schedule>', {
    summary: 'run a schedule now',
    description: 'Its times stay. Waits for the end; exits with 5 when it failed or was lost.',
    options: (command) => command.option('--no-wait', 'do not wait for its end'),
    examples: [['schedule run sess-841 sched-7', 'try it without waiting for the night']],
    async run(context, { wait }, sandbox: string, schedule: string) {
      const begun = await context.client.runSchedule(sandbox, schedule, { signal: context.signal });
      const run = wait ? await waitForRun(context, sandbox, schedule, begun) : begun;
      context.print(run, () => runFacts(run));
      if (run.result === 'failed' || run.result === 'lost') context.exitWith(exitCode('conflict'));
    },
  });

  addCommand(schedules, 'remove <sandbox> <schedule>', {
    summary: 'remove a schedule and its history',
    examples: [['schedule remove sess-841 sched-7', 'a run under way goes on']],
    async run({ client, print, signal }, _options, sandbox: string, schedule: string) {
      await client.deleteSchedule(sandbox, schedule, { signal });
      print({ id: schedule }, () => `${schedule} is removed.\n`);
    },
  });

  addCommand<ListOptions>(schedules, 'history <sandbox> <schedule>', {
    summary: 'list the last runs of a schedule, newest first',
    options: (command) => listOptions(command, 20),
    examples: [['schedule history sess-841 sched-7 --all', 'the last hundred']],
    async run(context, options, sandbox: string, schedule: string) {
      await printList(context, options, {
        read: (limit) => context.client.listScheduleRuns(sandbox, schedule, { limit }, { signal: context.signal }),
        headings: ['RUN', 'DUE', 'BEGAN', 'RESULT', 'TOOK', 'WHY'],
        row: (run) => [
          run.id,
          run.planned_at === null ? 'asked for' : timeText(run.planned_at),
          timeText(Math.floor(run.started_ms / 1000)),
          run.result ?? 'runs',
          run.took_ms === null ? '–' : millisecondsText(run.took_ms),
          run.error ?? '',
        ],
        none: 'It has not run yet.',
      });
    },
  });
}
