/** `wait`: ends when a sandbox or a run is as it should be. Looks, and wakes nothing. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiError, type Instance } from '../../client/client.ts';
import { isState, STATES } from '../../lifecycle/state-map.ts';
import { addCommand, type CommandContext, parseSeconds } from '../command.ts';
import { CliError } from '../failure.ts';

/** Milliseconds between looks. */
const LOOK_MS = 500;

/** Whether it is so now, what is there, and that in words. */
interface Look {
  isSo: boolean;
  value: unknown;
  words: string;
}

/** Conditions besides the states, on the row of a sandbox. */
const CONDITIONS: Readonly<Record<string, (instance: Instance) => boolean>> = {
  hot: ({ thermal }) => thermal === 'hot',
  warm: ({ thermal }) => thermal === 'warm',
  cold: ({ thermal }) => thermal === 'cold',
  idle: ({ calls, pending }) => calls === 0 && pending === null,
  faulted: ({ fault }) => fault !== null,
  healthy: ({ fault }) => fault === null,
};

/** Everything that can be waited for, but for runs. */
export const WAIT_CONDITIONS: readonly string[] = [...STATES, ...Object.keys(CONDITIONS)];

const KNOWN = `a state, ${Object.keys(CONDITIONS).join(', ')}, or run=ID`;

/** The look that a condition needs. Throws a usage error for one that is not known. */
function lookFor({ client, signal }: CommandContext, id: string, condition: string): () => Promise<Look> {
  const run = /^run=(.+)$/.exec(condition)?.[1];
  if (run !== undefined) {
    return async () => {
      const found = await client.getRun(id, run, { signal });
      const isSo = found.state !== 'queued' && found.state !== 'running';
      return { isSo, value: found, words: `${run} of ${id} is ${found.state}` };
    };
  }
  const test = CONDITIONS[condition] ?? (isState(condition) ? ({ state }: Instance) => state === condition : null);
  if (test === null) throw new CliError('usage', `"${condition}" is nothing to wait for.`, `Wait for ${KNOWN}.`);
  return async () => {
    try {
      const found = await client.getInstance(id, { signal });
      return { isSo: test(found), value: found, words: `${id} is ${found.state}, ${found.thermal}` };
    } catch (error) {
      if (condition !== 'deleted' || !(error instanceof ApiError) || error.code !== 'gone') throw error;
      return { isSo: true, value: { id, state: 'deleted' }, words: `${id} is deleted` };
    }
  };
}

/** Waits for the next look, at most until `end`. False when that is over. */
async function pauseUntil(end: number, signal: AbortSignal): Promise<boolean> {
  const left = end - Date.now();
  if (left <= 0) return false;
  await pause(Math.min(LOOK_MS, left), undefined, { signal }).catch(() => {
    throw signal.reason;
  });
  return true;
}

export function addWaitCommand(program: Command): void {
  addCommand<{ for: string; timeout?: number }>(program, 'wait <id>', {
    summary: 'wait until a sandbox or a run is as it should be',
    description: `Waits for ${KNOWN} (which is over, however it ended; \`logs -f\` has its exit code). Wakes nothing. Exits with 124 when the time is over.`,
    options: (command) =>
      command
        .requiredOption('--for <condition>', 'what to wait for')
        .option('--timeout <duration>', 'at most so long, such as 5m (default: for ever)', parseSeconds),
    examples: [
      ['wait sess-841 --for suspended --timeout 20m', 'until it fell asleep'],
      ['wait sess-841 --for idle', 'until no call runs in it'],
      ['wait sess-841 --for run=run-7ke0', 'until that is over'],
    ],
    async run(context, options, id: string) {
      const look = lookFor(context, id, options.for);
      const end = options.timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.timeout * 1000;
      for (;;) {
        const { isSo, value, words } = await look();
        if (isSo) return context.print(value, () => `${words}.\n`);
        if (!(await pauseUntil(end, context.signal)))
          throw new CliError('timeout', `After ${options.timeout} s ${words}.`);
      }
    },
  });
}
