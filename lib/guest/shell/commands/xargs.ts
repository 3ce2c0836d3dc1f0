/** `xargs`: runs a command with arguments from its input. */
import { textOfBytes } from '../../../workers/protocol/byte-text.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

/** As GNU's default on Linux: the bytes of one command line. */
const MAX_BYTES = 131_072;
const NOT_FOUND_EXIT = 127;
const NOT_EXECUTABLE_EXIT = 126;
const FAILED_EXIT = 123;
const STOPPED_EXIT = 124;
const STOP = 255;

interface Plan {
  command: string[];
  /** The text that is replaced in the command. Null: arguments go to its end. */
  replaced: string | null;
  /** Arguments, and lines of input, of one command. */
  arguments: number;
  lines: number;
  bytes: number;
  verbose: boolean;
  stopIfTooLong: boolean;
}

export const xargs: OwnCommand = {
  like: 'findutils 4.9.0',
  async main(call) {
    const { options, operands } = call.options({
      letters: '0a:d:E:e::i::I:L:l::n:oP:prs:tx',
      long: {
        null: '0',
        'arg-file=': 'a',
        'delimiter=': 'd',
        'eof=?': 'e',
        'replace=?': 'i',
        'max-lines=?': 'l',
        'max-args=': 'n',
        'open-tty': 'o',
        'max-procs=': 'P',
        interactive: 'p',
        'no-run-if-empty': 'r',
        'max-chars=': 's',
        verbose: 't',
        exit: 'x',
      },
      stopAtOperand: true,
    });
    const has = (...keys: string[]) => options.some(({ key }) => keys.includes(key));
    const last = (...keys: string[]) => options.findLast(({ key }) => keys.includes(key));
    if (has('p', 'o')) call.end('there is no terminal to ask');
    const file = last('a')?.value ?? '-';
    let input: Buffer;
    try {
      input = await call.input(file);
    } catch (error) {
      return call.end(`Cannot open input file ‘${file}’: ${reasonOf(error)}`);
    }
    const number = (key: string, fallback: number) => positive(call, key, last(key)?.value ?? null, fallback);
    // Of -I, -L and -n the last one counts; -n 1 says nothing beside -I.
    const modes = options.filter(({ key }) => ['I', 'i', 'L', 'l', 'n'].includes(key));
    const mode = modes.findLast(({ key, value }) => key !== 'n' || value !== '1' || !has('I', 'i'));
    const dropped = modes.find(
      ({ key, value }) => key !== mode?.key && (key !== 'n' || value !== '1' || mode !== modes.at(0)),
    );
    const names: Readonly<Record<string, string>> = { n: '--max-args', L: '-L', l: '--max-lines' };
    const nameOf = (key = '') => names[key] ?? '--replace/-I/-i';
    if (dropped !== undefined)
      call.warn(
        `xargs: warning: options ${[nameOf(dropped.key), nameOf(mode?.key)].toSorted().join(' and ')} are mutually exclusive, ignoring previous ${nameOf(dropped.key).split('/')[0]} value\n`,
      );
    const replaces = mode?.key === 'I' || mode?.key === 'i';
    const byLines = mode?.key === 'L' || mode?.key === 'l';
    const plan: Plan = {
      command: operands.length === 0 ? ['echo'] : operands,
      replaced: replaces ? (mode.value ?? '{}') : null,
      arguments: mode?.key === 'n' ? number('n', 1) : Number.POSITIVE_INFINITY,
      lines: replaces ? 1 : byLines ? positive(call, mode.key, mode.value, 1) : Number.POSITIVE_INFINITY,
      bytes: number('s', MAX_BYTES),
      verbose: has('t'),
      stopIfTooLong: has('x') || replaces,
    };
    const delimiter = last('0', 'd');
    const items = delimiter
      ? delimited(textOfBytes(input), delimiter.key === '0' ? '\0' : delimiterOf(delimiter.value ?? ''))
      : words(call, textOfBytes(input), replaces, last('E', 'e')?.value ?? null, byLines);
    if (items.length === 0 && (has('r') || replaces)) return 0;
    // Only a file leaves standard input to the commands.
    return runAll(call, plan, batches(items, plan), file === '-' ? Buffer.alloc(0) : call.stdin);
  },
};

function positive(call: CommandCall, key: string, value: string | null, fallback: number): number {
  if (value === null) return fallback;
  if (!/^\d+$/.test(value)) call.end(`invalid number "${value}" for -${key} option`);
  if (Number(value) === 0) call.end(`value 0 for -${key} option should be >= 1`);
  return Number(value);
}

/** An argument, and the line of input on which it stands. */
interface Item {
  text: string;
  line: number;
}

function delimiterOf(value: string): string {
  const escapes: Readonly<Record<string, string>> = {
    '\\n': '\n',
    '\\t': '\t',
    '\\0': '\0',
    '\\r': '\r',
    '\\\\': '\\',
  };
  return escapes[value] ?? value.slice(0, 1);
}

function delimited(text: string, delimiter: string): Item[] {
  const parts = text.split(delimiter);
  if (parts.at(-1) === '') parts.pop();
  return parts.map((part, line) => ({ text: part, line }));
}

/** Words of the input, with quotes and backslashes; whole lines when they are to be inserted. */
function words(call: CommandCall, text: string, wholeLines: boolean, end: string | null, byLines: boolean): Item[] {
  const items: Item[] = [];
  let current: string | null = null;
  let line = 0;
  let quote = '';
  const finish = () => {
    if (current !== null) items.push({ text: current, line });
    current = null;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (quote !== '') {
      if (character === '\n')
        call.end(
          `unmatched ${quote === '"' ? 'double' : 'single'} quote; by default quotes are special to xargs unless you use the -0 option`,
        );
      if (character === quote) quote = '';
      else current = (current ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      current ??= '';
    } else if (character === '\\') {
      at += 1;
      current = (current ?? '') + (text[at] ?? '');
    } else if (character === '\n') {
      const continues = byLines && /[ \t]/.test(text[at - 1] ?? '');
      const wasBlank = current === null && items.at(-1)?.line !== line;
      finish();
      if (!continues && !wasBlank) line += 1;
    } else if (/\s/.test(character) && (!wholeLines || current === null)) {
      if (!wholeLines) finish();
    } else current = (current ?? '') + character;
  }
  if (quote !== '')
    call.end(
      `unmatched ${quote === '"' ? 'double' : 'single'} quote; by default quotes are special to xargs unless you use the -0 option`,
    );
  finish();
  const stop = end === null ? -1 : items.findIndex((item) => item.text === end);
  return stop === -1 ? items : items.slice(0, stop);
}

/** The arguments of each command; one command without arguments when there are none. */
function batches(items: readonly Item[], plan: Plan): string[][] {
  const fixed = plan.command.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  const all: string[][] = [];
  let current: string[] = [];
  let bytes = fixed;
  let firstLine = 0;
  for (const { text, line } of items) {
    const size = Buffer.byteLength(text) + 1;
    const full = current.length >= plan.arguments || line - firstLine >= plan.lines || bytes + size > plan.bytes;
    if (current.length > 0 && full) {
      all.push(current);
      current = [];
      bytes = fixed;
    }
    if (current.length === 0) firstLine = line;
    current.push(text);
    bytes += size;
  }
  return current.length > 0 || all.length === 0 ? [...all, current] : all;
}

async function runAll(call: CommandCall, plan: Plan, commands: string[][], stdin: Buffer): Promise<number> {
  let exitCode = 0;
  for (const given of commands) {
    await call.turn();
    const { replaced } = plan;
    const line =
      replaced === null
        ? [...plan.command, ...given]
        : plan.command.map((word) => word.replaceAll(replaced, given[0] ?? ''));
    if (line.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0) > plan.bytes && plan.stopIfTooLong)
      call.end('argument line too long');
    if (plan.verbose) call.warn(`${line.join(' ')}\n`);
    const code = await call.run(line, { stdin });
    if (code === NOT_FOUND_EXIT || code === NOT_EXECUTABLE_EXIT) return code;
    if (code === STOP) call.end(`${line[0]}: exited with status 255; aborting`, STOPPED_EXIT);
    if (code !== 0) exitCode = FAILED_EXIT;
  }
  return exitCode;
}
