/**
 * Pausing one process (SIGSTOP) and continuing it (SIGCONT). A process is paused once it has given memory back and said
 * that it holds nothing, and only if nothing was sent to it meanwhile. Whatever is sent to a paused process continues
 * it first. Knows neither calls nor when a pause is wanted.
 */
import { privateBytes } from '../base/resident-memory.ts';
import type { PauseReport } from './protocol/instance.ts';

/** How long a process may take to give memory back, in milliseconds. Measured: 60 at most. */
const TRIM_MS = 2000;

interface PausableProcess {
  readonly pid: number;
  /** Whether no call, write, read, check or close is under way. */
  isIdle(): boolean;
  /** Asks it to give memory back; the answer goes to `trimmed`. */
  trim(id: number): void;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

export class ProcessPause {
  readonly #process: PausableProcess;
  #isPaused = false;
  /** Messages sent to the process. */
  #sent = 0;
  #question: { id: number; answer: (holds: string | null) => void } | null = null;

  constructor(process: PausableProcess) {
    this.#process = process;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether the process is giving memory back. */
  get isAsking(): boolean {
    return this.#question !== null;
  }

  /** Call it before every message: the process has to run to receive it. */
  beforeMessage(): void {
    this.#sent += 1;
    this.continue();
  }

  /** Lets an idle process give memory back and pauses it. Null when it may not be paused now; then it runs on. */
  async pause(): Promise<PauseReport | null> {
    if (this.#isPaused || this.#question !== null || !this.#process.isIdle()) return null;
    const beforeBytes = privateBytes(this.#process.pid);
    const holds = await this.#ask();
    if (holds !== null || !this.#process.isIdle()) return null;
    this.stop();
    return { beforeBytes, afterBytes: privateBytes(this.#process.pid) };
  }

  /** Pauses it without asking. */
  stop(): void {
    this.#isPaused = true;
    this.#process.signal('SIGSTOP');
  }

  continue(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#process.signal('SIGCONT');
  }

  /** The answer to `trim`: what the process holds, null when nothing. */
  trimmed(id: number, holds: string | null): void {
    if (this.#question?.id === id) this.#question.answer(holds);
  }

  processExited(): void {
    this.#isPaused = false;
    this.#question?.answer('nothing any more: it has exited');
  }

  /** What prevents a pause; null when nothing does. */
  async #ask(): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>();
    // Counts itself as a message.
    const id = this.#sent + 1;
    this.#question = { id, answer: resolve };
    const late = setTimeout(() => resolve('its answer'), TRIM_MS).unref();
    try {
      this.#process.trim(id);
      const holds = await promise;
      // What was sent after the question may be under way, although it has no answer to wait for.
      return this.#sent === id ? holds : 'a message';
    } finally {
      clearTimeout(late);
      this.#question = null;
    }
  }
}
