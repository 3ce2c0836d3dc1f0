/**
 * When a request between hosts counts as fresh. Its time is that of the host that is asked, on its monotonic clock
 * since its start: clocks that are set decide nothing. Whoever asks learns that clock from a signed answer.
 */
import { newToken } from '../../registry/owner.ts';

/** How far the time of a request may be from when it comes, in milliseconds. */
export const WINDOW_MS = 30_000;

/** What a request says of when it was sent. */
export interface HopMoment {
  /** The start of the host that is asked; empty: not known yet. */
  readonly epoch: string;
  /** Milliseconds since that start. */
  readonly atMs: number;
  /** Random, of this request alone. */
  readonly nonce: string;
}

/** The clock of a host that is asked, and the requests that it has seen. */
export class HopClock {
  readonly #now: () => number;
  readonly #begunMs: number;
  /** Of this start. What was sent to a former one is of no use. */
  readonly epoch = newToken();
  /** Nonces of the last two windows: of every request whose time may still be accepted. */
  #seen = new Set<string>();
  #seenBefore = new Set<string>();
  #sinceMs = 0;

  /** `now`: a monotonic clock in milliseconds. Default: the machine's. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#begunMs = now();
  }

  /** Milliseconds since the start. */
  get nowMs(): number {
    return this.#now() - this.#begunMs;
  }

  /** How many nonces are kept. */
  get kept(): number {
    return this.#seen.size + this.#seenBefore.size;
  }

  /** Judges a request whose signature is right, and notes it. `stale`: it is of a former start, or another time. */
  judge({ epoch, atMs, nonce }: HopMoment): 'fresh' | 'stale' | 'replayed' {
    const nowMs = this.nowMs;
    // A request is accepted from one window before its time to one after it: so long may a copy of it come.
    if (nowMs - this.#sinceMs > 2 * WINDOW_MS) {
      this.#seenBefore = nowMs - this.#sinceMs > 4 * WINDOW_MS ? new Set() : this.#seen;
      this.#seen = new Set();
      this.#sinceMs = nowMs;
    }
    if (epoch !== this.epoch || !(Math.abs(nowMs - atMs) <= WINDOW_MS)) return 'stale';
    if (this.#seen.has(nonce) || this.#seenBefore.has(nonce)) return 'replayed';
    this.#seen.add(nonce);
    return 'fresh';
  }
}

/** What this host knows of the clocks of others, by their names. */
export class ClocksOfOthers {
  readonly #now: () => number;
  readonly #known = new Map<string, { epoch: string; aheadMs: number }>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A host said what its clock shows. */
  learn(host: string, { epoch, nowMs }: { epoch: string; nowMs: number }): void {
    this.#known.set(host, { epoch, aheadMs: nowMs - this.#now() });
  }

  /** What the clock of a host shows now. An unknown one is asked for by the first request. */
  momentAt(host: string): Omit<HopMoment, 'nonce'> {
    const known = this.#known.get(host);
    if (known === undefined) return { epoch: '', atMs: 0 };
    return { epoch: known.epoch, atMs: Math.round(this.#now() + known.aheadMs) };
  }
}
