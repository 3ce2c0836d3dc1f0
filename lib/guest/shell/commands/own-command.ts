/**
 * One call of one of the shell's own commands: its arguments, files, output and errors, with the sentences and exit
 * codes of GNU's tools. Knows nothing of any one command.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Command, CommandContext, ExecResult, IFileSystem } from 'just-bash';
import { bytesOfText, textOfBytes } from '../../../workers/protocol/byte-text.ts';
import { type Run, TIMED_OUT_EXIT } from '../../../workers/protocol/call.ts';
import type { FetchAnswer, FetchRequest } from '../../../workers/protocol/fetch-messages.ts';
import type { Cancel } from '../../../workers/protocol/guest-network.ts';
import { monotonicMs } from '../../../workers/protocol/monotonic.ts';
import { latin1FromBytes } from '../bash.ts';
import { normalizePath } from '../guest-paths.ts';
import { type Outlet, withoutSentence } from '../outlets.ts';
import type { OutputSinks } from '../output-sinks.ts';
import { reasonFor } from '../posix-error.ts';
import { CommandFiles, type CommandSystem } from './command-files.ts';
import { type GivenOption, OptionError, type OptionNames, parseOptions } from './options.ts';
import { bytesOfResult, quotedWord } from './program-results.ts';
import { TimeLimit, type TimeLimitOptions } from './time-limit.ts';

/** How long a command runs before pending requests are served, in milliseconds. */
const TURN_MS = 20;
const NOT_FOUND_EXIT = 127;
/** Built into the shell, and programs of a real system too. */
export const ALSO_PROGRAMS = new Set(['[', 'echo', 'false', 'kill', 'printf', 'pwd', 'test', 'true']);

/** A command ends here with an exit code. Its sentences have been written. */
export class CommandEnd extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('');
    this.exitCode = exitCode;
  }
}

/** Runs a command; returns its exit code, or nothing for the highest that `fail` was given. */
type CommandMain = (call: CommandCall) => Promise<number | undefined> | number | undefined;

export interface OwnCommand {
  main: CommandMain;
  /** The exit code of a usage error: 1 by default. */
  usageExit?: number;
  /** What stands between the sentence of a usage error and its hint. */
  usageLine?: string;
  /** What `--help` prints. */
  help?: string;
  /** The package whose behaviour it has, as `coreutils 9.1`. */
  like?: string;
}

/** How another program is run. */
interface ProgramOptions {
  stdin?: Uint8Array;
  /** It reads what is left of this command's standard input, which counts as read only when it does. */
  inheritsStdin?: boolean;
  env?: Record<string, string>;
  /** `env` is all of its environment. */
  replaceEnv?: boolean;
  cwd?: string;
  signal?: AbortSignal;
}

/** What the patched interpreter adds to the context of a command. */
interface OutletContext {
  pipe?: Outlet;
  /** Asks how much of its input the command reads: nothing may be changed, and what it prints is dropped. */
  isTrial?: boolean;
}

export class CommandCall {
  readonly name: string;
  readonly args: string[];
  readonly cwd: string;
  readonly context: CommandContext;
  readonly files: CommandFiles;
  /** The shell's file system, which changes files. */
  readonly changes: IFileSystem;
  exitCode = 0;
  /** It ended before its input did. */
  endedEarly = false;
  /** How much of standard input it used, when that is not all: bytes, and how many it reads of a pipe at once. */
  stdinTaken: { bytes: number; block: number } | undefined;
  /** Where it writes to, when that may have enough or takes output at once. */
  readonly outlet: Outlet | undefined;
  readonly isTrial: boolean;
  readonly #command: OwnCommand;
  readonly #run: Run;
  readonly #sinks: OutputSinks;
  #parts: (string | Uint8Array)[] = [];
  #stderr = '';
  /** An error was written before any output, for `2>&1` of a command that holds none back. */
  #errorsFirst = false;
  #turn = monotonicMs();

  constructor(
    name: string,
    args: string[],
    command: OwnCommand,
    parts: { context: CommandContext; system: CommandSystem; run: Run },
  ) {
    this.name = name;
    this.args = [...args];
    this.#command = command;
    this.context = parts.context;
    this.cwd = parts.context.cwd;
    this.files = new CommandFiles(parts.system);
    const files = parts.system.files();
    this.changes = files;
    this.#sinks = files.sinks;
    this.#run = parts.run;
    const { pipe, isTrial = false } = parts.context as CommandContext & OutletContext;
    this.outlet = pipe;
    this.isTrial = isTrial;
  }

  /** What was printed and is not sent yet. */
  get printed(): Buffer {
    const [only] = this.#parts;
    if (this.#parts.length === 1 && Buffer.isBuffer(only)) return only;
    return Buffer.concat(this.#parts.map((part) => (typeof part === 'string' ? bytesOfText(part) : part)));
  }

  /** Sends what was printed, where the output is the call's own; elsewhere it is whole at the command's end. */
  send(): void {
    if (!this.outlet?.live) return;
    this.#sinks.send(this.outlet.output, this.printed);
    this.#parts = [];
    const { errors } = this.outlet;
    if (errors === null) return;
    this.#sinks.send(errors, bytesOfText(this.#stderr));
    this.#stderr = '';
  }

  /** Text, in which a byte that is not UTF-8 is escaped (byte-text.ts), or bytes. */
  print(content: string | Uint8Array): void {
    if (content.length > 0) this.#parts.push(content);
  }

  /** Text for stderr as it is. */
  warn(text: string): void {
    this.#errorsFirst ||= this.#parts.length === 0;
    this.#stderr += text;
  }

  /** Writes `name: message` to stderr; the command's exit code becomes at least this. */
  fail(message: string, exitCode = 1): void {
    this.warn(`${this.name}: ${message}\n`);
    this.exitCode = Math.max(this.exitCode, exitCode);
  }

  /** Ends the command with a sentence. */
  end(message: string, exitCode = 1): never {
    this.fail(message, exitCode);
    throw new CommandEnd(exitCode);
  }

  /** Ends the command with a sentence and the hint at its help. */
  usage(message: string, exitCode = this.#command.usageExit ?? 1): never {
    const line = this.#command.usageLine === undefined ? '' : `${this.#command.usageLine}\n`;
    this.#stderr += `${this.name}: ${message}\n${line}Try '${this.name} --help' for more information.\n`;
    throw new CommandEnd(exitCode);
  }

  /** Parses the arguments; `--help` and `--version` end the command. */
  options(table: OptionNames): { options: GivenOption[]; operands: string[] } {
    const long = { help: 'help', version: 'version', ...table.long };
    try {
      const parsed = parseOptions(this.args, { ...table, long });
      if (parsed.options.some(({ key }) => key === 'help')) this.#print(this.#help(table));
      if (parsed.options.some(({ key }) => key === 'version' || (key === 'V' && table.long?.version === 'V')))
        this.#print(this.#version());
      return parsed;
    } catch (error) {
      if (error instanceof OptionError) this.usage(error.message);
      throw error;
    }
  }

  /** Bytes that the sandbox's file may take, and of what is free in it. */
  room(): { limit: number; free: number } {
    return this.#run.files.room();
  }

  /** The absolute path of an operand; a slash at its end stays. */
  path(operand: string): string {
    const path = normalizePath(operand, this.cwd);
    return operand.endsWith('/') && path !== '/' ? `${path}/` : path;
  }

  /** The bytes of standard input. */
  get stdin(): Buffer {
    return Buffer.from(latin1FromBytes(this.context.stdin), 'latin1');
  }

  /** The bytes of a file, or of standard input for `-`. Throws POSIX errors. */
  async input(operand: string): Promise<Buffer> {
    if (operand === '-' || operand === '/dev/stdin') return this.stdin;
    const given = this.path(operand);
    const path = /^\/(?:dev|proc)\//.test(given) ? this.files.canonical(given) : given;
    if (path === '/dev/stdin') return this.stdin;
    // The shell's own pipes, as of `<(command)`.
    if (path.startsWith('/dev/fd/') && this.files.look(path) === null)
      return Buffer.from(await this.context.fs.readFileBuffer(path));
    // A device is read by the shell's file system, which knows what it gives.
    if (path.startsWith('/dev/')) return Buffer.from(await this.changes.readFileBuffer(path));
    return this.files.read(path);
  }

  /** Lets pending requests run, and ends the command when the call has ended. Called in every loop over files. */
  async turn(): Promise<void> {
    const now = monotonicMs();
    if (now - this.#turn < TURN_MS) return;
    this.#turn = now;
    await nextTurn();
    this.requireTime();
  }

  /** Ends the command when the call has ended. */
  requireTime(): void {
    if (this.#run.isOver(this.context.signal)) throw new CommandEnd(TIMED_OUT_EXIT);
  }

  /** Sends a request to the network; ends with its answer or the call's time. Never throws: the answer says why. */
  async fetch(request: FetchRequest): Promise<FetchAnswer> {
    const { signal } = this;
    const cancel: Cancel = { cancelled: signal.aborted, onCancel: null };
    const stop = () => {
      cancel.cancelled = true;
      cancel.onCancel?.();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await this.#run.fetch(request, cancel);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Runs another command with its arguments, which no shell parses. Its output follows what was printed. */
  async run(command: readonly string[], options: ProgramOptions = {}): Promise<number> {
    this.requireTime();
    const result = await this.execute(command, options);
    this.#parts.push(bytesOfResult(result));
    this.#stderr += result.stderr;
    return result.exitCode;
  }

  /** Ends with the call, with the time that it was given, or when its script is sent a signal. */
  get signal(): AbortSignal {
    return AbortSignal.any([...this.#ends(), this.#run.interrupted]);
  }
  readonly #ends = () => [this.context.signal ?? [], this.#run.signal].flat();

  /** True, with a sentence and exit code 127, when there is no such program. */
  requireProgram(name: string, what = ''): boolean {
    const commands = this.context.getRegisteredCommands?.();
    const known = name.includes('/') || ALSO_PROGRAMS.has(name) || (commands?.includes(name) ?? true);
    const isIn = (folder: string) => folder !== '' && this.files.look(this.path(`${folder}/${name}`)) !== null;
    if (known || this.context.env.get('PATH')?.split(':').some(isIn)) return false;
    const shown = marked(name);
    this.fail(`${what === '' ? '' : `${what} `}${shown}: No such file or directory`);
    this.exitCode = NOT_FOUND_EXIT;
    return true;
  }

  /** Runs just-bash's own command of this name instead. */
  async runOriginal(): Promise<number> {
    const result = await this.context.origCommand?.([...this.args]);
    if (result === undefined) throw new CommandEnd(NOT_FOUND_EXIT);
    this.#parts.push(bytesOfResult(result));
    this.#stderr += result.stderr;
    return result.exitCode;
  }

  /** Runs another command for at most this long, in milliseconds. `endedItself`: after it had acted on a signal. */
  async runFor(command: readonly string[], ms: number, how: TimeLimitOptions) {
    const limit = new TimeLimit(this.#run, ms, how);
    try {
      this.requireTime();
      const signal = AbortSignal.any([...this.#ends(), limit.signal]);
      const { stderr, ...result } = await this.execute(command, { inheritsStdin: true, signal });
      // A command that never waits lets no timer fire.
      this.#run.checkLimits();
      this.#parts.push(bytesOfResult({ stderr, ...result }));
      // The interpreter's own sentence on what it broke off; a program that is ended says nothing.
      this.#stderr += limit.signal.aborted ? withoutSentence(stderr) : stderr;
      const { isOver: timedOut, wasKilled } = limit;
      return { timedOut, wasKilled, endedItself: !limit.signal.aborted, exitCode: result.exitCode };
    } catch (error) {
      this.requireTime();
      if (limit.signal.aborted)
        return { timedOut: true, wasKilled: limit.wasKilled, endedItself: false, exitCode: TIMED_OUT_EXIT };
      throw error;
    } finally {
      limit.release();
    }
  }

  /** Runs another command and returns its result. */
  async execute([first = '', ...rest]: readonly string[], options: ProgramOptions = {}): Promise<ExecResult> {
    const { stdin, inheritsStdin, ...more } = options;
    const { exec, execWithInheritedStdin, signal } = this.context;
    if (exec === undefined) throw new CommandEnd(1);
    // A program that runs in place of this one writes to where this one would.
    const outlet = inheritsStdin && this.#parts.length === 0 && { pipe: this.outlet };
    // A program has the variables that the shell exports.
    const env = options.replaceEnv ? options.env : { ...this.context.exportedEnv, ...options.env };
    const settings = { cwd: this.cwd, args: rest, ...(signal && { signal }), ...outlet, ...more, ...(env && { env }) };
    if (inheritsStdin && execWithInheritedStdin) return execWithInheritedStdin(quotedWord(first), settings);
    if (stdin === undefined) return exec(quotedWord(first), settings);
    return exec(quotedWord(first), { ...settings, stdin: Buffer.from(stdin).toString('latin1'), stdinKind: 'bytes' });
  }

  /** What has been written so far. */
  result(): ExecResult {
    const onlyText = this.#parts.every((part) => typeof part === 'string');
    const bytes = onlyText ? bytesOfText(this.#parts.join('')) : this.printed;
    const stdout = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const order = {
      stdinTaken: this.stdinTaken,
      ...(this.endedEarly && { endedEarly: true }),
      ...(this.#errorsFirst && { errorsFirst: true }),
    };
    return { stdout, stdoutKind: 'bytes', stderr: this.#stderr, exitCode: this.exitCode, ...order };
  }

  #print(text: string): never {
    this.print(text);
    throw new CommandEnd(0);
  }

  #help(table: OptionNames): string {
    const usage = this.#command.help ?? `Usage: ${this.name} [OPTION]... [FILE]...`;
    const letters = [...table.letters.replaceAll(':', '')].map((letter) => `-${letter}`);
    const long = Object.keys(table.long ?? {}).map(
      (name) => `--${name.replace('=?', '[=VALUE]').replace(/=$/, '=VALUE')}`,
    );
    const known = [...letters, ...long.toSorted()].join(' ');
    return `${usage}\n${known === '' ? '' : `\nOptions: ${known}\n`}`;
  }

  #version(): string {
    return `${this.name} (built into the sandbox's shell, as GNU ${this.#command.like ?? 'coreutils 9.1'})\n`;
  }
}

/** The shell's command of an own command, whose code is loaded by its first call. */
export function shellCommand(
  name: string,
  load: () => Promise<OwnCommand>,
  system: CommandSystem,
  running: () => Run,
): Command {
  let loaded: OwnCommand | null = null;
  return {
    name,
    async execute(args, context) {
      loaded ??= await load();
      const call = new CommandCall(name, args, loaded, { context, system, run: running() });
      try {
        const exitCode = await loaded.main(call);
        if (exitCode !== undefined) call.exitCode = exitCode;
      } catch (error) {
        if (!(error instanceof CommandEnd)) throw error;
        call.exitCode = error.exitCode;
      }
      return call.result();
    },
  };
}

/** The words of GNU's tools for a POSIX error. Throws an error of another kind again. */
export function reasonOf(error: unknown): string {
  const reason = reasonFor(error);
  if (reason === undefined) throw error;
  return reason;
}

/** Lines of bytes as text, without their ends. */
export function textLines(bytes: Uint8Array, end = '\n'): string[] {
  const text = textOfBytes(bytes);
  if (text === '') return [];
  return (text.endsWith(end) ? text.slice(0, -1) : text).split(end);
}

/** A name for an error, in GNU's quotation marks of a UTF-8 locale. */
export function marked(text: string): string {
  return `‘${text}’`;
}

/** A file's name in an error, in the quotes that the shell takes. */
export function inQuotes(name: string): string {
  if (/[\0-\x1f\x7f]/.test(name)) return `'${name.replaceAll('\n', "'$'\\n''").replaceAll('\t', "'$'\\t''")}'`;
  return name.includes("'") ? `"${name}"` : `'${name}'`;
}
