/**
 * One running call inside a worker: its clock, its abort signal, its output and the commits of what it wrote. Knows
 * nothing of shells, languages or messages.
 */
import type { Overlay } from '../../vfs/overlay.ts';
import type { FetchAnswer, FetchRequest } from './fetch-messages.ts';
import type { Cancel, GuestNetwork } from './guest-network.ts';
import type { OutputChunk } from './instance.ts';
import { monotonicMs } from './monotonic.ts';
import { Output } from './output.ts';
import { NO_JOBS, type ShellJobAnswer, type ShellJobRequest } from './shell-jobs.ts';
import { ACTION_MS, CALL_STOP_MS, type StopSignal } from './stop-signals.ts';

/** Maximum delay of a long command's output, so that the server has it when the process must be killed. */
const MAX_OUTPUT_DELAY_MS = 200;
/**
 * How long after its first write that is not committed a command in the background commits, in milliseconds. One whose
 * writes take less is seen whole or not at all.
 */
const COMMIT_AFTER_MS = 1000;
/** How often it is looked whether that is due, in milliseconds. */
const LOOK_EVERY_MS = 250;
/** The part of the time that commits may take: each writes a large log whole. */
const COMMIT_SHARE = 0.1;
/** Of a command whose time is over, as of `timeout`. */
export const TIMED_OUT_EXIT = 124;
/** How long a script has for its action at the end of its time: its process is ended soon after, whatever it does. */
const LAST_ACTION_MS = 0.6 * CALL_STOP_MS;
const NO_NETWORK_HERE = 'this component does not declare it: add ":uses fetch" to its header';

/** What a script of a component may only use when the component declares it. */
export type ScriptUse = 'clock' | 'random' | 'fetch';

export class Run {
  readonly output: Output;
  /** Jobs that its script has begun, oldest first. */
  readonly jobs: number[] = [];
  /** Those of them whose end it has been told. */
  readonly waitedJobs = new Set<number>();
  /** The `%n` of each job that has one. */
  readonly jobNumbers = new Map<number, number>();
  /** The sandbox's files as the call sees them, with its own writes. */
  readonly files: Overlay;
  /** The deadline, in milliseconds of `monotonicMs`. */
  readonly deadline: number;
  readonly #send: (chunks: OutputChunk[]) => void;
  readonly #streaming: boolean;
  /** Nothing is committed before `finish`. */
  readonly #atomic: boolean;
  readonly #ask: ((request: ShellJobRequest) => Promise<ShellJobAnswer>) | null;
  readonly #network: GuestNetwork | null;
  readonly #uses: readonly string[] | null;
  #undeclared: ScriptUse | null = null;
  readonly #stop = new AbortController();
  /** Takes a signal for the script, and is told what lets it wait again. False: it has no action for it. */
  onSignal: ((name: StopSignal, resume: () => void) => boolean) | null = null;
  #interruption = new AbortController();
  #actionTimer: NodeJS.Timeout | null = null;
  readonly #timer: NodeJS.Timeout;
  /** Sends output of a command that writes no more for a while. The shell's defences forbid timers to what it runs. */
  readonly #flushTimer: NodeJS.Timeout | null;
  /** Times that parts of the call were given, in milliseconds of `monotonicMs`. */
  readonly #limits = new Set<{ deadline: number; stop: () => void }>();
  /** Commits what was written and not followed by more. Null: only the end of a command does. */
  readonly #commitTimer: NodeJS.Timeout | null;
  /** When the next one is due; null: nothing was written since the last. */
  #commitAt: number | null = null;
  #restUntil = 0;
  #sentAt: number;
  #expired = false;
  /** When a script that acts on the end of its time is ended, in milliseconds of `monotonicMs`. */
  #lastEnd = Number.POSITIVE_INFINITY;
  #failed: unknown = null;

  /** Starts the clock. `send` sends output. */
  constructor(
    files: Overlay,
    options: {
      timeoutMs: number;
      streaming: boolean;
      send: (chunks: OutputChunk[]) => void;
      atomic?: boolean;
      endless?: boolean;
      /** Nobody waits for its end to see what it wrote: it is committed each second. */
      commitsMeanwhile?: boolean;
      ask?: (request: ShellJobRequest) => Promise<ShellJobAnswer>;
      network?: GuestNetwork;
      /** What a component declares. Absent: everything is allowed. */
      uses?: readonly string[];
    },
  ) {
    this.files = files;
    this.output = new Output(options.endless ?? false);
    this.#ask = options.ask ?? null;
    this.#network = options.network ?? null;
    this.#uses = options.uses ?? null;
    this.#atomic = options.atomic ?? false;
    this.#send = options.send;
    this.#streaming = options.streaming;
    this.#sentAt = monotonicMs();
    this.deadline = this.#sentAt + options.timeoutMs;
    this.#timer = setTimeout(() => this.#expireInTurn(), options.timeoutMs);
    this.#flushTimer = options.streaming ? setInterval(() => this.#flush(), MAX_OUTPUT_DELAY_MS) : null;
    this.#commitTimer = options.commitsMeanwhile ? this.#commitMeanwhile() : null;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether somebody follows its output. */
  get isFollowed(): boolean {
    return this.#streaming;
  }

  /** Whether what it writes is committed each second, and not only when a command ends. */
  get commitsMeanwhile(): boolean {
    return this.#commitTimer !== null;
  }

  /** True once the deadline has passed, even if the timer could not fire. */
  get expired(): boolean {
    return this.#expired || monotonicMs() > this.deadline;
  }

  /** Stops the call before its next command. What does not end in time is killed, and has committed by then. */
  stop(): void {
    this.#network?.end();
    this.#stop.abort();
    if (this.#commitTimer !== null) this.#commit(true);
  }

  /** Sends the script a signal. False: it has no action for it, and is as it was. */
  interrupt(name: StopSignal): boolean {
    if (!this.#signalled(name)) return false;
    this.#actionTimer ??= setTimeout(() => this.stop(), ACTION_MS);
    return true;
  }

  #signalled(name: StopSignal): boolean {
    if (!this.interruptPart((resume) => this.onSignal?.(name, resume) === true)) return false;
    if (this.#commitTimer !== null) this.#commit(true);
    return true;
  }

  /** Ends what waits, when `take` finds a shell that acts on a signal. `take` is told what lets it wait again. */
  interruptPart(take: (resume: () => void) => boolean): boolean {
    const resume = () => {
      this.#interruption = new AbortController();
    };
    if (!take(resume)) return false;
    this.#interruption.abort();
    return true;
  }

  /** Whether its time is over and its script acted on that. */
  get hasActedOnEnd(): boolean {
    return this.#lastEnd !== Number.POSITIVE_INFINITY;
  }

  /** Aborts when the script is sent a signal: what waits ends, and the script goes on with its action. */
  get interrupted(): AbortSignal {
    return this.#interruption.signal;
  }

  /** Asks the server about jobs. Null when the call is stopped first. */
  async askJob(request: ShellJobRequest): Promise<ShellJobAnswer | null> {
    if (this.#ask === null) return { jobs: [], output: [], refusal: NO_JOBS };
    if (this.signal.aborted) return null;
    const { promise: stopped, resolve } = Promise.withResolvers<null>();
    const stop = () => resolve(null);
    const either = AbortSignal.any([this.signal, this.interrupted]);
    either.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([this.#ask(request), stopped]);
    } finally {
      either.removeEventListener('abort', stop);
    }
  }

  /** Whether this was not declared. Then the call ends before its next command. */
  refuses(use: ScriptUse): boolean {
    if (this.#uses === null || this.#uses.includes(use)) return false;
    this.#undeclared ??= use;
    this.stop();
    return true;
  }

  /** What it used without having declared it; null when nothing. */
  get undeclared(): ScriptUse | null {
    return this.#undeclared;
  }

  /** Sends a request to the network. Never throws: the answer says why there is none. */
  fetch(request: FetchRequest, cancel?: Cancel): Promise<FetchAnswer> {
    const none = { failure: 'profile', message: NO_NETWORK_HERE } as const;
    if (this.refuses('fetch')) return Promise.resolve(none);
    return this.#network?.fetch(request, cancel) ?? Promise.resolve(none);
  }

  /** Why nothing here reaches the network; null when something may. */
  get networkRefusal(): string | null {
    if (this.refuses('fetch')) return NO_NETWORK_HERE;
    return this.#network === null ? NO_NETWORK_HERE : this.#network.refusal;
  }

  /**
   * Stops what has had its time. Called before every command of a script, and by commands that take long: what never
   * waits lets no timer fire.
   */
  checkLimits(): void {
    const now = monotonicMs();
    if (now > this.deadline) this.#expire();
    this.#commitIfDue();
    for (const limit of this.#limits) if (now > limit.deadline) limit.stop();
  }

  /** Whether a command has to end: the call is over, or the part of it that has this signal. */
  isOver(signal?: AbortSignal): boolean {
    this.checkLimits();
    return this.signal.aborted || signal?.aborted === true || this.interrupted.aborted;
  }

  /** When the first part of the call has had its time, in milliseconds of `monotonicMs`. */
  get nextDeadline(): number {
    return Math.min(this.deadline, ...[...this.#limits].map((limit) => limit.deadline));
  }

  /** Gives a part of the call a time, after which `stop` is called. Returns what ends the limit. */
  limit(milliseconds: number, stop: () => void): () => void {
    const limit = { deadline: monotonicMs() + milliseconds, stop };
    const timer = setTimeout(stop, milliseconds);
    this.#limits.add(limit);
    return () => {
      clearTimeout(timer);
      this.#limits.delete(limit);
    };
  }

  /**
   * Adds output. It is sent when the command ends, or during a long command, before that command's writes are
   * committed.
   */
  add(stream: OutputChunk['stream'], content: Uint8Array): void {
    this.output.add(stream, content);
    if (monotonicMs() - this.#sentAt > MAX_OUTPUT_DELAY_MS) this.#flush();
  }

  /** Called after each top-level command: commits its writes, then sends its output. */
  commandEnded(): void {
    if (!this.#atomic) this.#commit();
    if (this.#streaming || monotonicMs() - this.#sentAt > MAX_OUTPUT_DELAY_MS) this.#flush();
  }

  /** Commits the last writes. Throws the first commit error of the call. */
  finish(): void {
    this.#commit();
    if (this.#failed !== null) throw this.#failed;
  }

  /** Stops the clock. The files stay as they are, for who commits them. */
  release(): void {
    clearTimeout(this.#timer);
    if (this.#actionTimer !== null) clearTimeout(this.#actionTimer);
    if (this.#flushTimer !== null) clearInterval(this.#flushTimer);
    if (this.#commitTimer !== null) clearInterval(this.#commitTimer);
    this.files.onChange = null;
  }

  /** Stops the clock and drops uncommitted writes. */
  dispose(): void {
    this.release();
    this.files.discard();
  }

  /** What never waits lets no timer fire, so that its writes look at the time too. */
  #commitMeanwhile(): NodeJS.Timeout {
    this.files.onChange = () => {
      this.#commitIfDue();
      if (this.#commitAt === null) this.#commitAt = Math.max(monotonicMs() + COMMIT_AFTER_MS, this.#restUntil);
    };
    return setInterval(() => this.#commitIfDue(), LOOK_EVERY_MS);
  }

  #commitIfDue(): void {
    if (this.#commitAt === null) return;
    const began = monotonicMs();
    if (began < this.#commitAt) return;
    this.#commit(true);
    const now = monotonicMs();
    this.#restUntil = now + (now - began) / COMMIT_SHARE;
  }

  /**
   * Commits what was written since the last time. A failure stops the call and is thrown by `finish`; nothing is
   * committed after it. `goesOn`: the command has not ended.
   */
  #commit(goesOn = false): void {
    this.#commitAt = null;
    if (this.#failed !== null) return;
    try {
      this.files.commit({ goesOn });
    } catch (error) {
      this.#failed = error;
      this.stop();
    }
  }

  #flush(): void {
    const chunks = this.output.take();
    if (chunks.length === 0) return;
    this.#sentAt = monotonicMs();
    this.#send(chunks);
  }

  /** A script may have no timers, and this one is made between its commands. */
  #expireInTurn(): void {
    this.#expire();
    if (this.hasActedOnEnd) this.#actionTimer ??= setTimeout(() => this.stop(), LAST_ACTION_MS);
  }

  #expire(): void {
    const isFirst = !this.#expired;
    this.#expired = true;
    if (isFirst && this.#signalled('TERM')) this.#lastEnd = monotonicMs() + LAST_ACTION_MS;
    else if (!this.hasActedOnEnd || monotonicMs() > this.#lastEnd) this.stop();
  }
}
