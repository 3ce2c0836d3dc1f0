/** `workbook call`: runs a component or a workflow in a sandbox, and shows what it does. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { ComponentCallAnswer, WorkflowCallAnswer } from '../../contract/schema.ts';
import { addCommand, type CommandContext, parseSeconds } from '../command.ts';
import { CliError } from '../failure.ts';
import { millisecondsText, printable } from '../format.ts';
import { readStdinBytes } from '../prompt.ts';
import { wokeText } from '../woke-text.ts';

interface CallFlags {
  input?: string;
  world?: string;
  timeout?: number;
  verbose?: boolean;
}

/** The input as an object: JSON, `@file`, or `-` for standard input. */
async function inputOf(given: string | undefined): Promise<Record<string, unknown> | undefined> {
  if (given === undefined) return undefined;
  const text =
    given === '-'
      ? (await readStdinBytes()).toString()
      : given.startsWith('@')
        ? readFileSync(given.slice(1), 'utf8')
        : given;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CliError('usage', 'The input is not JSON.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new CliError('usage', 'The input must be an object: the inputs by their names.');
}

const outputText = (value: unknown) => (value === undefined ? '' : `${JSON.stringify(value, null, 2)}\n`);

type Answer = ComponentCallAnswer | WorkflowCallAnswer;

/** Its exit code: 124 when time ran out, 1 when a component failed. */
function exitOf(answer: Answer): number {
  if (answer.timed_out) return 124;
  const failed = 'components' in answer ? answer.components.some(({ state }) => state !== 'done') : answer.error;
  return failed ? 1 : 0;
}

async function follow(
  context: CommandContext,
  flags: CallFlags,
  id: string,
  component: string | undefined,
): Promise<Answer> {
  const { client, signal, json, note } = context;
  const input = await inputOf(flags.input);
  const call = { input, timeout_ms: flags.timeout === undefined ? undefined : flags.timeout * 1000 };
  const isWorkflow = component === undefined;
  const events = isWorkflow
    ? client.callWorkflowStream(id, { ...call, world: flags.world }, { signal })
    : client.callComponentStream(id, component, call, { signal });
  for await (const event of events) {
    if (event.event === 'result') {
      const { event: _, ...answer } = event;
      return answer;
    }
    if (json) continue;
    if (event.event === 'log') process.stderr.write(event.text);
    else if (event.event === 'woke' && flags.verbose === true) note(wokeText(id, event.woke, event.took_ms));
    else if (event.event === 'component' && isWorkflow) {
      const why = event.error?.message ?? event.because;
      const took = event.state === 'skipped' ? '' : ` in ${millisecondsText(event.took_ms)}`;
      note(`${event.path} ${event.state}${took}${why === undefined ? '' : `: ${printable(why)}`}`);
    }
  }
  throw new CliError('network', 'The call ended without a result.');
}

export function addWorkbookCallCommand(workbook: Command): void {
  addCommand<CallFlags>(workbook, 'call <sandbox> [component]', {
    summary: 'run a component of a sandbox’s workbook, or a whole workflow',
    description:
      'Prints the output as JSON; what components print goes to stderr as it comes. Without a component the whole workflow runs. Exits with 1 when a component failed, with 124 when its time ran out.',
    options: (command) =>
      command
        .option('--input <json>', 'the inputs by their names, as an object; @FILE, or - for stdin')
        .option('--world <name>', 'the workflow to run, by name or path, where there are several')
        .option('--timeout <duration>', 'end it after so long, such as 30s', parseSeconds)
        .option('--verbose', 'say on stderr whether it had to be woken, and how long that took'),
    examples: [
      [`workbook call sess-841 count --input '{"by": 2}'`, 'one component'],
      ['workbook call sess-841 etl/load/check', 'one by its path'],
      ['workbook call sess-841 --world etl --input @input.json', 'a workflow'],
    ],
    async run(context, flags, id: string, component?: string) {
      if (component !== undefined && flags.world !== undefined)
        throw new CliError('usage', 'Name a component or a workflow, not both.');
      const answer = await follow(context, flags, id, component);
      const value = 'components' in answer ? answer.outputs : answer.output;
      context.print(answer, () => outputText(value));
      if (!('components' in answer) && answer.error !== undefined) context.note(printable(answer.error.message));
      if (answer.timed_out) context.note('winterdock: its time ran out.');
      context.exitWith(exitOf(answer));
    },
  });
}
