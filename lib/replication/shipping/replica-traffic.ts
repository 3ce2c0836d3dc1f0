/** What was written to a replica since the start, and what a month of that is. Pure but for the clock it is given. */

/** Objects above this many bytes are written in parts of it; beginning and ending those are two requests more. */
const PART_BYTES = 5 * 1024 * 1024;
const MONTH_MS = 30 * 86_400_000;
/** Before that a start, with its bases, would count for all of a month. */
const LEAST_MS = 600_000;

export class ReplicaTraffic {
  readonly #monotonic: () => number;
  readonly #sinceMs: number;
  #requests = 0;
  #bytes = 0;

  /** `monotonic`: milliseconds that only grow. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#sinceMs = monotonic();
  }

  /** An object of so many bytes was written. */
  wrote(bytes: number): void {
    this.#requests += bytes <= PART_BYTES ? 1 : Math.ceil(bytes / PART_BYTES) + 2;
    this.#bytes += bytes;
  }

  /** Requests and bytes of a month that is as the time since the start; null: that is too short. */
  get month(): { requests: number; bytes: number } | null {
    const ms = this.#monotonic() - this.#sinceMs;
    if (ms < LEAST_MS) return null;
    const share = MONTH_MS / ms;
    return { requests: Math.round(this.#requests * share), bytes: Math.round(this.#bytes * share) };
  }
}
