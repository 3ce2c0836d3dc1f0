/** `sleep`, `timeout` and `yes`. */
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_STREAM_BYTES } from '../output.ts';
import { type CommandCall, marked, type OwnCommand } from './own-command.ts';

const SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };
/** The longest time of a timer, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;
const TIMED_OUT_EXIT = 124;
const FAILED_EXIT = 125;
/** 128 and the number of the signal that ended a program. */
const [KILLED_EXIT, TERMINATED_EXIT, BROKEN_PIPE_EXIT] = [137, 143, 141];

/** A duration in milliseconds; null when it is none. */
function durationMs(text: string): number | null {
  if (/^\+?inf(?:inity)?[smhd]?$/i.test(text)) return LONGEST_MS;
  const found = /^(\d+(?:\.\d*)?|\.\d+)([smhd]?)$/.exec(text);
  return found === null ? null : Math.min(Number(found[1]) * (SECONDS[found[2] ?? ''] ?? 1) * 1000, LONGEST_MS);
}

export const sleep: OwnCommand = {
  async main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    if (operands.length === 0) call.usage('missing operand');
    const times = operands.map((operand) => {
      const time = durationMs(operand);
      if (time === null) call.usage(`invalid time interval ${marked(operand)}`);
      return time ?? 0;
    });
    try {
      const total = Math.min(
        times.reduce((sum, time) => sum + time, 0),
        LONGEST_MS,
      );
      await pause(total, undefined, { signal: call.signal });
      return 0;
    } catch {
      // The call, or the timeout around it, has ended.
      return TIMED_OUT_EXIT;
    }
  },
};

/**
 * Runs a command that is given a time. The commands of the shell look at the time between each other; the longest of
 * them, as a search, also inside.
 */
export const timeout: OwnCommand = {
  usageExit: FAILED_EXIT,
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'k:s:v',
      long: {
        foreground: 'foreground',
        'kill-after=': 'k',
        'preserve-status': 'preserve',
        'signal=': 's',
        verbose: 'v',
      },
      stopAtOperand: true,
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const signal = options.findLast(({ key }) => key === 's')?.value ?? 'TERM';
    const [duration, ...command] = operands;
    if (duration === undefined || command.length === 0) call.usage('missing operand');
    const time = durationMs(duration);
    if (time === null) call.usage(`invalid time interval ${marked(duration)}`);
    const kills = /^(?:SIG)?KILL$|^9$/i.test(signal);
    if (call.requireProgram(command[0] ?? '', 'failed to run command')) return call.exitCode;
    const ended = await call.runFor(command, time === 0 ? LONGEST_MS : time);
    if (!ended.timedOut) return ended.exitCode;
    if (has('v')) call.warn(`timeout: sending signal ${signal.toUpperCase()} to command ${marked(command[0] ?? '')}\n`);
    if (kills) return KILLED_EXIT;
    return has('preserve') ? TERMINATED_EXIT : TIMED_OUT_EXIT;
  },
};

/**
 * Prints as much as a call may print, and ends as a program does whose reader has gone: a stage of a pipeline runs
 * after the one before it.
 */
export const yes: OwnCommand = {
  main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    const line = `${operands.length > 0 ? operands.join(' ') : 'y'}\n`;
    const bytes = Buffer.from(line);
    call.print(Buffer.alloc(Math.max(1, Math.floor(MAX_STREAM_BYTES / bytes.length)) * bytes.length, bytes));
    return BROKEN_PIPE_EXIT;
  },
};
