/**
 * How long a host may act after a renewal of its lease. It stops earlier than the lease ends, so that nobody takes over
 * what it still does, by two clocks that are never set: whichever has run further. Pure.
 */

/** The same moment on both clocks, in milliseconds. */
export interface LeaseMoment {
  /** Stands still while the machine sleeps. */
  readonly monotonicMs: number;
  /** Since the machine was started, sleep included. */
  readonly uptimeMs: number;
}

/** The part of a lease in which its holder does nothing any more: clocks may run so much faster than others. */
const MARGIN = 0.3;

export class LeaseTerm {
  readonly #actsForMs: number;
  #asked: LeaseMoment | null = null;

  /** `leaseMs`: after so many milliseconds without a renewal others count its holder as dead. */
  constructor(leaseMs: number) {
    this.#actsForMs = leaseMs * (1 - MARGIN);
  }

  /**
   * It was renewed. `asked`: the moment before the renewal was sent, because nobody knows when it arrived. Renewals
   * whose answers come in another order are no matter: the latest counts.
   */
  renewed(asked: LeaseMoment): void {
    if (this.#asked === null || asked.monotonicMs > this.#asked.monotonicMs) this.#asked = asked;
  }

  /** Milliseconds for which its holder may still act; 0: not any more, or not yet. */
  leftMs(now: LeaseMoment): number {
    if (this.#asked === null) return 0;
    const passed = Math.max(now.monotonicMs - this.#asked.monotonicMs, now.uptimeMs - this.#asked.uptimeMs);
    return Math.max(0, this.#actsForMs - passed);
  }
}
