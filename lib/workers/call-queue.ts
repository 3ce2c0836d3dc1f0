/**
 * The call queue of one sandbox: one call runs, the others wait in order of arrival. Knows nothing of processes or
 * messages.
 */
import { WinterdockError } from '../base/errors.ts';
import { parseLightJson } from '../base/json-weight.ts';
import { OpenRequests } from './open-requests.ts';
import { bytesOfText } from './protocol/byte-text.ts';
import type { ComponentProgress, ComponentsCall, StepResult } from './protocol/component-call.ts';
import { type FetchHost, noNetwork } from './protocol/fetch-messages.ts';
import type {
  CallCut,
  ComponentsOutcome,
  DeathCause,
  EvalOutcome,
  ExecOutcome,
  OutputChunk,
} from './protocol/instance.ts';
import { joinStream, MAX_STREAM_BYTES } from './protocol/output.ts';
import type { Call, EvalResult, ExecResult, FromInstance, ToInstance } from './protocol/protocol.ts';
import { MAX_JOB_QUESTIONS, NO_JOBS, type ShellJobHost } from './protocol/shell-jobs.ts';
import { ACTION_MS } from './protocol/stop-signals.ts';

/** How many calls may wait for one sandbox. */
const MAX_WAITING = 64;
/**
 * A process that sends more characters of output than this is broken: two streams of 4 MiB, at most one character per
 * byte.
 */
const MAX_OUTPUT_CHARACTERS = 8 * 1024 * 1024;
/** As much in a second is broken for a call whose output is endless: it holds back what comes faster. */
const MAX_CHARACTERS_A_SECOND = 64 * 1024 * 1024;

/** Exit codes of a call that was cut off, as a shell gives them for a timeout and an interrupt. */
const CUT_OFF_EXIT_CODES = { timeout: 124, closing: 124, caller: 130 } as const;

/** The message of a call that was cut off, and what has become of tmp where its process was ended. */
const CUT_OFF_MESSAGES = {
  timeout: 'it ran out of time and its process was ended',
  closing: 'its sandbox was filed by force before it ended',
  caller: 'it was stopped and its process had to be ended',
} as const;
const TMP_GOES = '; tmp is gone at the next wake';
const TMP_STAYS = '; another process of the sandbox goes on, and tmp stays';

export type CallOutcome = ExecOutcome | EvalOutcome | ComponentsOutcome;

/** What a caller who follows a call is told meanwhile. */
export interface CallFollower {
  onStarted?: (() => void) | undefined;
  onOutput?: ((chunk: OutputChunk) => void) | undefined;
  onProgress?: ((progress: ComponentProgress) => void) | undefined;
  onJob?: ShellJobHost | undefined;
}

export class QueuedCall {
  readonly id: number;
  readonly call: Call;
  readonly resolve: (outcome: CallOutcome) => void;
  readonly reject: (error: unknown) => void;
  readonly #follower: CallFollower;
  readonly #chunks: OutputChunk[] = [];
  readonly #steps = new Map<number, StepResult>();
  /** Made by the first question. */
  #ended: AbortController | null = null;
  #questions = 0;
  /** Made by the first request. */
  #requests: OpenRequests | null = null;
  #characters = 0;
  /** When it was sent, in milliseconds of `performance.now()`. */
  startedAt = 0;
  #secondSince = 0;
  /** In milliseconds of `performance.now()`. */
  #actsUntil = 0;
  #endsAtOnce = false;
  /** Who stopped it while it ran. A call that its caller aborted still has an outcome. */
  stoppedBy: 'caller' | 'closing' | null = null;

  constructor(id: number, call: Call, settle: Pick<QueuedCall, 'resolve' | 'reject'>, follower: CallFollower = {}) {
    this.id = id;
    this.call = call;
    this.resolve = settle.resolve;
    this.reject = settle.reject;
    this.#follower = follower;
  }

  /** It was sent to a process with its file open. */
  begin(): void {
    this.startedAt = performance.now();
    this.#follower.onStarted?.();
  }

  /** Adds output. False when the process sent more than the limit allows. */
  add(chunks: OutputChunk[]): boolean {
    if (this.call.kind === 'exec' && this.call.endless) return this.#pass(chunks);
    for (const chunk of chunks) {
      this.#characters += chunk.text.length;
      if (this.#characters > MAX_OUTPUT_CHARACTERS) return false;
      this.#chunks.push(chunk);
      this.#follower.onOutput?.(chunk);
    }
    return true;
  }

  /** Passes endless output on and keeps none of it. */
  #pass(chunks: OutputChunk[]): boolean {
    const now = performance.now();
    if (now - this.#secondSince > 1000) {
      this.#secondSince = now;
      this.#characters = 0;
    }
    for (const chunk of chunks) {
      this.#characters += chunk.text.length;
      if (this.#characters > MAX_CHARACTERS_A_SECOND) return false;
      this.#follower.onOutput?.(chunk);
    }
    return true;
  }

  /** Has a question of its script answered. False for more at a time than a script can have. */
  answerJob(
    { id, question, request }: Extract<FromInstance, { type: 'job' }>,
    send: (answer: Extract<ToInstance, { type: 'job' }>) => void,
  ): boolean {
    if (id !== this.id) return true;
    if (this.#questions >= MAX_JOB_QUESTIONS) return false;
    this.#questions += 1;
    const { onJob = () => Promise.resolve({ jobs: [], output: [], refusal: NO_JOBS }) } = this.#follower;
    this.#ended ??= new AbortController();
    void onJob(request, this.#ended.signal).then((answer) => {
      this.#questions -= 1;
      send({ type: 'job', question, answer });
    });
    return true;
  }

  /** Has a request of its to the network answered. False for more at a time than a process sends. */
  answerFetch(
    message: Extract<FromInstance, { type: 'fetch' }>,
    make: () => OpenRequests,
    send: (answer: Extract<ToInstance, { type: 'fetched' }>, done: () => void) => void,
  ): boolean {
    if (message.id !== this.id) return true;
    this.#requests ??= make();
    return this.#requests.take(message, (question, answer, done) => send({ type: 'fetched', question, answer }, done));
  }

  /** Its script acts on the signal that it was sent. */
  trapped(id: number): void {
    if (id === this.id && this.stoppedBy !== null) this.#actsUntil ||= performance.now() + ACTION_MS;
  }

  /** Whether it still has time for that. */
  get isActing(): boolean {
    return !this.#endsAtOnce && performance.now() < this.#actsUntil;
  }

  /** It has no time for an action any more. */
  endAtOnce(): void {
    this.#endsAtOnce = true;
  }

  /** It runs no more. */
  end(): void {
    this.#requests?.end();
    this.#ended?.abort();
  }

  progress(progress: ComponentProgress): void {
    const { onProgress } = this.#follower;
    const step = 'log' in progress ? progress.log.step : progress.step;
    if (this.call.kind !== 'components' || step >= this.call.steps.length) return;
    // Steps that ended are remembered for the outcome of a call that is cut off.
    if ('state' in progress && progress.state !== 'running') this.#steps.set(progress.step, progress);
    onProgress?.(progress);
  }

  executed({ rest: _, ...result }: ExecResult): ExecOutcome {
    return { ...result, ...this.#output() };
  }

  /** False when the value is not JSON, or heavier than one may be; our interpreters never send that. */
  evaluated({ rest: _, json, ...result }: EvalResult): EvalOutcome | false {
    try {
      return { ...result, ...this.#output(), ...(json !== undefined && { value: parseLightJson(json) }) };
    } catch {
      return false;
    }
  }

  /**
   * The outcome of a call that did not run to its end: it ran out of time, its sandbox is filed by force, or its caller
   * stopped it. `tmpStays`: the sandbox has a process without this one.
   */
  cutOffOutcome(by: CallCut, tmpStays = false): CallOutcome {
    const timedOut = by !== 'caller';
    const why = `${CUT_OFF_MESSAGES[by]}${by === 'closing' ? '' : tmpStays ? TMP_STAYS : TMP_GOES}`;
    const exitCode = CUT_OFF_EXIT_CODES[by];
    const tookMs = Math.round(performance.now() - this.startedAt);
    if (this.call.kind === 'components') return this.#cutOffComponents(this.call, why, timedOut, tookMs);
    const { stdout, stderr } = this.#output();
    if (this.call.kind === 'eval') return { ok: false, stdout, stderr, error: why, timedOut, tookMs, cutOff: by };
    const cwd = this.call.cwd ?? '/workspace';
    const truncated = [stdout, stderr].some((text) => bytesOfText(text).byteLength >= MAX_STREAM_BYTES);
    return { exitCode, stdout, stderr: `${stderr}winterdock: ${why}\n`, cwd, timedOut, truncated, tookMs, cutOff: by };
  }

  /** Settles it when its process died: a timeout or abort has an outcome, anything else is an error. */
  cutOff(cause: DeathCause, tmpStays: boolean, error: () => unknown): void {
    const isStopped = this.stoppedBy !== null && cause !== 'memory' && cause !== 'crash';
    const by = isStopped ? this.stoppedBy : cause === 'timeout' ? cause : null;
    if (by !== null) this.resolve(this.cutOffOutcome(by, tmpStays));
    else this.reject(error());
  }

  /** Steps whose end is known keep it. All memory of components is gone with the process; their kept state is not. */
  #cutOffComponents({ steps }: ComponentsCall, why: string, timedOut: boolean, tookMs: number): ComponentsOutcome {
    const message = `It did not end: ${why}; the memory of all components of this start is lost.`;
    const cutOff: StepResult = { state: 'failed', error: { kind: 'timeout', message }, tookMs };
    return { steps: steps.map((_, step) => this.#steps.get(step) ?? cutOff), logs: [], timedOut, tookMs };
  }

  #output(): { stdout: string; stderr: string } {
    return { stdout: joinStream(this.#chunks, 'stdout'), stderr: joinStream(this.#chunks, 'stderr') };
  }
}

export class CallQueue {
  /** Answers what calls ask of the network; absent: the profile has none. */
  onFetch?: FetchHost | undefined;
  readonly #waiting: QueuedCall[] = [];
  #running: QueuedCall | null = null;

  get running(): QueuedCall | null {
    return this.#running;
  }

  get empty(): boolean {
    return this.#running === null && this.#waiting.length === 0;
  }

  /**
   * Has a question of the running call answered: about jobs, or a request to the network. `sandbox`: its id. False for
   * more at a time than a process sends. `send` calls `done` when the process has taken the answer, or never will.
   */
  ask(
    message: Extract<FromInstance, { type: 'job' | 'fetch' }>,
    sandbox: string,
    send: (answer: Extract<ToInstance, { type: 'job' | 'fetched' }>, done?: () => void) => void,
  ): boolean {
    const call = this.#running;
    if (call === null) return true;
    if (message.type === 'job') return call.answerJob(message, send);
    const none: FetchHost = async () => ({ failure: 'profile', message: noNetwork('of this process') });
    return call.answerFetch(message, () => new OpenRequests(this.onFetch ?? none, sandbox), send);
  }

  /** Throws `rate_limited` when too many calls wait. */
  add(call: QueuedCall, id: string): void {
    if (this.#running !== null && this.#waiting.length >= MAX_WAITING) {
      throw new WinterdockError('rate_limited', `${MAX_WAITING} calls wait for "${id}" already.`, {
        retryAfterSeconds: 1,
      });
    }
    this.#waiting.push(call);
  }

  /** Starts the next call. Null while one runs or none waits. */
  next(): QueuedCall | null {
    if (this.#running !== null) return null;
    this.#running = this.#waiting.shift() ?? null;
    return this.#running;
  }

  /** Removes and returns the running call. */
  finish(): QueuedCall | null {
    const finished = this.#running;
    this.#running = null;
    finished?.end();
    return finished;
  }

  /** Removes a waiting call. False when it is not waiting. */
  remove(call: QueuedCall): boolean {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** Removes and returns all waiting calls. */
  clear(): QueuedCall[] {
    return this.#waiting.splice(0);
  }
}
