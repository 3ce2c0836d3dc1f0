/**
 * Pipelines that end in `tee FILE …` or `cat`, whose output is the call's own: what the stage before them prints is
 * sent while it runs, and kept for them. They run when it has ended, on all of it, and what they print is what was
 * sent. Called by just-bash's interpreter as it is patched (bash-pipe-patches.ts).
 */
import type { CommandNode, SimpleCommandNode } from 'just-bash';
import { guestFiles, type MountedFiles } from './mounted-files.ts';
import { CallOutput, type Outlet, type OutputState, partsFor } from './outlets.ts';
import type { OutputSinks } from './output-sinks.ts';
import { type Interpreter, readerOf, runReader, type ShellContext, type ShellResult } from './pipes.ts';

interface TeeContext extends ShellContext {
  state: ShellContext['state'] & OutputState & { shoptOptions?: { expand_aliases?: boolean } };
  fs: MountedFiles;
}

/** What the interpreter adds to what it gives a pipe. */
interface TeeInterpreter extends Interpreter {
  /** The program that a name leads to. */
  find(name: string): Promise<object | null>;
}

/** The variables that just-bash keeps aliases in. */
const ALIAS = 'BASH_ALIAS_';

interface Reader {
  name: string;
  args: string[];
}

interface Pipeline {
  commands: readonly CommandNode[];
  /** Of each stage, whether its stderr is piped too (`|&`). */
  pipeStderr?: readonly boolean[] | undefined;
}

/** Bytes of small pieces that become one string. */
const BLOCK_BYTES = 16 * 1024;

/** Bytes that come in many pieces, most of them small, as a string with a character for each. */
class GrowingBytes {
  #text = '';
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #length = 0;

  add(content: Uint8Array): void {
    if (this.#length + content.length > BLOCK_BYTES) this.#flush();
    if (content.length > BLOCK_BYTES)
      this.#text += Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1');
    else {
      this.#block.set(content, this.#length);
      this.#length += content.length;
    }
  }

  /** All of them, which are forgotten. */
  end(): string {
    this.#flush();
    const text = this.#text;
    this.#text = '';
    return text;
  }

  #flush(): void {
    this.#text += this.#block.toString('latin1', 0, this.#length);
    this.#length = 0;
  }
}

/** The last stages of a pipeline, and the one before them. */
export class Tees {
  /** The stage before them, counted from 0. */
  readonly at: number;
  readonly #context: TeeContext;
  readonly #interpreter: Interpreter;
  readonly #outer: CallOutput;
  #stage: CommandNode;
  readonly #isJoined: boolean;
  readonly #readers: readonly Reader[];
  readonly #sinks: OutputSinks;
  readonly #copy: string;
  readonly #cwd: string;
  readonly #taken = new GrowingBytes();
  /** All that was sent, once the stage has ended. */
  #sent = '';
  #haveRun = false;

  constructor(
    { commands, pipeStderr }: Pipeline,
    readers: readonly Reader[],
    parts: { context: TeeContext; interpreter: Interpreter; outer: CallOutput },
  ) {
    this.at = commands.length - readers.length - 1;
    this.#isJoined = pipeStderr?.[this.at] ?? false;
    this.#readers = readers;
    this.#context = parts.context;
    this.#interpreter = parts.interpreter;
    this.#outer = parts.outer;
    this.#cwd = parts.context.state.cwd;
    this.#sinks = guestFiles(parts.context.fs).sinks;
    const isDropped = commands.at(-1)?.redirections?.length !== 0;
    this.#copy = this.#sinks.open(isDropped ? null : this.#outer.output, (content) => this.#taken.add(content));
    this.#stage = commands[this.at] as CommandNode;
  }

  /**
   * Where one of these stages writes to. `said` is what the stages before them have written to stderr, which comes when
   * the pipeline has ended, and so does all behind it.
   */
  outletAt(at: number, said: string): Outlet | undefined {
    if (at !== this.at) return undefined;
    const errors = said === '' ? this.#outer.errors : null;
    const outlet = new CallOutput([], this.#copy, this.#isJoined ? this.#copy : errors);
    this.#stage = partsFor(this.#context.state, this.#stage, outlet);
    outlet.writers = [this.#stage];
    return outlet;
  }

  /** The command to run as a stage. Called when it begins, after `outletAt`. */
  commandAt(at: number, command: CommandNode): CommandNode {
    this.#haveRun ||= at > this.at;
    return at === this.at ? this.#stage : command;
  }

  /** What the readers read, when the stage before them has ended and `rest` was not sent. */
  input(rest: string): string {
    this.#end();
    return this.#sent + rest;
  }

  /** What the last of them printed and is not sent yet. */
  rest(result: ShellResult): ShellResult {
    const printed = this.#interpreter.bytesOf(result);
    if (!printed.startsWith(this.#sent)) return result;
    return { ...result, stdout: printed.slice(this.#sent.length), stdoutKind: 'bytes' };
  }

  /** Ends the copy. Where they have not run, because the script is ended, their files have what was sent. */
  async close(): Promise<void> {
    this.#end();
    if (this.#haveRun) return;
    const context = { ...this.#context, state: { ...this.#context.state, cwd: this.#cwd } };
    for (const reader of this.#readers)
      if (reader.name === 'tee')
        await this.#interpreter.trust(() => runReader(context, reader, { stdin: this.#sent, isTrial: false }));
  }

  #end(): void {
    this.#sinks.close(this.#copy);
    this.#sent += this.#taken.end();
  }
}

/** Whether somebody follows the call, so that there is a use in sending what it prints. */
export function isFollowed({ fs }: TeeContext): boolean {
  return guestFiles(fs).sinks.isFollowed;
}

/** The tees that a pipeline ends in; null where what is before them is not sent while it runs. */
export async function teesOf(
  context: TeeContext,
  pipeline: Pipeline,
  outer: Outlet | undefined,
  interpreter: TeeInterpreter,
): Promise<Tees | null> {
  const { commands } = pipeline;
  const last = commands.at(-1);
  if (!outer?.live || last === undefined || !outer.writers.includes(last)) return null;
  if (
    context.state.shoptOptions?.expand_aliases &&
    [...context.state.env.keys()].some((name) => name.startsWith(ALIAS))
  )
    return null;
  const readers: Reader[] = [];
  for (let at = commands.length - 1; at > 0 && commands[at] !== undefined; at -= 1) {
    const reader = plainReader(commands[at] as CommandNode, context, at === commands.length - 1);
    if (reader === null || pipeline.pipeStderr?.[at]) break;
    readers.unshift(reader);
  }
  if (readers.length === 0) return null;
  for (const reader of readers) {
    const found = await interpreter.find(reader.name);
    if (found === null || !('cmd' in found)) return null;
  }
  return new Tees(pipeline, readers, { context, interpreter, outer });
}

/** A stage that prints what it reads, without redirections: the last one may drop it. */
function plainReader(stage: CommandNode, { state }: TeeContext, isLast: boolean): Reader | null {
  if (stage.type !== 'SimpleCommand' || standsForMany(stage.args)) return null;
  if (stage.redirections.length > 0 && !(isLast && stage.redirections.every(dropsOutput))) return null;
  const reader = readerOf(stage, state);
  if (reader === null) return null;
  if (reader.name === 'cat') return reader.args.length === 0 ? reader : null;
  return reader.name === 'tee' && printsItsInput(reader.args) ? reader : null;
}

/** `> /dev/null`. */
function dropsOutput({ operator, fd, target }: SimpleCommandNode['redirections'][number]): boolean {
  const [part, ...more] = target.type === 'Word' ? target.parts : [];
  const isNull = part?.type === 'Literal' && more.length === 0 && part.value === '/dev/null';
  return isNull && (operator === '>' || operator === '>>') && (fd ?? 1) === 1;
}

/** Whether a word may be several, or none. */
function standsForMany(words: unknown): boolean {
  return /"parameter":"(?:[@*]|[^"]*\[)/.test(JSON.stringify(words));
}

const PLAIN_OPTION = /^-[ai]+$|^--(?:append|ignore-interrupts)$/;

/** Whether `tee` prints what it reads, with these words. */
function printsItsInput(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).every((arg) => !/^-./.test(arg) || PLAIN_OPTION.test(arg));
}
