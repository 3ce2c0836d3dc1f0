/** Commands that may print without an end: `yes`, `seq`, and what reads a device. */
import { randomBytes } from 'node:crypto';
import type { CommandContext } from 'just-bash';
import { MAX_STREAM_BYTES } from '../../../workers/protocol/output.ts';
import { refuses } from '../declared-uses.ts';
import { BROKEN_PIPE_EXIT } from '../pipes.ts';
import { type CommandCall, marked, type OwnCommand } from './own-command.ts';

/** Bytes that are printed before the reader is asked for the first time: what a pipe holds, and as much again. */
const FIRST_BYTES = 128 * 1024;
const GROWTH = 4;
/** The longest output of a device, or of a producer without an end, in front of `head`. */
export const MAX_CUT_BYTES = 16 * 1024 * 1024;
/** The longest output for a reader that takes all of it. */
export const MAX_DEVICE_BYTES = 64 * 1024 * 1024;
const STOPPED_EXIT = 1;
const INTEGER = /^[+-]?\d+$/;

/** What a device without an end gives; null for any other path. */
export function endlessBytes(path: string): ((bytes: number) => Buffer) | null {
  if (path === '/dev/zero' || path === '/dev/full') return (bytes) => Buffer.alloc(bytes);
  const isRandom = path === '/dev/urandom' || path === '/dev/random';
  return isRandom && !refuses('random') ? randomBytes : null;
}

/** The same of an operand, whose standard input may be such a device. */
export function deviceOf(call: CommandCall, operand: string): ((bytes: number) => Buffer) | null {
  const { endlessInput = '-' } = call.context as CommandContext & { endlessInput?: string };
  return endlessBytes(operand === '-' || operand === '/dev/stdin' ? endlessInput : call.path(operand));
}

/**
 * Prints until the reader has enough, at most as much as a call may print, or `MAX_CUT_BYTES` in front of `head`.
 * Returns the exit code: as by SIGPIPE, or
 * `STOPPED_EXIT` when a reader in the script wants more.
 */
export async function printEndless(call: CommandCall, more: (bytes: number) => Buffer): Promise<number> {
  let printed = 0;
  const hasReader = call.outlet?.live === false;
  const limit = hasReader && call.outlet.isCut ? MAX_CUT_BYTES : MAX_STREAM_BYTES;
  for (let most = hasReader ? FIRST_BYTES : limit; ; most *= GROWTH) {
    const bytes = more(Math.min(most, limit) - printed);
    call.print(bytes);
    printed += bytes.length;
    if (await isBroken(call, most >= limit)) return BROKEN_PIPE_EXIT;
    // What a caller reads says itself that it was cut.
    const isCaller = call.outlet?.live === true && !call.outlet.isPiped;
    if (most >= limit) return isCaller ? BROKEN_PIPE_EXIT : STOPPED_EXIT;
  }
}

async function isBroken(call: CommandCall, last = false): Promise<boolean> {
  return call.outlet?.live === false && (await call.outlet.isBroken(call.printed, last));
}

export const yes: OwnCommand = {
  async main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    const line = Buffer.from(`${operands.length > 0 ? operands.join(' ') : 'y'}\n`);
    const exitCode = await printEndless(call, (bytes) =>
      Buffer.alloc(Math.max(1, Math.floor(bytes / line.length)) * line.length, line),
    );
    if (exitCode === STOPPED_EXIT) call.fail(`it has no end, ${call.printed.length} bytes were written`);
    return exitCode;
  },
};

/** One directive for a real number, among text. */
const FORMAT = /^(?:[^%]|%%)*%[-+ 0#']*\d*(?:\.\d+)?[efgEG](?:[^%]|%%)*$/;

/** `seq -f FORMAT …`: the numbers of just-bash's `seq`, written by `printf`. */
async function printFormatted(call: CommandCall): Promise<number> {
  // A negative number looks like an option.
  const numberAt = call.args.findIndex((arg) => /^-[\d.]/.test(arg));
  if (numberAt !== -1 && !call.args.includes('--')) call.args.splice(numberAt, 0, '--');
  const { options, operands } = call.options({
    letters: 'f:s:w',
    long: { 'equal-width': 'w', 'format=': 'f', 'separator=': 's' },
  });
  const last = (key: string) => options.findLast((option) => option.key === key)?.value;
  const format = last('f') ?? '%g';
  if (options.some(({ key }) => key === 'w'))
    call.usage('format string may not be specified when printing equal width strings');
  if (!FORMAT.test(format)) call.end(`format ${marked(format)} is not one directive for a number, as %g, %.2f or %03g`);
  const numbers = await call.context.origCommand?.([...operands]);
  if (numbers === undefined || numbers.exitCode !== 0)
    call.end(numbers?.stderr.trim().replace(/^seq: /, '') ?? 'no numbers');
  const lines = numbers.stdout.split('\n').slice(0, -1);
  if (lines.length === 0) return 0;
  const { stdout } = await call.execute(['printf', `${format}\n`, ...lines]);
  call.print(`${stdout.slice(0, -1).replaceAll('\n', last('s') ?? '\n')}\n`);
  return 0;
}

/** Whole numbers, and formats. All else is printed by just-bash's `seq`, which counts to two millions at most. */
export const seq: OwnCommand = {
  async main(call: CommandCall) {
    const { args } = call;
    if (args.some((arg) => /^(?:-[sw]*f|--f)/.test(arg))) return printFormatted(call);
    const isPlain = args.length >= 1 && args.length <= 3 && args.every((arg) => INTEGER.test(arg));
    const numbers = args.map(Number);
    const [first = 1, last = 1] = numbers.length === 1 ? [1, numbers[0]] : [numbers[0], numbers.at(-1)];
    const step = numbers.length === 3 ? (numbers[1] ?? 1) : 1;
    if (!isPlain || step === 0 || !numbers.every(Number.isSafeInteger)) return call.runOriginal();
    let lines: string[] = [];
    let [waiting, next] = [0, FIRST_BYTES];
    for (let number = first; step > 0 ? number <= last : number >= last; number += step) {
      const line = `${number}\n`;
      lines.push(line);
      waiting += line.length;
      if (waiting < next) continue;
      await call.turn();
      call.print(lines.join(''));
      if (await isBroken(call)) return BROKEN_PIPE_EXIT;
      if (call.printed.length > MAX_DEVICE_BYTES) call.end('the output is too large for a pipeline');
      next = Math.max(FIRST_BYTES, call.printed.length);
      lines = [];
      waiting = 0;
    }
    call.print(lines.join(''));
    return 0;
  },
};
