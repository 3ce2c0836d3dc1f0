/**
 * Turns of copies. They are waited for before the lease is taken: a sandbox whose copy waits behind others is filed and
 * woken meanwhile as if nothing was asked of it. Tenants take turns. Knows nothing of files.
 */
import { WinterdockError } from '../base/errors.ts';
import { FairQueue } from '../base/fair-queue.ts';

/** Copies that run at a time; as many as the readers have processes for. */
const COPIES = 2;
/** Copies that wait for a turn, and those of one tenant. Each comes from a request that holds a connection. */
const MAX_WAITING = 256;
const MAX_WAITING_EACH = 64;

type Waiting = Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>;

export class CopyQueue {
  readonly #waiting = new FairQueue<Waiting>();
  #running = 0;
  #stopped = false;

  /**
   * Runs a copy in the turn of a tenant. Throws `rate_limited` when too many wait, and `storage_unavailable` once the
   * server stops.
   */
  async run<T>(tenant: string, copy: () => Promise<T>): Promise<T> {
    if (this.#stopped) throw stopping();
    if (this.#running < COPIES) this.#running += 1;
    else await this.#wait(tenant);
    try {
      return await copy();
    } finally {
      const next = this.#waiting.take();
      if (next === undefined) this.#running -= 1;
      else next.resolve();
    }
  }

  /** Refuses what waits and whatever comes. */
  stop(): void {
    this.#stopped = true;
    for (const { reject } of this.#waiting.clear()) reject(stopping());
  }

  #wait(tenant: string): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING || this.#waiting.lengthOf(tenant) >= MAX_WAITING_EACH) {
      throw new WinterdockError('rate_limited', 'Too many copies are waiting already.', { retryAfterSeconds: 5 });
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.add(tenant, turn);
    return turn.promise;
  }
}

function stopping(): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
}
