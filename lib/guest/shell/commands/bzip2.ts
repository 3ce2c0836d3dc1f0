/** `bzip2`, `bunzip2` and `bzcat`: files compressed one by one, with the mode and the time that they had. */
import { loadBzip2 } from '../bash.ts';
import { type CommandCall, CommandEnd, type OwnCommand, reasonOf } from './own-command.ts';

const MAGIC = Buffer.from('BZh');
const SUFFIXES: readonly [suffix: string, without: string][] = [
  ['.bz2', ''],
  ['.bz', ''],
  ['.tbz2', '.tar'],
  ['.tbz', '.tar'],
];
const USUAL_LEVEL = 9;
const MAX_BYTES = 256 * 1024 * 1024;
const FIRST_BYTES = 64 * 1024;
const DAMAGED_EXIT = 2;

interface Settings {
  expands: boolean;
  toOutput: boolean;
  keeps: boolean;
  forced: boolean;
  tests: boolean;
  quiet: boolean;
  level: number;
}

export const bzip2: OwnCommand = {
  like: 'bzip2 1.0.8',
  help: 'Usage: bzip2 [flags and input files in any order]',
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'dzkfcqvstLV123456789',
      long: {
        compress: 'z',
        decompress: 'd',
        force: 'f',
        keep: 'k',
        quiet: 'q',
        stdout: 'c',
        test: 't',
        verbose: 'v',
        fast: '1',
        best: '9',
        small: 's',
        version: 'V',
      },
    });
    const keys = options.map(({ key }) => key);
    const has = (key: string) => keys.includes(key);
    const way = keys.findLast((key) => 'dzt'.includes(key)) ?? (call.name === 'bzip2' ? 'z' : 'd');
    const settings: Settings = {
      expands: way !== 'z',
      toOutput: has('c') || call.name === 'bzcat',
      keeps: has('k'),
      forced: has('f'),
      tests: way === 't',
      quiet: has('q'),
      level: Number(keys.findLast((key) => /^[1-9]$/.test(key)) ?? USUAL_LEVEL),
    };
    for (const name of operands.length === 0 ? ['-'] : operands) await oneFile(call, name, settings);
    return call.exitCode;
  },
};

async function oneFile(call: CommandCall, name: string, settings: Settings): Promise<void> {
  if (name !== '-' && call.files.look(call.path(name))?.kind === 'dir') {
    call.fail(`Input file ${name} is a directory.`);
    return;
  }
  let content: Buffer;
  try {
    content = await call.input(name);
  } catch (error) {
    call.fail(`Can't open input file ${name}: ${reasonOf(error)}.`);
    return;
  }
  const writesFile = name !== '-' && !settings.toOutput && !settings.tests;
  const target = targetOf(call, name, settings);
  if (writesFile && target === null) return;
  if (settings.expands && !content.subarray(0, MAGIC.length).equals(MAGIC)) {
    if (settings.forced && !writesFile) call.print(content);
    else call.fail(`${name === '-' ? '(stdin)' : name} is not a bzip2 file.`, DAMAGED_EXIT);
    return;
  }
  const result = settings.expands
    ? await expanded(call, name, content)
    : await compressed(call, name, content, settings);
  if (result === null || settings.tests) return;
  if (writesFile && target !== null) await writeBeside(call, name, target, result, settings);
  else call.print(result);
}

/** Where the result goes; null, with a sentence, when it goes nowhere. */
function targetOf(call: CommandCall, name: string, { expands, forced, toOutput, tests }: Settings): string | null {
  const [found] = SUFFIXES.filter(([suffix]) => name.endsWith(suffix));
  if (toOutput || tests || name === '-') return null;
  if (!expands && found !== undefined) {
    call.fail(`Input file ${name} already has ${found[0]} suffix.`);
    return null;
  }
  let target = `${name}.bz2`;
  if (expands) {
    target = found === undefined ? `${name}.out` : name.slice(0, -found[0].length) + found[1];
    if (found === undefined) call.warn(`${call.name}: Can't guess original name for ${name} -- using ${target}\n`);
  }
  if (!forced && call.files.look(call.path(target)) !== null) {
    call.fail(`Output file ${target} already exists.`);
    return null;
  }
  return target;
}

async function compressed(call: CommandCall, name: string, content: Buffer, { level }: Settings) {
  const { compressBzip2 } = await loadBzip2();
  if (content.length > MAX_BYTES) call.end(`${name}: files of more than ${MAX_BYTES} bytes are not supported`);
  return Buffer.from(await compressBzip2(content, level, MAX_BYTES));
}

async function expanded(call: CommandCall, name: string, content: Buffer): Promise<Buffer | null> {
  const { seekBzip } = await loadBzip2();
  let bytes = Buffer.allocUnsafe(FIRST_BYTES);
  let length = 0;
  const output = {
    writeByte(byte: number) {
      if (length === bytes.length) {
        call.requireTime();
        if (length >= MAX_BYTES) call.end(`${name}: its content is larger than ${MAX_BYTES} bytes: not supported`);
        bytes = Buffer.concat([bytes], length * 2);
      }
      bytes[length] = byte;
      length += 1;
    },
  };
  try {
    seekBzip.decode(content, output, true);
    return bytes.subarray(0, length);
  } catch (error) {
    if (error instanceof CommandEnd) throw error;
    const shown = name === '-' ? '(stdin)' : name;
    call.fail(`Data integrity error when decompressing.\n\tInput file = ${shown}, output file = (none)`, DAMAGED_EXIT);
    return null;
  }
}

async function writeBeside(call: CommandCall, name: string, target: string, content: Buffer, { keeps }: Settings) {
  const [from, to] = [call.path(name), call.path(target)];
  const info = call.files.info(from);
  try {
    await call.changes.writeFile(to, content);
    await call.changes.chmod(to, info.mode);
    call.files.setTime(call.files.info(to), info.mtime);
    if (!keeps) await call.changes.rm(from);
  } catch (error) {
    call.fail(`Can't create output file ${target}: ${reasonOf(error)}.`);
  }
}
