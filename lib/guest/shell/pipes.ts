/**
 * The pipe between two stages of a pipeline. Stages run one after the other, so a writer without an end asks here
 * whether its reader has enough. Called by just-bash's interpreter as it is patched (bash-pipe-patches.ts) and by the
 * shell's own commands; knows of both what the interfaces say.
 */
import type { CommandNode, ScriptNode, WordNode } from 'just-bash';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';

/** What a pipe of Linux holds: its writer is not told earlier that the reader has gone. */
const PIPE_BYTES = 64 * 1024;
/** Rounds and time that a loop goes on before it is told. A reader that starts with it takes a while to end. */
const ROUNDS_BEHIND = 200;
const BEHIND_MS = 250;
/** Rounds of a loop before each of which the reader is asked; after them when there is twice as much, or by time. */
const FIRST_ROUNDS = 16;
const ASK_MS = 50;
/** The first bytes of an output that the reader is asked about, and how much more each time. */
const FIRST_BYTES = 4096;
const GROWTH = 4;
/** As by SIGPIPE. */
export const BROKEN_PIPE_EXIT = 141;

/** Readers that may end before their input does, and the words that make them. */
const ENDING: Readonly<Record<string, (words: string) => boolean>> = {
  head: () => true,
  sed: (words) => /(?:^|[\d;{}/$!\s])[qQ]\s*\d*\s*(?:[;}\n]|$)/m.test(words),
  grep: mayEndGrep,
  egrep: mayEndGrep,
  fgrep: mayEndGrep,
  // A program that could write or start something is not tried.
  awk: (words) => /\bexit\b/.test(words) && !/[>|]|\b(?:system|getline|close)\b/.test(words),
};
/** Commands between them that pass on what they read as it comes, and change nothing else. */
const PASSING = new Set(['cat', 'cut', 'egrep', 'fgrep', 'fold', 'grep', 'nl', 'rev', 'sed', 'tr']);
/** What they depend on is the place in the whole input, so that a part of it does not tell. */
const COUNTING = new Set(['awk', 'nl', 'sed']);
/** Commands that hold no more than their input. */
const CUTTING = new Set(['cat', 'head', 'tr']);
/** Programs that are told of a closed pipe by an error of their own. */
const TOLD_OTHERWISE = new Set(['js', 'python', 'python3']);

function mayEndGrep(words: string): boolean {
  return /(?:^|\s)(?:-[A-Za-z]*[mqlL]|--(?:max|quiet|silent|files))/.test(words);
}

export interface ShellResult {
  stdout: string;
  stderr: string;
  exitCode: number;
  stdoutKind?: string;
  /** The command ended before its input did. */
  endedEarly?: boolean;
}

interface ShellProgram {
  execute(args: string[], context: unknown): Promise<ShellResult>;
  internalOriginalCommand?: ShellProgram;
}

interface ShellState {
  env: Map<string, string>;
  cwd: string;
  signal?: AbortSignal;
  functions: Map<string, { body: CommandNode }>;
}

/** The interpreter, as far as a reader's trial run needs it. */
export interface ShellContext {
  state: ShellState;
  commands: Map<string, ShellProgram>;
  fs: unknown;
  limits: unknown;
  executionScope: unknown;
  requireDefenseContext?: boolean;
}

/** The output of a loop so far. */
interface LoopOutput {
  totalBytes: number;
  readonly stdout: string;
}

/** What the interpreter gives: the bytes of a result, and how it runs code that its defences trust. */
export interface Interpreter {
  bytesOf(result: ShellResult): string;
  trust<T>(run: () => Promise<T>): Promise<T>;
}

/** A pipe to the next stage, whose reader may have enough before its input ends. */
export class Pipe {
  readonly live = false;
  /** Only the output of the whole stage tells whether the reader has enough. */
  readonly inWhole: boolean;
  /** The commands whose output is that of the whole stage: itself, and one that it consists of. */
  writers: readonly CommandNode[];
  readonly #readers: readonly { name: string; args: string[] }[];
  readonly #context: ShellContext;
  readonly #interpreter: Interpreter;
  #hasEnough = false;
  #nextBytes = FIRST_BYTES;
  #enoughBytes = 0;
  #enoughAt = 0;
  #asked = { bytes: 0, at: 0 };
  #rounds = 0;
  #behind = 0;
  #slept = false;

  constructor(
    writers: readonly CommandNode[],
    readers: readonly { name: string; args: string[] }[],
    context: ShellContext,
    interpreter: Interpreter,
  ) {
    this.writers = writers;
    this.inWhole = readers.some(({ name }) => COUNTING.has(name));
    this.#readers = readers;
    this.#context = context;
    this.#interpreter = interpreter;
  }

  /** Whether all that its readers take is a number of bytes or lines: they need little memory for much. */
  get isCut(): boolean {
    return this.#readers.every(({ name }) => CUTTING.has(name));
  }

  /** Whether the reader has enough of what was written: what waits for more may end. */
  async hasEnough(output: Uint8Array): Promise<boolean> {
    if (!this.#hasEnough && output.length > this.#asked.bytes) {
      this.#asked = { bytes: output.length, at: monotonicMs() };
      this.#hasEnough = await this.#endsWithin(latin1(output));
    }
    return this.#hasEnough;
  }

  /** Whether a writer of so much is ended by SIGPIPE: the reader had enough when the pipe was not full. */
  async isBroken(output: Uint8Array, last = false): Promise<boolean> {
    const sent = output.length - PIPE_BYTES;
    while (!this.#hasEnough && this.#nextBytes <= sent) {
      const bytes = this.#nextBytes;
      this.#nextBytes *= GROWTH;
      this.#hasEnough = await this.#endsWithin(latin1(output.subarray(0, bytes)));
    }
    if (last && !this.#hasEnough && sent > 0)
      this.#hasEnough = await this.#endsWithin(latin1(output.subarray(0, sent)));
    return this.#hasEnough && sent > 0;
  }

  /**
   * Whether a program that has ended wrote more than its reader took and the pipe held. One between the ends of a pipe
   * whose first writer ended so has read a part of what it would have been given.
   */
  async wasBroken(command: CommandNode, result: ShellResult, isFirstBroken: boolean): Promise<boolean> {
    if (result.exitCode === BROKEN_PIPE_EXIT || (isFirstBroken && result.exitCode === 0)) return true;
    if (result.exitCode !== 0 || result.stdout.length <= PIPE_BYTES || command.type !== 'SimpleCommand') return false;
    const name = textOf(command.name, this.#context.state.env);
    const { commands, state } = this.#context;
    if (name === null || !commands.has(name) || state.functions.has(name) || TOLD_OTHERWISE.has(name)) return false;
    return this.isBroken(Buffer.from(this.#interpreter.bytesOf(result), 'latin1'), true);
  }

  /** Called before every round of a loop. True: the next one ends by SIGPIPE. */
  async roundEnded(output: LoopOutput): Promise<boolean> {
    const bytes = output.totalBytes;
    this.#rounds += 1;
    if (!this.#hasEnough) {
      const now = monotonicMs();
      const isDue = this.#rounds <= FIRST_ROUNDS || bytes >= 2 * this.#asked.bytes || now > this.#asked.at + ASK_MS;
      const slept = this.#slept;
      if (!isDue || bytes === 0) return false;
      this.#slept = false;
      this.#asked = { bytes, at: now };
      this.#hasEnough = await this.#endsWithin(
        this.#interpreter.bytesOf({ stdout: output.stdout, stderr: '', exitCode: 0 }),
      );
      if (!this.#hasEnough) return false;
      this.#enoughBytes = bytes;
      this.#enoughAt = now;
      this.#slept = slept;
    }
    this.#behind += 1;
    const isLate = this.#behind > ROUNDS_BEHIND || monotonicMs() - this.#enoughAt > BEHIND_MS;
    return this.#slept || isLate || bytes - this.#enoughBytes > PIPE_BYTES;
  }

  /** The writer has slept: a reader that had enough has ended meanwhile. */
  slept(): void {
    this.#slept = true;
  }

  /** Runs the readers on the begin of their input; what they print is dropped. */
  #endsWithin(input: string): Promise<boolean> {
    return this.#interpreter.trust(() => this.#tryReaders(input));
  }

  async #tryReaders(input: string): Promise<boolean> {
    let stdin = input;
    for (const reader of this.#readers) {
      const result = await runReader(this.#context, reader, { stdin, isTrial: true });
      if (result === null) return false;
      if (result.endedEarly) return true;
      stdin = this.#interpreter.bytesOf(result);
    }
    return false;
  }
}

/** Runs a stage beside its pipeline, on this input; null when there is no such program. */
export async function runReader(
  { commands, fs, limits, executionScope, state, requireDefenseContext }: ShellContext,
  { name, args }: { name: string; args: readonly string[] },
  { stdin, isTrial }: { stdin: string; isTrial: boolean },
): Promise<ShellResult | null> {
  const program = commands.get(name);
  if (program === undefined) return null;
  const context = {
    ...{ fs, limits, executionScope, stdin, requireDefenseContext, cwd: state.cwd, env: state.env },
    ...{ signal: state.signal, exportedEnv: {}, isTrial },
  };
  const { internalOriginalCommand } = program;
  const origCommand = (given: string[]) => internalOriginalCommand?.execute(given, context);
  return program.execute([...args], { ...context, ...(internalOriginalCommand && { origCommand }) });
}

/** The pipe behind a stage; nothing when its readers read all that there is. */
export function pipeTo(
  context: ShellContext,
  stages: readonly CommandNode[],
  at: number,
  interpreter: Interpreter,
): Pipe | undefined {
  const writer = stages[at];
  const readers: { name: string; args: string[] }[] = [];
  for (const stage of stages.slice(at + 1)) {
    const reader = readerOf(stage, context.state);
    if (reader === null || writer === undefined) return undefined;
    readers.push(reader);
    if (ENDING[reader.name]?.(reader.args.join('\n')))
      return new Pipe(writersOf(writer, context.state), readers, context, interpreter);
    if (!PASSING.has(reader.name)) return undefined;
  }
  return undefined;
}

/** A command, and what it consists of when that is one command alone. */
function writersOf(command: CommandNode, state: ShellState): readonly CommandNode[] {
  let inside: CommandNode | undefined;
  if (command.type === 'Group' || command.type === 'Subshell') inside = onlyCommand(command.body);
  else if (command.type === 'SimpleCommand') {
    const name = textOf(command.name, state.env);
    inside = name === null ? undefined : state.functions.get(name)?.body;
  }
  const isNew = inside !== undefined && inside !== command && inside.type !== 'SimpleCommand';
  return isNew && inside !== undefined ? [command, ...writersOf(inside, state)] : [command];
}

/** The command that the statements are, when they are one alone. */
export function onlyCommand(statements: ScriptNode['statements']): CommandNode | undefined {
  const [statement, ...more] = statements;
  const [pipeline, ...others] = statement?.pipelines ?? [];
  if (more.length > 0 || others.length > 0 || pipeline?.commands.length !== 1) return undefined;
  return pipeline.commands[0];
}

/** The name and the words of a stage, where they say so without anything being run; null for any other. */
export function readerOf(stage: CommandNode, { env, functions }: ShellState): { name: string; args: string[] } | null {
  if (stage.type !== 'SimpleCommand' || stage.assignments.length > 0) return null;
  if (stage.redirections.some(({ operator, fd }) => operator.startsWith('<') && (fd ?? 0) === 0)) return null;
  const [name, ...args] = [stage.name, ...stage.args].map((word) => textOf(word, env));
  if (name === undefined || name === null || functions.has(name)) return null;
  return args.every((arg) => arg !== null) ? { name, args } : null;
}

/** A word that says its text without anything being run or looked up but a variable; null for any other. */
function textOf(word: WordNode | null, env: Map<string, string>, quoted = false): string | null {
  let text = '';
  for (const part of word?.parts ?? []) {
    if (part.type === 'DoubleQuoted') {
      const inside = textOf({ type: 'Word', parts: part.parts }, env, true);
      if (inside === null) return null;
      text += inside;
    } else if (part.type === 'ParameterExpansion' && part.operation === null) {
      const value = env.get(part.parameter);
      if (value === undefined || (!quoted && !/^[\w.,:/-]+$/.test(value))) return null;
      text += value;
    } else if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'Escaped') {
      if (part.type === 'Literal' && !quoted && /[*?[~]/.test(part.value)) return null;
      text += part.value;
    } else return null;
  }
  return text;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
