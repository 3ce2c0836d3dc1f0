/** Those who wait for the next change of one run. Knows nothing of its row or its output. */
import { WinterdockError } from '../base/errors.ts';
import { waitForCall } from '../base/waiters.ts';

/** Readers that wait for one run. */
const MAX_READERS = 100;

export class RunWaiters {
  readonly #run: string;
  readonly #waiting = new Set<() => void>();

  constructor(run: string) {
    this.#run = run;
  }

  wake(): void {
    for (const resolve of [...this.#waiting]) resolve();
  }

  /** Resolves at the next change, or when `signal` aborts. Throws `rate_limited` when too many wait. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    if (this.#waiting.size >= MAX_READERS) {
      throw new WinterdockError('rate_limited', `${MAX_READERS} read the run "${this.#run}" already.`, {
        retryAfterSeconds: 5,
      });
    }
    return waitForCall(this.#waiting, signal);
  }
}
