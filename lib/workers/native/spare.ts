/** One process that is started ahead of need, from the first need on. Knows nothing of what it is for. */
import type { Worker } from '../process.ts';

/** After one was taken: its first answer goes first. */
const REFILL_MS = 500;

export class Spare {
  readonly #begin: () => Worker;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(begin: () => Worker) {
    this.#begin = begin;
  }

  /** The one that was started; null without one. Another is started soon. */
  take(): Worker | null {
    const worker = this.#worker;
    this.#worker = null;
    if (!this.#isStopped) this.#timer ??= setTimeout(() => this.#fill(), REFILL_MS).unref();
    return worker;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#worker?.signal('SIGKILL');
    await this.#worker?.exited;
  }

  #fill(): void {
    this.#timer = null;
    if (this.#isStopped || this.#worker !== null) return;
    const worker = this.#begin();
    this.#worker = worker;
    void worker.exited.then(() => {
      if (this.#worker === worker) this.#worker = null;
    });
  }
}
