/**
 * The call queue of one sandbox: one call runs, the others wait in order of arrival. Knows nothing of processes or
 * messages.
 */
import { WinterdockError } from '../base/errors.ts';
import { bytesOfText } from './byte-text.ts';
import type { DeathCause, EvalOutcome, ExecOutcome, OutputChunk } from './instance.ts';
import { joinStream, MAX_STREAM_BYTES } from './output.ts';
import type { Call, EvalResult, ExecResult } from './protocol.ts';

/** How many calls may wait for one sandbox. */
const MAX_WAITING = 64;
/**
 * A process that sends more characters of output than this is broken: two streams of 4 MiB, at most one character per
 * byte.
 */
const MAX_OUTPUT_CHARACTERS = 8 * 1024 * 1024;

/** Exit codes of a call that was cut off, as a shell gives them for a timeout and an interrupt. */
const CUT_OFF_EXIT_CODES = { timeout: 124, closing: 124, caller: 130 } as const;

/** The message of a call that was cut off. */
const CUT_OFF_MESSAGES = {
  timeout: 'it ran out of time and its process was ended; tmp is gone at the next wake',
  closing: 'its sandbox was filed by force before it ended',
  caller: 'it was stopped and its process had to be ended; tmp is gone at the next wake',
} as const;

export class QueuedCall {
  readonly id: number;
  readonly call: Call;
  readonly resolve: (outcome: ExecOutcome | EvalOutcome) => void;
  readonly reject: (error: unknown) => void;
  readonly #onOutput: ((chunk: OutputChunk) => void) | undefined;
  readonly #chunks: OutputChunk[] = [];
  #characters = 0;
  /** When it was sent, in milliseconds of `performance.now()`. */
  startedAt = 0;
  /** Who stopped it while it ran. A call that its caller aborted still has an outcome. */
  stoppedBy: 'caller' | 'closing' | null = null;

  constructor(
    id: number,
    call: Call,
    settle: Pick<QueuedCall, 'resolve' | 'reject'>,
    onOutput?: (chunk: OutputChunk) => void,
  ) {
    this.id = id;
    this.call = call;
    this.resolve = settle.resolve;
    this.reject = settle.reject;
    this.#onOutput = onOutput;
  }

  /** Adds output. False when the process sent more than the limit allows. */
  add(chunks: OutputChunk[]): boolean {
    for (const chunk of chunks) {
      this.#characters += chunk.text.length;
      if (this.#characters > MAX_OUTPUT_CHARACTERS) return false;
      this.#chunks.push(chunk);
      this.#onOutput?.(chunk);
    }
    return true;
  }

  executed({ rest: _, ...result }: ExecResult): ExecOutcome {
    return { ...result, ...this.#output() };
  }

  /** False when the value is not JSON; our interpreters never send that. */
  evaluated({ rest: _, json, ...result }: EvalResult): EvalOutcome | false {
    try {
      return { ...result, ...this.#output(), ...(json !== undefined && { value: JSON.parse(json) as unknown }) };
    } catch {
      return false;
    }
  }

  /**
   * The outcome of a call that did not run to its end: it ran out of time, its sandbox is filed by force, or its caller
   * stopped it.
   */
  cutOffOutcome(by: 'timeout' | 'closing' | 'caller'): ExecOutcome | EvalOutcome {
    const timedOut = by !== 'caller';
    const why = CUT_OFF_MESSAGES[by];
    const exitCode = CUT_OFF_EXIT_CODES[by];
    const tookMs = Math.round(performance.now() - this.startedAt);
    const { stdout, stderr } = this.#output();
    if (this.call.kind === 'eval') return { ok: false, stdout, stderr, error: why, timedOut, tookMs };
    const cwd = this.call.cwd ?? '/workspace';
    const truncated = [stdout, stderr].some((text) => bytesOfText(text).byteLength >= MAX_STREAM_BYTES);
    return { exitCode, stdout, stderr: `${stderr}winterdock: ${why}\n`, cwd, timedOut, truncated, tookMs };
  }

  /** Settles it when its process died: a timeout or abort has an outcome, anything else is an error. */
  cutOff(cause: DeathCause, error: () => unknown): void {
    if (this.stoppedBy && cause !== 'memory' && cause !== 'crash') this.resolve(this.cutOffOutcome(this.stoppedBy));
    else if (cause === 'timeout') this.resolve(this.cutOffOutcome('timeout'));
    else this.reject(error());
  }

  #output(): { stdout: string; stderr: string } {
    return { stdout: joinStream(this.#chunks, 'stdout'), stderr: joinStream(this.#chunks, 'stderr') };
  }
}

export class CallQueue {
  readonly #waiting: QueuedCall[] = [];
  #running: QueuedCall | null = null;

  get running(): QueuedCall | null {
    return this.#running;
  }

  get empty(): boolean {
    return this.#running === null && this.#waiting.length === 0;
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
