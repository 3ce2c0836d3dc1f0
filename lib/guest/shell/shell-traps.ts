/**
 * The shell's `trap`: actions for EXIT, ERR and RETURN, and those for signals, which it keeps and lists. Called by
 * just-bash's interpreter as it is patched (bash-script-patches.ts); knows of it what `ShellContext` says.
 */
import type { ScriptNode } from 'just-bash';
import { bytesOfText } from '../../workers/protocol/byte-text.ts';
import { guestFiles, type MountedFiles } from './mounted-files.ts';
import type { Outlet } from './outlets.ts';
import { SINKS } from './output-sinks.ts';
import { enterShell, isSignalled, pendingSignal, takeFatal, takePending, withoutSignal } from './shell-signals.ts';

interface ShellResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}

interface ShellContext {
  state: {
    traps?: Map<string, string> | undefined;
    /** An action runs: `$BASH_COMMAND` stays the command in front of it. */
    inAction?: boolean | undefined;
    /** How often an ERR action ran. A command that contains the failed one does not run it again. */
    errorTraps?: number;
    /** The mask of shell-umask.ts. */
    umask?: string | undefined;
    callDepth: number;
    /** The line of the command that runs or ran last. */
    currentLine?: number;
    lastExitCode: number;
    signal?: AbortSignal;
    pipe?: Outlet | undefined;
    env: Map<string, string>;
    options: { errtrace?: boolean };
    /** Whether `exit` was called. An error that ends a script ends no shell of a terminal. */
    exits?: boolean | undefined;
    /** Of a terminal's line: its actions stay for the next one. */
    kept?: { end(state: ShellContext['state'], hasExited: boolean): void } | undefined;
  };
  fs: MountedFiles;
  executeScript(script: ScriptNode): Promise<ShellResult>;
}

/** What the interpreter gives: its parser, its test for `exit`, and the bytes of a result. */
interface Interpreter {
  parse(text: string): ScriptNode;
  isExit(error: unknown): error is ShellResult;
  exit(exitCode: number): Error;
  bytesOf(result: ShellResult): string;
}

const SIGNALS = 'EXIT HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM'.split(' ');
const CONDITIONS = [...SIGNALS, 'ERR', 'RETURN', 'CHLD', 'CONT', 'STOP', 'TSTP', 'TTIN', 'TTOU', 'WINCH'];
const USAGE = 'trap: usage: trap [-lp] [[arg] signal_spec ...]\n';

/** The builtin. */
export function trap(context: ShellContext, args: readonly string[]): ShellResult {
  const traps = trapsOf(context);
  const words = args[0] === '--' ? args.slice(1) : args;
  const [first, ...rest] = words;
  if (first === undefined || first === '-p') return { stdout: listed(traps, rest), stderr: '', exitCode: 0 };
  if (first === '-l') return failed('trap: -l is not supported\n', 2);
  if (first.startsWith('-') && first !== '-') return failed(`trap: ${first}: invalid option\n${USAGE}`, 2);
  const resets = first === '-' || (rest.length === 0 && conditionOf(first) !== null) || /^\d+$/.test(first);
  const specifications = first === '-' || !resets ? rest : words;
  if (specifications.length === 0) return failed(USAGE, 2);
  let stderr = '';
  for (const specification of specifications) {
    const condition = conditionOf(specification);
    if (condition === null) {
      const reason = /^(SIG)?DEBUG$/i.test(specification)
        ? 'actions before each command are not supported'
        : 'invalid signal specification';
      stderr += `bash: trap: ${specification}: ${reason}\n`;
    } else if (resets) traps.delete(condition);
    else if (condition === 'CHLD' && first !== '') {
      stderr += `bash: trap: ${specification}: actions at the end of a command or job are not supported\n`;
    } else traps.set(condition, first);
  }
  return { stdout: '', stderr, exitCode: stderr === '' ? 0 : 1 };
}

function trapsOf({ state }: ShellContext): Map<string, string> {
  state.traps ??= new Map();
  return state.traps;
}

function failed(message: string, exitCode: number): ShellResult {
  return { stdout: '', stderr: `bash: ${message}`, exitCode };
}

function conditionOf(specification: string): string | null {
  const name = specification.toUpperCase().replace(/^SIG(?=.)/, '');
  const condition = /^\d+$/.test(name) ? SIGNALS[Number(name)] : name;
  return condition !== undefined && CONDITIONS.includes(condition) ? condition : null;
}

function listed(traps: ReadonlyMap<string, string>, only: readonly string[]): string {
  const chosen = only.map(conditionOf);
  return CONDITIONS.filter((condition) => traps.has(condition) && (only.length === 0 || chosen.includes(condition)))
    .map((condition) => {
      const action = `'${(traps.get(condition) ?? '').replaceAll("'", "'\\''")}'`;
      return `trap -- ${action} ${/^(?:EXIT|ERR|RETURN)$/.test(condition) ? '' : 'SIG'}${condition}\n`;
    })
    .join('');
}

/** Runs a shell or subshell, which begins without traps and with a mask of its own, and then its EXIT action. */
export async function withTraps<Result extends ShellResult>(
  context: ShellContext,
  interpreter: Interpreter,
  run: () => Promise<Result>,
): Promise<Result> {
  const { state } = context;
  const { traps: outer, umask, kept, exits } = state;
  state.kept = undefined;
  const leave = enterShell(context);
  if (kept === undefined) state.traps = undefined;
  let hasExited = false;
  try {
    const result = await ended(interpreter, async () => {
      const done = await run();
      // One that ends this shell alone has ended what ran, or came during the last command.
      const fatal = kept === undefined && isSignalled() ? takeFatal(state.traps) : null;
      if (fatal !== null) return { ...done, exitCode: 128 + SIGNALS.indexOf(fatal) };
      // It came during the last command.
      if (isSignalled()) await withOutputOf(done, interpreter, () => actOnSignal(context, interpreter));
      return done;
    });
    hasExited = result.hasExited && state.exits === true;
    if (kept !== undefined && !hasExited) return result.ended();
    const action = takeAction(context, 'EXIT');
    if (action === '' || state.signal?.aborted) return result.ended();
    const shown = await withoutSignal(() => runAction(context, interpreter, action, result.exitCode));
    return result.ended(shown);
  } finally {
    kept?.end(state, hasExited);
    state.traps = outer;
    state.umask = umask;
    state.exits = exits;
    leave();
  }
}

export { isSignalled } from './shell-signals.ts';

/**
 * Acts on the signals that wait: runs the shell's actions for them, one after the other, or ends the shell when only
 * one around it has one, or an action for its end.
 */
export async function actOnSignal(context: ShellContext, interpreter: Interpreter): Promise<void> {
  const { state } = context;
  if (state.signal?.aborted) return;
  for (const signal of takePending(state.traps)) await actOn(context, interpreter, signal);
  const left = pendingSignal();
  if (left !== null && !state.traps?.has(left)) throw interpreter.exit(128 + SIGNALS.indexOf(left));
}

async function actOn(context: ShellContext, interpreter: Interpreter, signal: string): Promise<void> {
  const action = context.state.traps?.get(signal) ?? '';
  if (action === '') return;
  const shown = await runAction(context, interpreter, action, context.state.lastExitCode);
  // What the action around it wrote is sent when that one ends, and comes first.
  if (shown.exited && context.state.inAction) {
    const { stdout, stderr } = shown;
    throw Object.assign(interpreter.exit(shown.exitCode), { stdout, stderr });
  }
  const { sinks } = guestFiles(context.fs);
  const { pipe } = context.state;
  sinks.send(pipe?.live ? pipe.output : SINKS.stdout, Buffer.from(shown.stdout, 'latin1'));
  sinks.send((pipe?.live ? pipe.errors : null) ?? SINKS.stderr, bytesOfText(shown.stderr));
  if (shown.exited) throw interpreter.exit(shown.exitCode);
}

/** An `exit` in what follows a command takes the output of that with it. */
async function withOutputOf(done: ShellResult, { isExit, bytesOf }: Interpreter, next: () => Promise<void>) {
  try {
    await next();
  } catch (error) {
    if (isExit(error)) {
      error.stdout = bytesOf(done) + error.stdout;
      error.stderr = done.stderr + error.stderr;
    }
    throw error;
  }
}

interface Ended<Result> {
  exitCode: number;
  /** By `exit`. */
  hasExited: boolean;
  /** The result, or the error, with the output of an action behind its own. */
  ended(action?: ActionResult): Result;
}

async function ended<Result extends ShellResult>(
  { isExit, bytesOf }: Interpreter,
  run: () => Promise<Result>,
): Promise<Ended<Result>> {
  try {
    const result = await run();
    return {
      exitCode: result.exitCode,
      hasExited: false,
      ended: (action) =>
        action === undefined
          ? result
          : {
              ...result,
              stdout: bytesOf(result) + action.stdout,
              stdoutKind: 'bytes',
              stderr: result.stderr + action.stderr,
              exitCode: action.exited ? action.exitCode : result.exitCode,
            },
    };
  } catch (error) {
    if (!isExit(error)) throw error;
    return {
      exitCode: error.exitCode,
      hasExited: true,
      ended: (action) => {
        if (action !== undefined) {
          error.stdout += action.stdout;
          error.stderr += action.stderr;
          if (action.exited) error.exitCode = action.exitCode;
        }
        throw error;
      },
    };
  }
}

/** Runs the ERR action after a failed command. Null when there is none, or it ran for a command inside this one. */
export async function afterError(
  context: ShellContext,
  interpreter: Interpreter,
  ranBefore: number,
  exitCode: number,
): Promise<ShellResult | null> {
  const { state } = context;
  const action = state.traps?.get('ERR') ?? '';
  if (action === '' || (state.errorTraps ?? 0) > ranBefore) return null;
  if (state.callDepth > 0 && !state.options.errtrace) return null;
  const result = await runAction(context, interpreter, action, exitCode, state.currentLine);
  state.errorTraps = (state.errorTraps ?? 0) + 1;
  return result;
}

/** Runs a function and then the RETURN action that it has set. */
export async function withReturnTrap<Result extends ShellResult>(
  context: ShellContext,
  interpreter: Interpreter,
  run: () => Promise<Result>,
): Promise<Result> {
  const outer = takeAction(context, 'RETURN');
  try {
    const result = await run();
    const action = takeAction(context, 'RETURN');
    if (action === '') return result;
    const shown = await runAction(context, interpreter, action, result.exitCode);
    const stdout = interpreter.bytesOf(result) + shown.stdout;
    return { ...result, stdout, stdoutKind: 'bytes', stderr: result.stderr + shown.stderr };
  } finally {
    if (outer !== '') trapsOf(context).set('RETURN', outer);
  }
}

/** Removes and returns an action; empty when there is none. */
function takeAction({ state }: ShellContext, condition: string): string {
  const action = state.traps?.get(condition) ?? '';
  state.traps?.delete(condition);
  return action;
}

interface ActionResult extends ShellResult {
  /** Whether the action called `exit`. */
  exited: boolean;
}

/** Runs an action with `$?` as the exit code of the command before it, which it leaves as it was. */
async function runAction(
  context: ShellContext,
  { parse, isExit, bytesOf }: Interpreter,
  action: string,
  exitCode: number,
  line?: number,
): Promise<ActionResult> {
  const { state } = context;
  const setExitCode = () => {
    state.lastExitCode = exitCode;
    state.env.set('?', String(exitCode));
  };
  setExitCode();
  const outer = state.inAction;
  state.inAction = true;
  try {
    const script = parse(action);
    if (line !== undefined) moveToLine(script, line);
    const result = await context.executeScript(script);
    return { stdout: bytesOf(result), stderr: result.stderr, exitCode: result.exitCode, exited: false };
  } catch (error) {
    if (!isExit(error)) throw error;
    return { stdout: error.stdout, stderr: error.stderr, exitCode: error.exitCode, exited: true };
  } finally {
    state.inAction = outer;
    setExitCode();
  }
}

/** Makes `$LINENO` of an action the line of the command that failed. */
function moveToLine(node: object, line: number): void {
  if ('line' in node) node.line = line;
  for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) moveToLine(child, line);
}
