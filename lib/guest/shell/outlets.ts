/**
 * Where a command of a script writes to: the call's own output, the next stage of its pipeline (pipes.ts), or a place
 * where its output is collected; and how what runs in its place is rewritten for that (script-transform.ts). Called by
 * just-bash's interpreter as it is patched (bash-pipe-patches.ts).
 */
import type { CommandNode, ScriptNode } from 'just-bash';
import { isCopy, SINKS } from './output-sinks.ts';
import { onlyCommand, type Pipe } from './pipes.ts';
import { isMade, type Streaming, watchesItself, withStreamedBody, withStreamedOutput } from './script-transform.ts';

/** The call's own output: a command may write to it before it ends. */
export class CallOutput {
  readonly live = true;
  readonly inWhole = true;
  /** The path that stdout is sent to (output-sinks.ts). */
  readonly output: string;
  /** The path that stderr is sent to; null when it is collected. */
  readonly errors: string | null;
  writers: readonly CommandNode[];

  constructor(writers: readonly CommandNode[], output: string, errors: string | null) {
    this.writers = writers;
    this.output = output;
    this.errors = errors;
  }

  /** A stage of a pipeline is to read it too. */
  get isPiped(): boolean {
    return isCopy(this.output);
  }

  /** The path that a stream of the command is sent to; null when it is collected. */
  pathOf(stream: keyof typeof SINKS): string | null {
    return stream === 'stdout' ? this.output : this.errors;
  }
}

/** Output that is collected with stderr among it, in a file or a variable say: what counts is the order of the two. */
export class JoinedOutput {
  readonly live = null;
  readonly inWhole = true;
  writers: readonly CommandNode[];

  constructor(writers: readonly CommandNode[]) {
    this.writers = writers;
  }
}

export type Outlet = Pipe | CallOutput | JoinedOutput;

/** The state of the interpreter, as far as it says where a command writes to. */
export interface OutputState {
  pipe?: Outlet | undefined;
  traps?: ReadonlyMap<string, string>;
  options?: { xtrace?: boolean; verbose?: boolean };
}

type Redirection = CommandNode['redirections'][number];

/** Where a command writes to, whose surroundings write to `outlet`. */
export function behind(outlet: Outlet | undefined, command: CommandNode): Outlet | undefined {
  const outputs = command.redirections?.filter(({ operator }) => operator.includes('>')) ?? [];
  const ofOutput = outputs.findLast(writesTo(1));
  const ofErrors = outputs.findLast(writesTo(2));
  if (ofOutput === undefined) {
    const isPart = outlet?.inWhole && !outlet.writers.includes(command);
    const own = isPart ? undefined : outlet;
    if (ofErrors === undefined) return own;
    if (own?.live) return new CallOutput(own.writers, own.output, errorsOf(ofErrors, own.output));
    if (own !== undefined && own.live === false) return own;
    return isToOutput(ofErrors) ? collected(command) : undefined;
  }
  const target = targetOf(ofOutput);
  if (command.type === 'Group' && target !== null && (target === SINKS.stdout || isCopy(target))) {
    const writer = lastCommand(command.body);
    return writer && new CallOutput([writer], target, ofErrors === undefined ? null : errorsOf(ofErrors, target));
  }
  const isBoth = ofOutput.operator.startsWith('&>') || (ofOutput.operator === '>&' && ofOutput.fd === null);
  const joins =
    ofErrors === undefined ? isBoth : isToOutput(ofErrors) && outputs.indexOf(ofErrors) > outputs.indexOf(ofOutput);
  return joins ? collected(command) : undefined;
}

function collected(command: CommandNode): JoinedOutput {
  const writer = command.type === 'Group' ? lastCommand(command.body) : undefined;
  return new JoinedOutput(writer === undefined ? [command] : [command, writer]);
}

function writesTo(descriptor: number): (redirection: Redirection) => boolean {
  return ({ operator, fd }) => (fd ?? (operator === '<>' ? 0 : 1)) === descriptor;
}

function isToOutput(redirection: Redirection): boolean {
  return redirection.operator === '>&' && targetOf(redirection) === '1';
}

/** The path that stderr is sent to by a redirection, beside that of stdout; null for another place. */
function errorsOf(redirection: Redirection, output: string): string | null {
  if (isToOutput(redirection)) return output;
  const target = targetOf(redirection);
  const isSink = target === SINKS.stdout || target === SINKS.stderr || (target !== null && isCopy(target));
  return isSink ? target : null;
}

function targetOf({ target }: Redirection): string | null {
  const [part, ...more] = 'parts' in target ? target.parts : [];
  return part !== undefined && more.length === 0 && 'value' in part ? part.value : null;
}

/** The outlet of a script that a command runs in its place. */
export function handedOn(outlet: Outlet | undefined, script: ScriptNode): Outlet | undefined {
  const writer = onlyCommand(script.statements);
  if (outlet !== undefined) outlet.writers = writer === undefined ? [] : [writer];
  return outlet;
}

/** A script that a command runs in its place, as it writes where that command would. */
export function scriptFor(state: OutputState, script: ScriptNode): ScriptNode {
  if (state.pipe === undefined || onlyCommand(script.statements)?.type === 'SimpleCommand') return script;
  const how = streamingTo(state.pipe, isWatched(state) || watchesItself(script));
  return how === null ? script : withStreamedOutput(script, () => {}, how);
}

/** The body of a function, as it writes where its call does. */
export function bodyFor(
  state: OutputState,
  { body, redirections }: { body: CommandNode; redirections: readonly unknown[] },
): CommandNode {
  const how = streamingTo(state.pipe, isWatched(state));
  return how === null || redirections.length > 0 ? body : withStreamedBody(body, how);
}

/** A compound command with redirections, as its parts write where it does. */
export function commandFor(state: OutputState, command: CommandNode): CommandNode {
  if (!command.redirections?.some(({ operator }) => operator.includes('>')) || isMade(command)) return command;
  const how = streamingTo(state.pipe, isWatched(state));
  return how === null || command.type === 'FunctionDef' ? command : withStreamedBody(command, how);
}

/** A stage of a pipeline, as its parts write to `outlet`. */
export function partsFor(state: OutputState, stage: CommandNode, outlet: Outlet): CommandNode {
  // With redirections it is rewritten by them, when it runs.
  if (stage.redirections?.some(({ operator }) => operator.includes('>')) || stage.type === 'FunctionDef') return stage;
  const how = streamingTo(outlet, isWatched(state));
  return how === null ? stage : withStreamedBody(stage, how);
}

/** Whether each command may print something of its own. */
function isWatched({ traps, options }: OutputState): boolean {
  return (traps?.size ?? 0) > 0 || options?.xtrace === true || options?.verbose === true;
}

/** How what is run in the place of a command that writes there is rewritten; null when it is not. */
function streamingTo(outlet: Outlet | undefined, watched: boolean): Streaming | null {
  if (outlet === undefined || outlet.live === false) return null;
  return outlet.live
    ? { output: outlet.output, errors: outlet.errors, isWatched: watched }
    : { output: SINKS.stdout, errors: null, isWatched: watched, isCollected: true };
}

/** The command whose output is that of the statement, when that is one pipeline. */
function lastCommand(statements: ScriptNode['statements']): CommandNode | undefined {
  const [statement, ...more] = statements;
  const [pipeline, ...others] = statement?.pipelines ?? [];
  return more.length > 0 || others.length > 0 ? undefined : pipeline?.commands.at(-1);
}

const ABORTED = /(?:^|(?<=\n))(?:bash: )?execution aborted\n$/;

/** The sentence of the interpreter at the end of what it says of a script that it broke off; empty for none. */
export function sentenceOf(stderr: string): string {
  return ABORTED.exec(stderr)?.[0] ?? '';
}

/** The same without that sentence: whoever ended the script says what has to be said. */
export function withoutSentence(stderr: string): string {
  return stderr.replace(ABORTED, '');
}
