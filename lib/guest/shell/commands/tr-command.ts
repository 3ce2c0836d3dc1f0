/**
 * `tr`, whose sets are of bytes, as GNU's are: of a character of several bytes each stands for itself. Calls with
 * classes of equivalents or repeats go to just-bash's own, which works on characters.
 */
import type { Command, CommandContext, ExecResult } from 'just-bash';
import { defineCommand, latin1FromBytes } from '../bash.ts';
import type { Outlet } from '../outlets.ts';
import { BROKEN_PIPE_EXIT, type Pipe } from '../pipes.ts';
import { endlessBytes, MAX_CUT_BYTES } from './producers.ts';

const OCTAL = /\\[0-7]/;
/** Without classes of equivalents and repeats. */
const PLAIN = /^(?!.*\[(?:=.=\]|.\*))/s;
const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };
const BYTES = 256;
/** Bytes of a device without an end that are read first, at once, and in all. */
const [PART_BYTES, MAX_PART_BYTES, MAX_READ_BYTES] = [2 ** 20, 2 ** 23, 2 ** 28];

const between = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const [DIGITS, UPPER, LOWER] = [between(48, 57), between(65, 90), between(97, 122)];
const PUNCTUATION = [...between(33, 47), ...between(58, 64), ...between(91, 96), ...between(123, 126)];
const CLASSES: Readonly<Record<string, readonly number[]>> = {
  alnum: [...DIGITS, ...UPPER, ...LOWER],
  alpha: [...UPPER, ...LOWER],
  blank: [9, 32],
  cntrl: [...between(0, 31), 127],
  digit: DIGITS,
  graph: between(33, 126),
  lower: LOWER,
  print: between(32, 126),
  punct: PUNCTUATION,
  space: [...between(9, 13), 32],
  upper: UPPER,
  xdigit: [...DIGITS, ...between(65, 70), ...between(97, 102)],
};

/** Creates the command. */
export function trCommand(): Command {
  return defineCommand('tr', async (args, context) => {
    const sets = args.filter((arg) => !/^-./.test(arg));
    const inBytes = sets.some((set) => OCTAL.test(set)) || sets.every((set) => PLAIN.test(set));
    if (!inBytes && context.origCommand) return context.origCommand(args);
    return byBytes(args, sets, context);
  });
}

async function byBytes(args: string[], sets: string[], context: CommandContext): Promise<ExecResult> {
  const options = args.filter((arg) => /^-./.test(arg) && arg !== '--').map(shortOf);
  const has = (letters: string) => options.some((option) => [...letters].some((letter) => option.includes(letter)));
  const unknown = options.find((option) => !/^[cCdst]+$/.test(option));
  const [first, second, ...more] = sets.map(bytesOfSet);
  const wanted = has('d') === has('s') ? 2 : 1;
  if (unknown !== undefined) return failed(`invalid option -- '${unknown}'`);
  if (first === undefined || (second === undefined && wanted === 2)) return failed('missing operand');
  if (more.length > 0 || (second !== undefined && has('d') && !has('s'))) return failed('extra operand');
  if (first === null || second === null) return failed('a range or class of its sets is not valid');
  const from = has('cC') ? between(0, BYTES - 1).filter((byte) => !first.includes(byte)) : first;
  const change = (input: Buffer) => {
    const changed = has('d')
      ? without(input, from)
      : second === undefined
        ? input
        : mapped(input, from, second, has('t'));
    return has('s') ? squeezed(changed, second ?? from) : changed;
  };
  const { endlessInput, pipe } = context as CommandContext & { endlessInput?: string; pipe?: Outlet };
  const device = endlessInput === undefined ? null : endlessBytes(endlessInput);
  if (device !== null && pipe?.live === false) return changedUntilEnough(device, change, pipe);
  const output = change(Buffer.from(latin1FromBytes(context.stdin), 'latin1'));
  return { stdout: output.toString('latin1'), stdoutKind: 'bytes', stderr: '', exitCode: 0 };
}

/** As much of a device without an end as the reader takes, or, with a sentence, what there may be of it. */
async function changedUntilEnough(
  device: (bytes: number) => Buffer,
  change: (input: Buffer) => Buffer,
  pipe: Pipe,
): Promise<ExecResult> {
  let read = PART_BYTES;
  let output = change(device(read));
  let isBroken = await pipe.isBroken(output, true);
  while (!isBroken && output.length < MAX_CUT_BYTES && read < MAX_READ_BYTES) {
    const bytes = Math.min(read, MAX_PART_BYTES);
    output = Buffer.concat([output, change(device(bytes))]);
    read += bytes;
    isBroken = await pipe.isBroken(output, true);
  }
  const stdout = { stdout: output.toString('latin1'), stdoutKind: 'bytes' } as const;
  return isBroken
    ? { ...stdout, stderr: '', exitCode: BROKEN_PIPE_EXIT }
    : { ...failed(`its input has no end, ${read} bytes were read`), ...stdout };
}

function shortOf(option: string): string {
  const long: Readonly<Record<string, string>> = {
    complement: 'c',
    delete: 'd',
    'squeeze-repeats': 's',
    'truncate-set1': 't',
  };
  return option.startsWith('--') ? (long[option.slice(2)] ?? option) : option.slice(1);
}

function failed(why: string): ExecResult {
  return { stdout: '', stderr: `tr: ${why}\n`, exitCode: 1 };
}

function without(input: Buffer, set: readonly number[]): Buffer {
  const gone = new Uint8Array(BYTES);
  for (const byte of set) gone[byte] = 1;
  const left = Buffer.alloc(input.length);
  let end = 0;
  for (const byte of input) {
    if (gone[byte] === 1) continue;
    left[end] = byte;
    end += 1;
  }
  return left.subarray(0, end);
}

/** Maps bytes of one set to the other. The last byte of the second set is used for the rest of a longer first set. */
function mapped(input: Buffer, from: readonly number[], to: readonly number[], truncate: boolean): Buffer {
  const table = between(0, BYTES - 1);
  const last = to.at(-1);
  from.slice(0, truncate ? to.length : from.length).forEach((byte, at) => {
    table[byte] = to[at] ?? last ?? byte;
  });
  return Buffer.from(input.map((byte) => table[byte] ?? byte));
}

function squeezed(input: Buffer, set: readonly number[]): Buffer {
  const repeated = new Set(set);
  return input.filter((byte, at) => byte !== input[at - 1] || !repeated.has(byte)) as Buffer;
}

/** The bytes of a set in order; null when the set is not valid. */
function bytesOfSet(set: string): number[] | null {
  const content = Buffer.from(set).toString('latin1');
  const bytes: number[] = [];
  for (let at = 0; at < content.length; ) {
    const named = /^\[:(\w+):\]/.exec(content.slice(at));
    if (named) {
      const known = CLASSES[named[1] ?? ''];
      if (known === undefined) return null;
      bytes.push(...known);
      at += named[0].length;
      continue;
    }
    const one = byteAt(content, at);
    const range = content[one.next] === '-' && one.next + 1 < content.length ? byteAt(content, one.next + 1) : null;
    if (range !== null && range.byte < one.byte) return null;
    bytes.push(...between(one.byte, range?.byte ?? one.byte));
    at = range?.next ?? one.next;
  }
  return bytes;
}

/** The byte at an offset of a set, and the offset of the next one. */
function byteAt(content: string, at: number): { byte: number; next: number } {
  const octal = /^\\([0-3]?[0-7]{1,2})/.exec(content.slice(at));
  if (octal) return { byte: Number.parseInt(octal[1] ?? '', 8), next: at + octal[0].length };
  const escaped = content[at] === '\\' && at + 1 < content.length;
  const character = content[escaped ? at + 1 : at] ?? '';
  const byte = (escaped ? ESCAPES[character] : undefined) ?? character.charCodeAt(0);
  return { byte, next: at + (escaped ? 2 : 1) };
}
