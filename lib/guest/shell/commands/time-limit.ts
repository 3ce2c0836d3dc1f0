/** The time of one command (`timeout`): its shells may act on the signal that ends it, and then have some more. */
import type { Run } from '../../../workers/protocol/call.ts';
import type { StopSignal } from '../../../workers/protocol/stop-signals.ts';
import { dropPending, ignoresSignal, shellDepth, takeSignal } from '../shell-signals.ts';

export interface TimeLimitOptions {
  /** What its shells are sent; null: it is ended at once. */
  signal: StopSignal | null;
  /** How long one that acts on it may go on, in milliseconds. */
  actionMs: number;
}

export class TimeLimit {
  readonly #stop = new AbortController();
  readonly #releases: (() => void)[];
  readonly #signal: StopSignal | null;
  #hasActed = false;
  #isIgnored = false;

  constructor(run: Run, ms: number, { signal, actionMs }: TimeLimitOptions) {
    this.#signal = signal;
    const depth = shellDepth();
    const end = () => {
      if (this.isOver) return;
      this.#isIgnored = signal !== null && ignoresSignal(signal, depth);
      if (this.#isIgnored) return;
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
    return this.#hasActed || this.#isIgnored || this.#stop.signal.aborted;
  }

  /** Whether it had to be ended after it had acted on its signal, or ignored it. */
  get wasKilled(): boolean {
    return (this.#hasActed || this.#isIgnored) && this.#stop.signal.aborted;
  }

  release(): void {
    for (const release of this.#releases) release();
    if (this.#hasActed && this.#signal !== null) dropPending(this.#signal);
  }
}
