/** `box.commands`: scripts in the sandbox's shell. Safe for the browser. */
import type { CallOptions } from '../call.ts';
import type { WinterdockClient } from '../client.ts';
import type { ExecAnswer } from '../types.ts';
import { CollectedOutput, type OutputCallbacks, textOfOutput } from './output.ts';
import type { BackgroundRun, RunOptions, SandboxRuns } from './runs.ts';

/** What a script takes. */
export interface CommandOptions extends Omit<RunOptions, 'stdin'>, OutputCallbacks {
  /** Text or bytes for its stdin. */
  stdin?: string | Uint8Array;
  background?: false;
}

/** How a script ended. An exit code other than 0 is a result, not an error. */
export interface CommandResult {
  exitCode: number;
  /** Its output as text; what is no UTF-8 is replaced. `onStdout` gets the bytes. */
  stdout: string;
  stderr: string;
  /** Where it ended. */
  cwd: string;
  timedOut: boolean;
  /** The output was longer than an answer holds. */
  truncated: boolean;
  tookMs: number;
  /** Where the sandbox woke from. */
  woke: ExecAnswer['woke'];
}

type Ending = Omit<ExecAnswer, 'stdout' | 'stderr' | 'stdout_encoding' | 'stderr_encoding'>;

function resultOf(ending: Ending, texts: { stdout: string; stderr: string }): CommandResult {
  return {
    exitCode: ending.exit_code,
    stdout: texts.stdout,
    stderr: texts.stderr,
    cwd: ending.cwd,
    timedOut: ending.timed_out,
    truncated: ending.truncated,
    tookMs: ending.took_ms,
    woke: ending.woke,
  };
}

export class SandboxCommands {
  readonly #client: WinterdockClient;
  readonly #sandbox: string;
  readonly #runs: SandboxRuns;

  constructor(client: WinterdockClient, sandbox: string, runs: SandboxRuns) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.#runs = runs;
  }

  /**
   * Runs a script to its end. Wakes a sleeping sandbox. Aborting `signal` stops the script on the server and rejects
   * with its reason. Never retried: a lost connection is `network`. With `background` it is begun on the server and
   * goes on by itself, and aborting stops only the asking.
   */
  run(command: string, options: RunOptions & { background: true }): Promise<BackgroundRun>;
  run(command: string, options?: CommandOptions): Promise<CommandResult>;
  async run(
    command: string,
    options: CommandOptions | (RunOptions & { background: true }) = {},
  ): Promise<CommandResult | BackgroundRun> {
    if (options.background === true) {
      const { background: _, ...rest } = options;
      return this.#runs.start(command, rest);
    }
    const { background: _, onStdout, onStderr, cwd, env, stdin, timeoutMs, ...call } = options;
    const input = { command, cwd, env, stdin, timeout_ms: timeoutMs };
    if (onStdout === undefined && onStderr === undefined && typeof stdin !== 'object') {
      return this.#whole({ ...input, stdin }, call);
    }
    const output = new CollectedOutput({ onStdout, onStderr });
    for await (const event of this.#client.execStream(this.#sandbox, input, call)) {
      if (event.event === 'exit') return resultOf(event, output.texts());
      if (event.event !== 'woke') await output.add(event.event, event.bytes);
    }
    // The stream ends with `exit` or by an error; the compiler does not know that.
    throw new Error('A script ended without its exit.');
  }

  async #whole(input: Parameters<WinterdockClient['execInInstance']>[1], call: CallOptions): Promise<CommandResult> {
    const answer = await this.#client.execInInstance(this.#sandbox, input, call);
    return resultOf(answer, {
      stdout: textOfOutput(answer.stdout, answer.stdout_encoding),
      stderr: textOfOutput(answer.stderr, answer.stderr_encoding),
    });
  }
}
