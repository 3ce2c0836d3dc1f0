/** `sleep` and `timeout`. */
import { setTimeout as pause } from 'node:timers/promises';
import { TIMED_OUT_EXIT } from '../../../workers/protocol/call.ts';
import { ACTION_MS, isStopSignal } from '../../../workers/protocol/stop-signals.ts';
import { type CommandCall, marked, type OwnCommand } from './own-command.ts';

const SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };
/** The longest time of a timer, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;
const FAILED_EXIT = 125;
/** With the number of the signal that ended a program. */
const SIGNALLED_EXIT = 128;
const KILL = 9;
/** The signals of Linux by number, from 1 on. */
const SIGNALS =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
    ' ',
  );

/** A duration in milliseconds; null when it is none. */
function durationMs(text: string): number | null {
  if (/^\+?inf(?:inity)?[smhd]?$/i.test(text)) return LONGEST_MS;
  const found = /^((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)([smhd]?)$/.exec(text);
  return found === null ? null : Math.min(Number(found[1]) * (SECONDS[found[2] ?? ''] ?? 1) * 1000, LONGEST_MS);
}

/** The number of a signal by its name or number; null when there is none. */
function signalNumber(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text) <= 64 ? Number(text) : null;
  const at = SIGNALS.indexOf(text.toUpperCase().replace(/^SIG/, ''));
  return at === -1 ? null : at + 1;
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
      if (call.outlet?.live === false) call.outlet.slept();
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
    const number = signalNumber(signal);
    if (number === null) call.usage(`${marked(signal)}: invalid signal`);
    const killAfter = options.findLast(({ key }) => key === 'k')?.value;
    if (typeof killAfter === 'string' && durationMs(killAfter) === null)
      call.usage(`invalid time interval ${marked(killAfter)}`);
    if (call.requireProgram(command[0] ?? '', 'failed to run command')) return call.exitCode;
    const name = SIGNALS[(number ?? 0) - 1] ?? '0';
    const ended = await call.runFor(command, time === 0 ? LONGEST_MS : time, {
      signal: isStopSignal(name) ? name : null,
      actionMs: Math.min(typeof killAfter === 'string' ? (durationMs(killAfter) ?? ACTION_MS) : ACTION_MS, ACTION_MS),
    });
    if (!ended.timedOut) return ended.exitCode;
    if (has('v')) {
      call.warn(`timeout: sending signal ${name} to command ${marked(command[0] ?? '')}\n`);
    }
    if (ended.wasKilled && killAfter !== undefined) return SIGNALLED_EXIT + KILL;
    if (has('preserve') && ended.endedItself) return ended.exitCode;
    return number === KILL || has('preserve') ? SIGNALLED_EXIT + (number ?? 0) : TIMED_OUT_EXIT;
  },
};
