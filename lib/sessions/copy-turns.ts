/**
 * Turns of copies. They are waited for before the lease is taken: a sandbox whose copy waits behind others is filed and woken meanwhile as if
 * nothing was asked of it. Knows nothing of files.
 */
import { Semaphore } from 'async-mutex';
import { WinterdockError } from '../errors.ts';

/** Copies that run at a time; as many as the readers have processes for. */
const COPIES = 2;
/** Copies that wait for a turn. Each comes from a request that holds a connection. */
const MAX_WAITING = 64;

export class CopyTurns {
  readonly #turns = new Semaphore(COPIES, stopping());
  #waiting = 0;
  #stopped = false;

  /** Throws `rate_limited` when too many wait, and `storage_unavailable` once the server stops. */
  async take<T>(copy: () => Promise<T>): Promise<T> {
    if (this.#stopped) throw stopping();
    if (this.#waiting >= MAX_WAITING) {
      throw new WinterdockError('rate_limited', `${MAX_WAITING} copies are waiting already.`, { retryAfterSeconds: 5 });
    }
    this.#waiting += 1;
    const [, release] = await this.#turns.acquire().finally(() => {
      this.#waiting -= 1;
    });
    try {
      return await copy();
    } finally {
      release();
    }
  }

  /** Refuses what waits and whatever comes. */
  stop(): void {
    this.#stopped = true;
    this.#turns.cancel();
  }
}

function stopping(): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
}
