/**
 * The memory budget of request bodies, of the server and of each caller. A body that does not fit waits unread in a
 * fair queue, so that memory does not grow with the number of senders. Knows nothing of sockets.
 */
import { WinterdockError } from '../base/errors.ts';
import { FairQueue } from '../base/fair-queue.ts';

/** Smaller bodies are not counted: even thousands of them take little memory. */
const SMALL_BYTES = 64 * 1024;

interface Waiting {
  caller: string;
  bytes: number;
  admit: () => void;
}

export class BodyBudget {
  readonly #total: number;
  readonly #each: number;
  readonly #line = new FairQueue<Waiting>();
  readonly #held = new Map<string, number>();

  /** Bytes of bodies in memory. `each`: of one caller, at least the largest body; `total`: of all callers. */
  constructor({ total, each }: { total: number; each: number }) {
    this.#total = total;
    this.#each = each;
  }

  /**
   * Waits until `bytes` fit into the budget. Returns the function that releases them, once. Rejects when the sender
   * disconnects before that.
   */
  async take(caller: string, bytes: number, signal: () => AbortSignal): Promise<() => void> {
    if (bytes <= SMALL_BYTES) return () => undefined;
    const waiting = { caller, bytes };
    if (!this.#fits(waiting)) await this.#wait(waiting, signal());
    else this.#hold(waiting, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#hold(waiting, -1);
      for (let next = this.#next(); next !== undefined; next = this.#next()) next.admit();
    };
  }

  #fits({ caller, bytes }: Pick<Waiting, 'caller' | 'bytes'>): boolean {
    const all = [...this.#held.values()].reduce((sum, used) => sum + used, 0);
    return all + bytes <= this.#total && (this.#held.get(caller) ?? 0) + bytes <= this.#each;
  }

  #hold({ caller, bytes }: Pick<Waiting, 'caller' | 'bytes'>, sign: 1 | -1): void {
    const used = (this.#held.get(caller) ?? 0) + sign * bytes;
    if (used > 0) this.#held.set(caller, used);
    else this.#held.delete(caller);
  }

  #next(): Waiting | undefined {
    const next = this.#line.take((one) => this.#fits(one));
    if (next !== undefined) this.#hold(next, 1);
    return next;
  }

  #wait(waiting: Pick<Waiting, 'caller' | 'bytes'>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#line.remove(place);
        reject(new WinterdockError('bad_json', 'The body ended before its end.'));
      };
      const place: Waiting = {
        ...waiting,
        admit() {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      this.#line.add(waiting.caller, place);
    });
  }
}
