/**
 * The calls of one sandbox: one runs, the others wait in the order they came. Knows nothing of processes or messages.
 */
import { WinterdockError } from '../base/errors.ts';
import { bytesOfText } from './byte-text.ts';
import type { EvalOutcome, ExecOutcome, OutputChunk } from './instance.ts';
import { joinStream, MAX_STREAM_BYTES } from './output.ts';
import type { Call, EvalResult, ExecResult } from './protocol.ts';

/** Calls that may wait for one sandbox. */
const MAX_WAITING = 64;
/**
 * Characters of output after which a process is not believed any more: two streams of 4 MiB, each byte a character at
 * most.
 */
const MAX_SAID_CHARACTERS = 8 * 1024 * 1024;

/** Exit codes as a shell has them for what ran out of time and for what was interrupted. */
const EXIT = { timeout: 124, closing: 124, caller: 130 } as const;

/** What a call says at its end that was cut off. */
const WHY = {
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
  /** Milliseconds of `performance.now()` when it was sent. */
  startedAt = 0;
  /** Who told it to stop while it ran: one whose caller gave it up still has an outcome. */
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

  /** Takes in what it said. False when that is more than it can have said. */
  add(chunks: OutputChunk[]): boolean {
    for (const chunk of chunks) {
      this.#characters += chunk.text.length;
      if (this.#characters > MAX_SAID_CHARACTERS) return false;
      this.#chunks.push(chunk);
      this.#onOutput?.(chunk);
    }
    return true;
  }

  executed({ rest: _, ...result }: ExecResult): ExecOutcome {
    return { ...result, ...this.#said() };
  }

  /** False when its value is no JSON, which no interpreter of ours says. */
  evaluated({ rest: _, json, ...result }: EvalResult): EvalOutcome | false {
    try {
      return { ...result, ...this.#said(), ...(json !== undefined && { value: JSON.parse(json) as unknown }) };
    } catch {
      return false;
    }
  }

  /**
   * The outcome of a call that was not let run to its end: for time, because its sandbox is filed by force, or by its
   * caller.
   */
  cutOff(by: 'timeout' | 'closing' | 'caller'): ExecOutcome | EvalOutcome {
    const timedOut = by !== 'caller';
    const why = WHY[by];
    const exitCode = EXIT[by];
    const tookMs = Math.round(performance.now() - this.startedAt);
    const { stdout, stderr } = this.#said();
    if (this.call.kind === 'eval') return { ok: false, stdout, stderr, error: why, timedOut, tookMs };
    const cwd = this.call.cwd ?? '/workspace';
    const truncated = [stdout, stderr].some((text) => bytesOfText(text).byteLength >= MAX_STREAM_BYTES);
    return { exitCode, stdout, stderr: `${stderr}winterdock: ${why}\n`, cwd, timedOut, truncated, tookMs };
  }

  #said(): { stdout: string; stderr: string } {
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

  /** Throws `rate_limited` when too many wait. */
  add(call: QueuedCall, id: string): void {
    if (this.#running !== null && this.#waiting.length >= MAX_WAITING) {
      throw new WinterdockError('rate_limited', `${MAX_WAITING} calls wait for "${id}" already.`, {
        retryAfterSeconds: 1,
      });
    }
    this.#waiting.push(call);
  }

  /** Makes the next call the running one; null while one runs or none waits. */
  next(): QueuedCall | null {
    if (this.#running !== null) return null;
    this.#running = this.#waiting.shift() ?? null;
    return this.#running;
  }

  /** Takes the running call out. */
  finish(): QueuedCall | null {
    const finished = this.#running;
    this.#running = null;
    return finished;
  }

  /** Takes a waiting call out; false when it does not wait. */
  remove(call: QueuedCall): boolean {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** Takes all waiting calls out. */
  clear(): QueuedCall[] {
    return this.#waiting.splice(0);
  }
}
