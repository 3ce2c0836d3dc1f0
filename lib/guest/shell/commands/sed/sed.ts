/** `sed`: its options, and its inputs and outputs. */
import { bytesOfText, textOfBytes } from '../../../../workers/protocol/byte-text.ts';
import { type CommandCall, type OwnCommand, reasonOf } from '../own-command.ts';
import { RegexError } from '../posix-regex.ts';
import { replaceFile } from '../replaced-file.ts';
import { bytesOfLines } from '../text-inputs.ts';
import { type SedInput, type SedOutside, SedRun, type SedSettings } from './sed-run.ts';
import { parseSed, type SedCommand, SedError } from './sed-script.ts';

const TROUBLE = 2;
const INPUT_OUTPUT_EXIT = 4;

export const sed: OwnCommand = {
  like: 'sed 4.9',
  async main(call) {
    const { options, operands } = call.options({
      letters: 'nsurEzl:e:f:i::',
      long: {
        quiet: 'n',
        silent: 'n',
        separate: 's',
        unbuffered: 'u',
        'regexp-extended': 'E',
        'null-data': 'z',
        'line-length=': 'l',
        'expression=': 'e',
        'file=': 'f',
        'in-place=?': 'i',
        posix: 'posix',
        sandbox: 'sandbox',
        'follow-symlinks': 'follow',
      },
    });
    const has = (...keys: string[]) => options.some(({ key }) => keys.includes(key));
    const scripts: string[] = [];
    for (const { key, value } of options) {
      if (key === 'e') scripts.push(value ?? '');
      if (key === 'f') scripts.push((await scriptFile(call, value ?? '')).replace(/\n$/, ''));
    }
    if (scripts.length === 0) {
      const first = operands.shift();
      if (first === undefined) {
        call.warn('Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n');
        return 1;
      }
      scripts.push(first);
    }
    const script = scripts.join('\n');
    const settings: SedSettings = {
      quiet: has('n') || /^#n(\n|$)/.test(script),
      end: has('z') ? '\0' : '\n',
      lineLength: Number(options.findLast(({ key }) => key === 'l')?.value ?? 70),
    };
    try {
      const commands = parseSed(script, { extended: has('r', 'E') });
      const inPlace = options.findLast(({ key }) => key === 'i');
      const files = new WrittenFiles(call);
      if (call.isTrial && (inPlace !== undefined || commands.some(writes))) return 0;
      const exitCode = inPlace
        ? await editInPlace(call, commands, operands, settings, inPlace.value ?? '', files)
        : await printAll(call, commands, operands, settings, has('s'), files);
      await files.store();
      return exitCode;
    } catch (error) {
      if (error instanceof SedError || error instanceof RegexError) return call.end(error.message);
      throw error;
    }
  },
};

function writes({ name, substitution }: SedCommand): boolean {
  return name === 'w' || name === 'W' || (substitution?.file ?? null) !== null;
}

/** The files that a script writes: whole, and only when it has ended. */
class WrittenFiles {
  readonly #call: CommandCall;
  readonly #texts = new Map<string, string>();

  constructor(call: CommandCall) {
    this.#call = call;
  }

  /** A file that a script names is empty from its begin on. */
  begin(commands: readonly SedCommand[]): void {
    for (const { name, text, substitution } of commands) {
      const file = name === 'w' || name === 'W' ? text : (substitution?.file ?? null);
      if (file !== null && !file.startsWith('/dev/')) this.#texts.set(file, '');
    }
  }

  add(name: string, text: string): void {
    if (name === '/dev/stderr') this.#call.warn(text);
    else this.#texts.set(name, (this.#texts.get(name) ?? '') + text);
  }

  async store(): Promise<void> {
    for (const [name, text] of this.#texts) {
      try {
        await this.#call.changes.writeFile(this.#call.path(name), bytesOfText(text));
      } catch (error) {
        this.#call.end(`couldn't open file ${name}: ${reasonOf(error)}`, INPUT_OUTPUT_EXIT);
      }
    }
  }
}

async function scriptFile(call: CommandCall, name: string): Promise<string> {
  try {
    return textOfBytes(await call.input(name));
  } catch (error) {
    return call.end(`couldn't open file ${name}: ${reasonOf(error)}`);
  }
}

/** The calls that read standard input. */
const fromStandard = new WeakSet<CommandCall>();
/** Bytes that it reads of a pipe at once. */
const SED_BLOCK = 4096;

async function readInput(call: CommandCall, name: string): Promise<SedInput | null> {
  if (name === '-') fromStandard.add(call);
  try {
    return { name, text: textOfBytes(await call.input(name)) };
  } catch (error) {
    const reason = reasonOf(error);
    call.fail(
      reason === 'Is a directory' ? `read error on ${name}: ${reason}` : `can't read ${name}: ${reason}`,
      TROUBLE,
    );
    return null;
  }
}

function outsideOf(call: CommandCall, files: WrittenFiles, print: (text: string) => void): SedOutside {
  return {
    print,
    read: async (name) => {
      try {
        return textOfBytes(await call.input(name === '/dev/stdin' ? '-' : name));
      } catch {
        // As GNU's: a file that is not there adds nothing.
        return '';
      }
    },
    write: (name, text) => files.add(name, text),
    turn: () => call.turn(),
    ended: (lines) => {
      call.endedEarly = true;
      if (!fromStandard.has(call)) return;
      const isUnbuffered = call.args.some((word) => /^(?:-[a-zA-Z]*u|--unb)/.test(word));
      call.stdinTaken = { bytes: bytesOfLines(call.stdin, lines), block: isUnbuffered ? 1 : SED_BLOCK };
    },
  };
}

async function printAll(
  call: CommandCall,
  commands: readonly SedCommand[],
  operands: readonly string[],
  settings: SedSettings,
  separate: boolean,
  files: WrittenFiles,
): Promise<number | undefined> {
  files.begin(commands);
  const inputs: SedInput[] = [];
  for (const name of operands.length === 0 ? ['-'] : operands) {
    const input = await readInput(call, name);
    if (input !== null) inputs.push(input);
  }
  const outside = outsideOf(call, files, (text) => call.print(text));
  for (const group of separate ? inputs.map((input) => [input]) : [inputs]) {
    const exitCode = await new SedRun(commands, group, settings, outside).run();
    if (exitCode !== null) return Math.max(exitCode, call.exitCode);
  }
  return undefined;
}

async function editInPlace(
  call: CommandCall,
  commands: readonly SedCommand[],
  operands: readonly string[],
  settings: SedSettings,
  suffix: string,
  files: WrittenFiles,
): Promise<number | undefined> {
  if (operands.length === 0) call.end('no input files');
  files.begin(commands);
  for (const name of operands) {
    await call.turn();
    const path = call.path(name);
    const info = lookAt(call, path);
    if (info !== null && info.kind === 'dir') {
      call.fail(`couldn't edit ${name}: not a regular file`, INPUT_OUTPUT_EXIT);
      continue;
    }
    const input = await readInput(call, name);
    if (input === null) continue;
    const printed: string[] = [];
    const exitCode = await new SedRun(
      commands,
      [input],
      settings,
      outsideOf(call, files, (text) => printed.push(text)),
    ).run();
    try {
      if (suffix !== '') await call.changes.writeFile(backupPath(path, suffix), bytesOfText(input.text));
      await replaceFile(call.changes, path, bytesOfText(printed.join('')));
    } catch (error) {
      call.end(`couldn't open temporary file: ${reasonOf(error)}`, INPUT_OUTPUT_EXIT);
    }
    if (exitCode !== null) return exitCode;
  }
  return undefined;
}

function lookAt(call: CommandCall, path: string) {
  try {
    return call.files.look(path);
  } catch {
    // Reported when it is read.
    return null;
  }
}

/** A suffix with `*` is a pattern of the name, perhaps in another folder. */
function backupPath(path: string, suffix: string): string {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const name = path.slice(folder.length);
  if (!suffix.includes('*')) return `${path}${suffix}`;
  const backup = suffix.replaceAll('*', name);
  return backup.includes('/') ? backup : folder + backup;
}
