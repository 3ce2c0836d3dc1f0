/**
 * What is done once a file rests: a moment after whoever put it there was answered, or at once when somebody waits for
 * it. Knows nothing of what that is.
 */
import { setTimeout as pause } from 'node:timers/promises';

interface Rest {
  /** Begins it at once. */
  readonly begin: AbortController;
  /** Never rejects. */
  readonly done: Promise<unknown>;
}

export class AwaitedRests {
  readonly #rests = new Map<string, Rest>();

  /** Does `work` of a file after so many milliseconds, unless somebody waits for it. Settles as that does. */
  run(id: string, afterMs: number, work: () => Promise<void>): Promise<void> {
    const begin = new AbortController();
    const working = this.#begun(afterMs, begin.signal).then(work);
    const rest: Rest = { begin, done: working.catch(() => undefined) };
    this.#rests.set(id, rest);
    void rest.done.then(() => {
      if (this.#rests.get(id) === rest) this.#rests.delete(id);
    });
    return working;
  }

  /** Resolves once nothing is left to be done of a file at rest. Never rejects. */
  async whenDone(id: string): Promise<void> {
    const rest = this.#rests.get(id);
    rest?.begin.abort();
    await rest?.done;
  }

  async #begun(afterMs: number, signal: AbortSignal): Promise<void> {
    if (afterMs > 0) await pause(afterMs, undefined, { signal }).catch(() => undefined);
  }
}
