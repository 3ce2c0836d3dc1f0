/** `cmp`. */
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

const TROUBLE = 2;
const NEWLINE = 10;

export const cmp: OwnCommand = {
  usageExit: TROUBLE,
  like: 'diffutils 3.8',
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'bci:ln:sv',
      long: {
        'bytes=': 'n',
        'ignore-initial=': 'i',
        'print-bytes': 'b',
        quiet: 's',
        silent: 's',
        verbose: 'l',
        version: 'v',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const [first, second = '-', skipFirst, skipSecond, extra] = operands;
    if (first === undefined) call.usage(`missing operand after '${call.name}'`);
    if (extra !== undefined) call.usage(`extra operand '${extra}'`);
    const [skipOne = '0', skipTwo = skipOne] = (value('i') ?? '').split(':').filter(Boolean);
    const limit = value('n') === null ? Number.POSITIVE_INFINITY : Number(value('n'));
    const names = [first, second];
    const skips = [skipFirst ?? skipOne, skipSecond ?? skipTwo].map(Number);
    const contents: Buffer[] = [];
    for (const [at, name] of names.entries()) {
      try {
        const bytes = await call.input(name);
        contents.push(bytes.subarray(skips[at] ?? 0).subarray(0, limit));
      } catch (error) {
        if (!has('s')) call.fail(`${name}: ${reasonOf(error)}`, TROUBLE);
        return TROUBLE;
      }
    }
    const [left = Buffer.alloc(0), right = Buffer.alloc(0)] = contents;
    if (left.equals(right)) return 0;
    if (has('s')) return 1;
    compare(call, { first, second, left, right }, has('l'), has('b') || has('c'));
    return 1;
  },
};

interface Compared {
  first: string;
  second: string;
  left: Buffer;
  right: Buffer;
}

function compare(call: CommandCall, { first, second, left, right }: Compared, all: boolean, bytes: boolean): void {
  const shared = Math.min(left.length, right.length);
  const width = String(Math.max(left.length, right.length)).length;
  let lines = 0;
  for (let at = 0; at < shared; at += 1) {
    const [one = 0, other = 0] = [left[at], right[at]];
    if (one !== other) {
      const octal = [one, other].map((byte) => byte.toString(8).padStart(3));
      if (!all) {
        const shown = bytes ? ` is ${octal[0]} ${shownByte(one)} ${octal[1]} ${shownByte(other)}` : '';
        call.print(`${first} ${second} differ: byte ${at + 1}, line ${lines + 1}${shown}\n`);
        return;
      }
      const number = String(at + 1).padStart(width);
      if (bytes) call.print(`${number} ${octal[0]} ${shownByte(one).padEnd(4)} ${octal[1]} ${shownByte(other)}\n`);
      else call.print(`${number} ${octal[0]} ${octal[1]}\n`);
    }
    if (one === NEWLINE) lines += 1;
  }
  if (left.length === right.length) return;
  const short = left.length < right.length ? first : second;
  if (shared === 0) call.warn(`cmp: EOF on ${short} which is empty\n`);
  else {
    const whole = left[shared - 1] === NEWLINE;
    const place = all ? '' : `, ${whole ? '' : 'in '}line ${whole ? lines : lines + 1}`;
    call.warn(`cmp: EOF on ${short} after byte ${shared}${place}\n`);
  }
}

/** A byte as `cat -t` shows it. */
function shownByte(byte: number): string {
  if (byte >= 128) return `M-${shownByte(byte - 128)}`;
  if (byte < 32) return `^${String.fromCharCode(byte + 64)}`;
  return byte === 127 ? '^?' : String.fromCharCode(byte);
}
