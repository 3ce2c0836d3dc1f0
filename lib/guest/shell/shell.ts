/**
 * The guest's shell: just-bash over the VFS. One interpreter runs the top-level commands of a script in order. After
 * each command its writes are committed and its output is passed on. Owns the shell's limits and commands; knows
 * nothing of processes.
 */
import type { BashExecResult, BashOptions, Command } from 'just-bash';
import { WinterdockError } from '../../base/errors.ts';
import type { Tree } from '../../vfs/tree.ts';
import { bytesOfText } from '../../workers/protocol/byte-text.ts';
import { type Run, TIMED_OUT_EXIT } from '../../workers/protocol/call.ts';
import { missingDirectory } from '../../workers/protocol/missing-directory.ts';
import type { Capability, PolicyProfile } from '../../workers/protocol/policies.ts';
import { MAX_KEPT_LENGTH } from '../../workers/protocol/protocol.ts';
import { pythonCommands } from '../python/python.ts';
import { mayHaveJobs, withJobs } from './background-statements.ts';
import { Bash, DefenseInDepthBox, getCommandNames, latin1FromBytes, stdoutAsBytes } from './bash.ts';
import { gitCommand } from './commands/git-command.ts';
import { jobCommands } from './commands/job-commands.ts';
import { jsCommand } from './commands/js-command.ts';
import { ownCommands } from './commands/own-commands.ts';
import { sqliteCommand } from './commands/sqlite-command.ts';
import { trCommand } from './commands/tr-command.ts';
import { setScript } from './declared-uses.ts';
import { GuestFiles } from './guest-files.ts';
import { KeptShell, type KeptState } from './kept-shells.ts';
import { withoutSentence } from './outlets.ts';
import { OutputSinks } from './output-sinks.ts';
import { withStatementHook, withStreamedOutput } from './script-transform.ts';
import { takeSignal } from './shell-signals.ts';

const HOME = '/workspace';

/** `_`: CPython would set it to the path of its own file on the host. */
const ENVIRONMENT = { HOME, _: '/usr/bin/bash', USER: 'sandbox', TERM: 'dumb', LANG: 'C.UTF-8', TMPDIR: '/tmp' };
/** The shell's exit code for an interrupt. */
const INTERRUPTED_EXIT = 130;
const NOT_EXECUTABLE_EXIT = 126;
const ARCHIVES = ['tar', 'gzip', 'gunzip', 'zcat'] as const;
const PYTHON = ['python3', 'python'] as const;
const JAVASCRIPT = ['js', 'node'] as const;
type Profile = PolicyProfile & { name: string };

export interface ShellRequest {
  command: string;
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
  /** Arguments of the script's first command; the shell does not parse them. */
  args?: string[];
  /** As in an ExecRequest. */
  kept?: string | undefined;
}

export interface ShellOutcome {
  exitCode: number;
  cwd: string;
  timedOut: boolean;
  /** As in an ExecOutcome. */
  kept?: string;
}

/**
 * Switches on the shell's defences for the life of the process. Per script it would cost seven times as much as running
 * `true`.
 */
export function defendShells(): void {
  DefenseInDepthBox.getInstance(true).activate();
}

export class Shell {
  readonly #files: GuestFiles;
  readonly #bash: InstanceType<typeof Bash>;
  #run: Run | null = null;
  /** Set until the call's own script is parsed. Scripts that it runs itself are not rewritten. */
  #own = false;
  /** Whether that may hold `&` or `$!`. */
  #mayHaveJobs = false;
  /** What `&` of the script put aside. */
  #jobSources: string[] = [];

  constructor(vfs: Tree, profile: Profile) {
    const system = { files: () => this.#files };
    const customCommands = [
      ...commandsOf(profile, system, () => this.#running()),
      ...jobCommands(() => {
        const run = this.#running();
        return {
          sources: this.#jobSources,
          own: run.jobs,
          waited: run.waitedJobs,
          numbers: run.jobNumbers,
          ask: (request) => run.askJob(request),
        };
      }),
    ];
    const names = [...new Set([...getCommandNames(), ...customCommands.map(({ name }) => name)])];
    this.#files = new GuestFiles(vfs, names, new OutputSinks((stream, content) => this.#run?.add(stream, content)));
    this.#bash = new Bash({
      fs: this.#files,
      cwd: HOME,
      env: ENVIRONMENT,
      customCommands,
      executionLimits: limitsOf(profile.memoryBytes),
    });
    this.#bash.registerTransformPlugin({
      name: 'top-level-commands',
      transform: ({ ast }) => {
        const own = this.#own;
        this.#own = false;
        const { script, sources } = own && !this.#mayHaveJobs ? { script: ast, sources: [] } : withJobs(ast, own);
        if (own) this.#jobSources = sources;
        const streamed = own ? withStreamedOutput(script, () => this.#run?.commandEnded()) : script;
        return { ast: withStatementHook(streamed, () => this.#run?.checkLimits()) };
      },
    });
  }

  /**
   * Runs a script on the files of `run`, and stops when `run` stops. Sends output to `run`. Throws `validation` when
   * the working directory does not exist.
   */
  async exec(request: ShellRequest, run: Run): Promise<ShellOutcome> {
    this.#files.setTree(run.files);
    const cwd = await this.#directory(request.cwd ?? HOME);
    this.#files.cwd = cwd;
    this.#files.sinks.isFollowed = run.isFollowed;
    this.#files.sinks.written = run.isFollowed && run.commitsMeanwhile ? run.files : null;
    run.onSignal = takeSignal;
    setScript(run);
    this.#run = run;
    this.#own = true;
    this.#mayHaveJobs = mayHaveJobs(request.command);
    const { kept: before, command } = request;
    const kept = before === undefined ? null : new KeptShell(before, command, () => this.#run?.checkLimits());
    const onShell = (state: KeptState) => {
      Object.assign(state, { kept });
      kept?.begin(state);
    };
    try {
      const result = await this.#bash.exec(request.command, {
        cwd,
        env: { ...ENVIRONMENT, PWD: cwd, OLDPWD: cwd, ...request.env },
        rawScript: true,
        signal: run.signal,
        ...(request.stdin && { stdin: Buffer.from(request.stdin).toString('latin1'), stdinKind: 'bytes' as const }),
        ...(request.args && { args: request.args }),
        ...(kept && { onShell }),
      });
      const outcome = await this.#outcome(result, run);
      return kept === null ? outcome : { ...outcome, kept: keptText(kept, run) ?? before ?? '' };
    } finally {
      this.#run = null;
      this.#own = false;
      setScript(null);
    }
  }

  async #outcome(result: BashExecResult, run: Run): Promise<ShellOutcome> {
    const stopped = run.hasActedOnEnd || ((run.signal.aborted || run.expired) && result.exitCode === TIMED_OUT_EXIT);
    run.output.add('stdout', Buffer.from(latin1FromBytes(stdoutAsBytes(result)), 'latin1'));
    run.output.add('stderr', bytesOfText(stopped ? withoutSentence(result.stderr) : result.stderr));
    const exitCode = run.hasActedOnEnd ? TIMED_OUT_EXIT : !stopped || run.expired ? result.exitCode : INTERRUPTED_EXIT;
    return { exitCode, cwd: await this.#lastDirectory(result), timedOut: stopped && run.expired };
  }

  /**
   * The working directory at the end: as the last command left it, or as PWD says for a script that was not rewritten.
   */
  async #lastDirectory(result: BashExecResult): Promise<string> {
    const observed = this.#files.cwd;
    const declared = result.env.PWD;
    return declared !== undefined &&
      declared !== observed &&
      result.exitCode === 0 &&
      (await this.#isDirectory(declared))
      ? declared
      : observed;
  }

  #running(): Run {
    if (this.#run === null) throw new Error('A command of the shell was called outside a script.');
    return this.#run;
  }

  async #directory(path: string): Promise<string> {
    // The root of a volume cannot be removed.
    if (path === HOME) return path;
    if (path.startsWith('/') && (await this.#isDirectory(path))) return this.#files.resolvePath('/', path);
    throw new WinterdockError('validation', missingDirectory(path), {
      hint: 'Give an absolute path of a directory, like /workspace.',
      extra: { errors: [{ path: 'cwd', message: 'must be a directory of the sandbox' }] },
    });
  }

  async #isDirectory(path: string): Promise<boolean> {
    return (await this.#files.exists(path)) && (await this.#files.stat(path)).isDirectory;
  }
}

/** What a terminal's next line begins with; null when this one has made it too much, which is said. */
function keptText({ after }: KeptShell, run: Run): string | null {
  if (after === null)
    run.output.add(
      'stderr',
      Buffer.from(
        `bash: the variables, functions and aliases of this terminal take more than ${MAX_KEPT_LENGTH / 1024} KiB: what this line changed of them is not kept\n`,
      ),
    );
  return after;
}

/** Our own commands, and a command that prints an error in place of each one that the profile lacks. */
function commandsOf(profile: Profile, system: { files: () => GuestFiles }, running: () => Run): Command[] {
  const kinds: [Capability, readonly string[], () => Command[]][] = [
    ['js', JAVASCRIPT, () => JAVASCRIPT.map((name) => jsCommand(name, profile.memoryBytes, running, system))],
    [
      'python',
      PYTHON,
      () => pythonCommands(PYTHON, { files: system.files, running, memoryBytes: profile.memoryBytes }),
    ],
    ['archives', ARCHIVES, () => []],
  ];
  const lackingOrMade = kinds.flatMap(([capability, names, make]) =>
    profile.capabilities.includes(capability)
      ? make()
      : names.map((name) => missingCommand(name, capability, profile.name)),
  );
  return [
    trCommand(),
    gitCommand(running),
    sqliteCommand(profile.memoryBytes, running),
    ...ownCommands(system, running),
    ...lackingOrMade,
  ];
}

function missingCommand(name: string, capability: Capability, policy: string): Command {
  const stderr = `${name}: the policy "${policy}" of this sandbox has no ${capability}\n`;
  return { name, execute: async () => ({ stdout: '', stderr, exitCode: NOT_EXECUTABLE_EXIT }) };
}

/**
 * Time and memory bound a script. just-bash's counters are off, because they would end a script with exit 126 after
 * some number of commands. The size of one value follows from the memory; the output and redirections of a script may
 * be four times the memory.
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
