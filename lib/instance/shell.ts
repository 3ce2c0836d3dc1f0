/**
 * The guest's shell: just-bash over the VFS. A script's top-level commands run one after another in one interpreter, so variables, functions
 * and the working directory carry on; after each one its writes are committed and its output is handed on. Knows nothing of processes.
 */
import {
  Bash,
  type BashExecResult,
  latin1FromBytes,
  parse,
  type ScriptNode,
  type StatementNode,
  stdoutAsBytes,
} from 'just-bash';
import type { Vfs } from '../vfs/vfs.ts';
import { GuestFiles } from './guest-files.ts';
import type { ExecOutcome } from './instance.ts';
import { jsCommand } from './js-command.ts';
import { Output } from './output.ts';
import type { profileOf } from './policies.ts';
import type { ExecCall } from './protocol.ts';

type Profile = ReturnType<typeof profileOf>;

export const HOME = '/workspace';

/** Paths that a command's output is redirected to, so that it leaves when the command ends. */
const SINKS = { stdout: '/dev/winterdock/stdout', stderr: '/dev/winterdock/stderr' } as const;
/** Counters that would end a script before its time does: time and memory are the limits here. */
const UNCOUNTED = 1_000_000_000_000;
const MIB = 1024 * 1024;
const TIMED_OUT_EXIT = 124;

/** `_` is what CPython would otherwise fill with the path of its own file on the host. */
const ENVIRONMENT = { _: '/usr/bin/bash', HOME, USER: 'sandbox', TERM: 'dumb', LANG: 'C.UTF-8', TMPDIR: '/tmp' };

/** One top-level command with its output redirected to the sinks, in the same shell. */
function redirected(statement: StatementNode): StatementNode {
  const [group] = parse(`{ :; } >> ${SINKS.stdout} 2>> ${SINKS.stderr}`).statements;
  const command = group?.pipelines[0]?.commands[0];
  if (group === undefined || command?.type !== 'Group') throw new Error('The shell parsed a group as something else.');
  command.body = [statement];
  return group;
}

/** A list whose iteration calls `between` before each element but the first. */
class Watched extends Array<StatementNode> {
  between: () => void = () => {};

  override *[Symbol.iterator](): ArrayIterator<StatementNode> {
    for (let at = 0; at < this.length; at += 1) {
      if (at > 0) this.between();
      const statement = this[at];
      if (statement !== undefined) yield statement;
    }
  }

  static watching(statements: StatementNode[], between: () => void): Watched {
    const watched = new Watched();
    watched.push(...statements);
    watched.between = between;
    return watched;
  }
}

export class Shell {
  readonly #files: GuestFiles;
  readonly #bash: Bash;
  #vfs: Vfs;
  #output = new Output();
  /** Of `performance.now()`, of the call that runs. */
  #deadline = 0;
  /** The next script to be parsed is the call's own; scripts that it runs itself are left as they are. */
  #top = false;

  constructor(vfs: Vfs, profile: Profile) {
    this.#vfs = vfs;
    this.#files = new GuestFiles(
      vfs,
      new Map([
        [SINKS.stdout, (content) => void this.#output.add('stdout', content)],
        [SINKS.stderr, (content) => void this.#output.add('stderr', content)],
      ]),
    );
    this.#bash = new Bash({
      fs: this.#files,
      cwd: HOME,
      env: ENVIRONMENT,
      python: profile.capabilities.includes('python'),
      customCommands: profile.capabilities.includes('js') ? [jsCommand(profile, () => this.#deadline)] : [],
      executionLimits: {
        maxCommandCount: UNCOUNTED,
        maxLoopIterations: UNCOUNTED,
        maxAwkIterations: UNCOUNTED,
        maxSedIterations: UNCOUNTED,
        maxJqIterations: UNCOUNTED,
        maxExecutionTimeMs: profile.timeMs,
        maxPythonTimeoutMs: profile.timeMs,
        maxStringLength: profile.memoryBytes / 8,
        maxOutputSize: 16 * MIB,
        maxCallDepth: 200,
      },
    });
    this.#bash.registerTransformPlugin({
      name: 'top-level-commands',
      transform: ({ ast }) => ({ ast: this.#top ? this.#watched(ast) : ast }),
    });
  }

  /** Shows another VFS from now on. */
  show(vfs: Vfs): void {
    this.#vfs = vfs;
    this.#files.show(vfs);
  }

  /** The last command's output is the script's own answer; each before it is redirected and leaves when it ends. */
  #watched(ast: ScriptNode): ScriptNode {
    this.#top = false;
    const last = ast.statements.length - 1;
    const statements = ast.statements.map((statement, at) => (at === last ? statement : redirected(statement)));
    return { ...ast, statements: Watched.watching(statements, () => this.#commit()) };
  }

  #commit(): void {
    this.#vfs.commit();
    this.#vfs.begin();
  }

  /** A file system's refusal that no command of the shell took ends the script with it. */
  async #execute(
    call: ExecCall,
    signal: AbortSignal,
  ): Promise<Pick<BashExecResult, 'stdout' | 'stderr' | 'exitCode' | 'env'>> {
    try {
      return await this.#bash.exec(call.command, {
        cwd: call.cwd ?? HOME,
        env: { ...ENVIRONMENT, PWD: call.cwd ?? HOME, ...call.env },
        rawScript: true,
        signal,
        ...(call.stdin === undefined ? {} : { stdin: call.stdin }),
      });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code)))) throw error;
      return { stdout: '', stderr: `bash: ${error.message}\n`, exitCode: 1, env: {} };
    }
  }

  /**
   * Runs a script inside an open group of the VFS. `signal` stops it between commands. Output beyond the limit is cut. The caller
   * commits the last command's writes before it answers.
   */
  async run(call: ExecCall, output: Output, signal: AbortSignal): Promise<Omit<ExecOutcome, 'tookMs'>> {
    this.#output = output;
    this.#deadline = performance.now() + call.timeoutMs;
    this.#top = true;
    const ended = { cwd: call.cwd ?? HOME };
    const result = await this.#execute(call, signal);
    this.#top = false;
    output.add('stdout', Buffer.from(latin1FromBytes(stdoutAsBytes(result)), 'latin1'));
    output.add('stderr', Buffer.from(result.stderr));
    if (result.env.PWD !== undefined) ended.cwd = result.env.PWD;
    const timedOut = signal.aborted || (result.exitCode === TIMED_OUT_EXIT && /execution deadline/.test(result.stderr));
    return {
      exitCode: timedOut ? TIMED_OUT_EXIT : result.exitCode,
      stdout: output.text('stdout'),
      stderr: output.text('stderr'),
      cwd: ended.cwd,
      timedOut,
      truncated: output.truncated,
    };
  }
}
