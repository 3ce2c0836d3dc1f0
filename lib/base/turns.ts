/** Pieces of work that block the thread for milliseconds: one in each round of the event loop, others in between. */
import { setImmediate } from 'node:timers/promises';

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when the pieces before it are done and what waits for the thread had its turn. */
  run<T>(work: () => T): Promise<T> {
    const done = this.#last.then(() => setImmediate()).then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
