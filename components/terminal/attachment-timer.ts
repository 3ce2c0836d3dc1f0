/**
 * How long an open terminal holds its sandbox awake: while it is used, and not for ever because its tab was forgotten.
 * Knows the time it is told, and neither the page nor the server.
 */

/**
 * Longer than a meeting that one types through, shorter than a night: twice the 15 min after which an idle sandbox is
 * put to sleep.
 */
export const RELEASE_MINUTES = 30;

const LET_GO_MS = RELEASE_MINUTES * 60_000;

export interface AttachmentTimerListener {
  /** Hold it, or hold on to it; `first` when it was not held. */
  renew(first: boolean): void;
  end(): void;
  /** It was let go for want of use, at that moment in epoch milliseconds; null when it is used again. */
  released(at: number | null): void;
}

export class AttachmentTimer {
  readonly #listener: AttachmentTimerListener;
  #usedAt: number;
  #awake = false;
  #holds = false;

  /** Opening it is use. `now` in epoch milliseconds, as everywhere here. */
  constructor(listener: AttachmentTimerListener, now: number) {
    this.#listener = listener;
    this.#usedAt = now;
  }

  /** A key was pressed or something was printed. */
  used(now: number): void {
    const unused = this.#isUnused(now);
    this.#usedAt = now;
    if (unused) this.#listener.released(null);
    if (!this.#holds) this.tick(now);
  }

  /** What sleeps is not held, and somebody else's waking it is no use of this terminal. */
  setAwake(awake: boolean, now: number): void {
    if (awake === this.#awake) return;
    this.#awake = awake;
    if (awake) this.tick(now);
    else this.release();
  }

  /** To be called again and again: holds on, or lets go. */
  tick(now: number): void {
    if (this.#isUnused(now)) {
      if (!this.#holds) return;
      this.release();
      this.#listener.released(now);
    } else if (this.#awake) {
      const first = !this.#holds;
      this.#holds = true;
      this.#listener.renew(first);
    }
  }

  /** Ends it, until the next look. */
  release(): void {
    if (!this.#holds) return;
    this.#holds = false;
    this.#listener.end();
  }

  #isUnused(now: number): boolean {
    return now - this.#usedAt >= LET_GO_MS;
  }
}
