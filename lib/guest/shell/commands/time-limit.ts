/** The time of one command (`timeout`): its shells may act on the signal that ends it, and then have some more. */
import type { Run } from '../../../workers/protocol/call.ts';
import type { StopSignal } from '../../../workers/protocol/stop-signals.ts';
import { shellDepth, signalTaken, takeSignal } from '../shell-signals.ts';

export interface TimeLimitOptions {
  /** What its shells are sent; null: it is ended at once. */
  signal: StopSignal | null;
  /** How long one that acts on it may go on, in milliseconds. */
  actionMs: number;
}

export class TimeLimit {
  readonly #stop = new AbortController();
  readonly #releases: (() => void)[];
  #hasActed = false;

  constructor(run: Run, ms: number, { signal, actionMs }: TimeLimitOptions) {
    const depth = shellDepth();
    const end = () => {
      if (this.isOver) return;
      this.#hasActed = signal !== null && run.interruptPart((resume) => takeSignal(signal, resume, depth));
      if (!this.#hasActed) this.#stop.abort();
    };
    this.#releases = [run.limit(ms, end), run.limit(ms + actionMs, () => this.#stop.abort())];
  }

  /** Ends the command. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether the time is over. */
  get isOver(): boolean {
    return this.#hasActed || this.#stop.signal.aborted;
  }

  release(): void {
    for (const release of this.#releases) release();
    // No shell of it acts any more.
    if (this.#hasActed) signalTaken();
  }
}
