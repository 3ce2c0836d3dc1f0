/**
 * The guest's shell: just-bash over the VFS. One interpreter runs a script's top-level commands one after another;
 * after each its writes are committed and its output is handed on. Owns its limits and commands; knows nothing of
 * processes.
 */
import type { BashExecResult, BashOptions, Command } from 'just-bash';
import { WinterdockError } from '../base/errors.ts';
import type { Tree } from '../vfs/tree.ts';
import { Bash, DefenseInDepthBox, getCommandNames, latin1FromBytes, stdoutAsBytes } from './bash.ts';
import { bytesOfText } from './byte-text.ts';
import { GuestFiles } from './guest-files.ts';
import { jsCommand } from './js-command.ts';
import type { Capability, PolicyProfile } from './policies.ts';
import { pythonCommands } from './python.ts';
import type { Run } from './run.ts';
import { SINKS, withStatementHook, withStreamedOutput } from './script-transform.ts';
import { trCommand } from './tr-command.ts';

const HOME = '/workspace';

/** `_`: CPython would fill it with the path of its own file on the host. */
const ENVIRONMENT = { HOME, _: '/usr/bin/bash', USER: 'sandbox', TERM: 'dumb', LANG: 'C.UTF-8', TMPDIR: '/tmp' };
const TIMED_OUT_EXIT = 124;
/** As a shell says that it was interrupted. */
const STOPPED_EXIT = 130;
const CANNOT_EXIT = 126;
const ARCHIVES = ['tar', 'gzip', 'gunzip', 'zcat'] as const;
const PYTHON = ['python3', 'python'] as const;
const JAVASCRIPT = ['js'] as const;
/** How the shell puts a variable that `set -u` forbids, when a group catches the error. */
const UNBOUND = /^\w+: unbound variable\n$/;

type Profile = PolicyProfile & { name: string };

export interface ShellRequest {
  command: string;
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
  /** Arguments of the script's first command, which the shell does not look at. */
  args?: string[];
}

export interface ShellOutcome {
  exitCode: number;
  cwd: string;
  timedOut: boolean;
}

/**
 * Switches the shell's defences on for the life of the process: for every script it costs seven times as much as
 * running `true`.
 */
export function defendShells(): void {
  DefenseInDepthBox.getInstance(true).activate();
}

export class Shell {
  readonly #files: GuestFiles;
  readonly #bash: InstanceType<typeof Bash>;
  #run: Run | null = null;
  /** The next script to be parsed is the call's own; scripts that it runs itself are left as they are. */
  #own = false;
  #unbound = false;

  constructor(vfs: Tree, profile: Profile) {
    const customCommands = commandsOf(profile, () => this.#running());
    const names = [...new Set([...getCommandNames(), ...customCommands.map(({ name }) => name)])];
    this.#files = new GuestFiles(
      vfs,
      names,
      new Map([
        [SINKS.stdout, (content) => this.#run?.add('stdout', content)],
        [SINKS.stderr, (content) => this.#said(content)],
      ]),
    );
    this.#bash = new Bash({
      fs: this.#files,
      cwd: HOME,
      env: ENVIRONMENT,
      python: profile.capabilities.includes('python'),
      customCommands,
      executionLimits: limitsOf(profile.memoryBytes),
    });
    this.#bash.registerTransformPlugin({
      name: 'top-level-commands',
      transform: ({ ast }) => {
        const own = this.#own;
        this.#own = false;
        const script = own ? withStreamedOutput(ast, () => this.#run?.commandEnded()) : ast;
        return { ast: withStatementHook(script, () => this.#run?.checkDeadline()) };
      },
    });
  }

  /**
   * Runs a script within `run`, over its files, which it stops at. Output goes to the run. Throws `validation` when the
   * directory it should run in is not there.
   */
  async exec(request: ShellRequest, run: Run): Promise<ShellOutcome> {
    this.#files.setTree(run.files);
    const cwd = await this.#directory(request.cwd ?? HOME);
    this.#files.cwd = cwd;
    this.#run = run;
    this.#own = true;
    try {
      const result = await this.#bash.exec(request.command, {
        cwd,
        env: { ...ENVIRONMENT, PWD: cwd, OLDPWD: cwd, ...request.env },
        rawScript: true,
        signal: run.signal,
        ...(request.stdin && { stdin: Buffer.from(request.stdin).toString('latin1'), stdinKind: 'bytes' as const }),
        ...(request.args && { args: request.args }),
      });
      return await this.#outcome(result, run);
    } finally {
      this.#run = null;
      this.#own = false;
    }
  }

  async #outcome(result: BashExecResult, run: Run): Promise<ShellOutcome> {
    run.output.add('stdout', Buffer.from(latin1FromBytes(stdoutAsBytes(result)), 'latin1'));
    run.output.add('stderr', bytesOfText(result.stderr));
    const stopped = (run.signal.aborted || run.expired) && result.exitCode === TIMED_OUT_EXIT;
    const exitCode = !stopped || run.expired ? result.exitCode : this.#unbound ? 1 : STOPPED_EXIT;
    this.#unbound = false;
    return { exitCode, cwd: await this.#lastDirectory(result), timedOut: stopped && run.expired };
  }

  /**
   * The shell's directory at its end: as its last command left it, or in a script that was not rewritten, as its
   * variables say.
   */
  async #lastDirectory(result: BashExecResult): Promise<string> {
    const seen = this.#files.cwd;
    const said = result.env.PWD;
    return said !== undefined && said !== seen && result.exitCode === 0 && (await this.#isDirectory(said))
      ? said
      : seen;
  }

  /** A group turns the end that `set -u` makes of a script into an ordinary failure; it is made an end again. */
  #said(content: Uint8Array): void {
    this.#run?.add('stderr', content);
    if (content.byteLength > 0 && content.byteLength < 300 && UNBOUND.test(Buffer.from(content).toString())) {
      this.#unbound = true;
      this.#run?.stop();
    }
  }

  #running(): Run {
    if (this.#run === null) throw new Error('A command of the shell was called outside a script.');
    return this.#run;
  }

  async #directory(path: string): Promise<string> {
    if (path.startsWith('/') && (await this.#isDirectory(path))) return this.#files.resolvePath('/', path);
    throw new WinterdockError('validation', `There is no directory ${JSON.stringify(path.slice(0, 200))} to run in.`, {
      hint: 'Give an absolute path of a directory, like /workspace.',
      extra: { errors: [{ path: 'cwd', message: 'must be a directory of the sandbox' }] },
    });
  }

  async #isDirectory(path: string): Promise<boolean> {
    return (await this.#files.exists(path)) && (await this.#files.stat(path)).isDirectory;
  }
}

/** Our own commands, and in place of what the profile lacks a word about it. */
function commandsOf(profile: Profile, running: () => Run): Command[] {
  const kinds: [Capability, readonly string[], () => Command[]][] = [
    ['js', JAVASCRIPT, () => [jsCommand(profile.memoryBytes, running)]],
    ['python', PYTHON, () => pythonCommands(PYTHON)],
    ['archives', ARCHIVES, () => []],
  ];
  const lackingOrMade = kinds.flatMap(([capability, names, make]) =>
    profile.capabilities.includes(capability) ? make() : names.map((name) => lacking(name, capability, profile.name)),
  );
  return [trCommand(), ...lackingOrMade];
}

function lacking(name: string, capability: Capability, policy: string): Command {
  const stderr = `${name}: the policy "${policy}" of this sandbox has no ${capability}\n`;
  return { name, execute: async () => ({ stdout: '', stderr, exitCode: CANNOT_EXIT }) };
}

/**
 * What bounds a script is its time and its memory, so just-bash's counters do not: they would end it with exit 126 at
 * some number of commands. What one value may take follows from the memory; what a script may say or redirect in all is
 * four times it.
 */
function limitsOf(memoryBytes: number): NonNullable<BashOptions['executionLimits']> {
  const never = Number.MAX_SAFE_INTEGER;
  const untimed = Number.POSITIVE_INFINITY;
  return {
    maxCommandCount: never,
    maxLoopIterations: never,
    maxAwkIterations: never,
    maxSedIterations: never,
    maxJqIterations: never,
    maxWorkUnits: never,
    maxGlobOperations: never,
    maxTraversalEntries: never,
    maxTraversalWork: never,
    maxInputBytes: never,
    maxExecutionTimeMs: untimed,
    maxSqliteTimeoutMs: untimed,
    maxPythonTimeoutMs: untimed,
    maxCallDepth: 200,
    maxStringLength: memoryBytes / 4,
    maxHeredocSize: memoryBytes / 4,
    maxLiveBytes: memoryBytes,
    maxArrayElements: memoryBytes / 128,
    maxBraceExpansionResults: memoryBytes / 256,
    maxOutputSize: memoryBytes * 4,
  };
}
