/** Runs of a sandbox: scripts that outlive the request that began them. Safe for the browser. */
import type { CallOptions } from '../call.ts';
import type { WinterdockClient } from '../client.ts';
import type { FollowRunOptions, RunEvent } from '../follow-run.ts';
import type { Pages } from '../pages.ts';
import type { RunsQuery, SandboxRun } from '../types.ts';
import { CollectedOutput, type OutputCallbacks } from './output.ts';

/** What a background script takes. */
export interface RunOptions extends CallOptions {
  /** Where it begins. Default: `/workspace`. */
  cwd?: string;
  /** Environment variables. */
  env?: Record<string, string>;
  /** Text for its stdin. */
  stdin?: string;
  /** How long it may run, from its turn on. Default: the policy's time of a call. */
  timeoutMs?: number;
}

/** How a background script ended. */
export interface BackgroundResult {
  /** Null when it did not come to an end of its own: see `state`. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** `done`; `stopped`, `failed` or `lost` (the server was restarted): `reason` says why. */
  state: SandboxRun['state'];
  reason: string | null;
  timedOut: boolean;
  /** Bytes of the outputs that the server no longer had. */
  dropped: number;
  tookMs: number | null;
}

/** A script that runs on the server, whoever listens. */
export class BackgroundRun {
  readonly id: string;
  readonly #client: WinterdockClient;
  readonly #sandbox: string;

  constructor(client: WinterdockClient, sandbox: string, id: string) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.id = id;
  }

  /** How it stands now. */
  info(options?: CallOptions): Promise<SandboxRun> {
    return this.#client.getRun(this.#sandbox, this.id, options);
  }

  /** Its output from `offset` on as it comes, and at last `exit`. Leaving the loop does not stop it. */
  follow(options?: FollowRunOptions): AsyncGenerator<RunEvent, void, void> {
    return this.#client.followRun(this.#sandbox, this.id, options);
  }

  /** Waits for its end, and gives all its output; the callbacks get it as it comes. Aborting stops only the waiting. */
  async wait(options: FollowRunOptions & OutputCallbacks = {}): Promise<BackgroundResult> {
    const output = new CollectedOutput(options);
    let dropped = 0;
    let last: SandboxRun | undefined;
    for await (const event of this.follow(options)) {
      if (event.event === 'run' || event.event === 'exit') last = event.run;
      else if (event.event === 'gap') dropped += event.dropped;
      else await output.add(event.event, event.bytes);
    }
    const { exit_code, state, reason, timed_out, took_ms } = last ?? (await this.info(options));
    return {
      exitCode: exit_code,
      ...output.texts(),
      state,
      reason,
      timedOut: timed_out,
      dropped,
      tookMs: took_ms,
    };
  }

  /** Stops it, and answers with its end. What its commands wrote until then stays. */
  stop(options?: CallOptions): Promise<SandboxRun> {
    return this.#client.stopRun(this.#sandbox, this.id, options);
  }
}

/** `box.runs` */
export class SandboxRuns {
  readonly #client: WinterdockClient;
  readonly #sandbox: string;

  constructor(client: WinterdockClient, sandbox: string) {
    this.#client = client;
    this.#sandbox = sandbox;
  }

  /** Begins a script that goes on when this program ends. Wakes a sleeping sandbox. Never retried. */
  async start(command: string, options: RunOptions = {}): Promise<BackgroundRun> {
    const { cwd, env, stdin, timeoutMs, ...call } = options;
    const input = { command, cwd, env, stdin, timeout_ms: timeoutMs };
    const { id } = await this.#client.startRun(this.#sandbox, input, call);
    return this.get(id);
  }

  /** A run by its id. Asks nothing: `info()` rejects with `not_found` when there is none. */
  get(id: string): BackgroundRun {
    return new BackgroundRun(this.#client, this.#sandbox, id);
  }

  /** The runs, newest first: those under way, and as many ended ones as the server keeps. */
  list(query?: RunsQuery, options?: CallOptions): Pages<SandboxRun> {
    return this.#client.listRuns(this.#sandbox, query, options);
  }
}
