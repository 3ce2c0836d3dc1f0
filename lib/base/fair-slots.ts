/**
 * Slots for work that takes long, fair by owner (a tenant): what finds none free waits for its turn. Knows nothing of
 * the work.
 */
import { WinterdockError } from './errors.ts';
import { FairQueue } from './fair-queue.ts';

export interface FairSlotsOptions {
  /** Pieces of work at the same time. */
  slots: number;
  /** Pieces that may wait, in all and of one owner. Each comes from a request that holds a connection. */
  mostWaiting: number;
  mostWaitingEach: number;
  /** Said to who is refused. */
  refusal: string;
}

type Waiting = Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>;

export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #waiting = new FairQueue<Waiting>();
  #running = 0;
  #stopped = false;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` when it is the turn of its owner. Throws `rate_limited` when too many wait, and `storage_unavailable`
   * once the server stops.
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#stopped) throw serverIsStopping();
    if (this.#running < this.#options.slots) this.#running += 1;
    else await this.#wait(owner);
    try {
      return await work();
    } finally {
      const next = this.#waiting.take();
      if (next === undefined) this.#running -= 1;
      else next.resolve();
    }
  }

  /** Refuses what waits. */
  refuseWaiting(why: WinterdockError): void {
    for (const { reject } of this.#waiting.clear()) reject(why);
  }

  /** Refuses what waits, and all that comes later. */
  stop(): void {
    this.#stopped = true;
    this.refuseWaiting(serverIsStopping());
  }

  #wait(owner: string): Promise<void> {
    const { mostWaiting, mostWaitingEach, refusal } = this.#options;
    if (this.#waiting.length >= mostWaiting || this.#waiting.lengthOf(owner) >= mostWaitingEach) {
      throw new WinterdockError('rate_limited', refusal, { retryAfterSeconds: 5 });
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.add(owner, turn);
    return turn.promise;
  }
}

/** The error for who asks for what takes long while the server stops. */
export function serverIsStopping(): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
}
