/**
 * The queue of copies, fair by tenant. A copy waits here before it takes the lease, so that its sandbox can be filed
 * and woken meanwhile. Knows nothing of files.
 */
import { WinterdockError } from '../../base/errors.ts';
import { FairQueue } from '../../base/fair-queue.ts';

/** Copies at a time: the readers have as many processes. */
const COPIES = 2;
/** Copies that may wait, in all and of one tenant. Each comes from a request that holds a connection. */
const MAX_WAITING = 256;
const MAX_WAITING_EACH = 64;

type Waiting = Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>;

export class CopyQueue {
  readonly #waiting = new FairQueue<Waiting>();
  #running = 0;
  #stopped = false;

  /**
   * Runs a copy when it is the turn of its tenant. Throws `rate_limited` when too many wait, and `storage_unavailable`
   * once the server stops.
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

  /** Refuses the waiting copies and all later ones. */
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
