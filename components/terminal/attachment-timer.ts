/**
 * How long an open terminal keeps its sandbox awake: while it is used, and not for ever because its tab was forgotten.
 * Pure: takes the time as an argument, in epoch milliseconds.
 */

/** Longer than a meeting, shorter than a night: twice the 15 min after which an idle sandbox is suspended. */
export const RELEASE_MINUTES = 30;

const LET_GO_MS = RELEASE_MINUTES * 60_000;

export interface AttachmentTimerListener {
  /** Attach, or renew. `first`: it was not attached before. */
  renew(first: boolean): void;
  end(): void;
  /** It was released because nobody used it, at this time in epoch milliseconds; null: it is used again. */
  released(at: number | null): void;
}

export class AttachmentTimer {
  readonly #listener: AttachmentTimerListener;
  #usedAt: number;
  #awake = false;
  #holds = false;

  /** Opening the terminal counts as use. */
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

  /** A sleeping sandbox is not attached. When somebody else wakes it, that is no use of this terminal. */
  setAwake(awake: boolean, now: number): void {
    if (awake === this.#awake) return;
    this.#awake = awake;
    if (awake) this.tick(now);
    else this.release();
  }

  /** To be called at an interval: renews or releases. */
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

  /** Releases it until the next tick. */
  release(): void {
    if (!this.#holds) return;
    this.#holds = false;
    this.#listener.end();
  }

  #isUnused(now: number): boolean {
    return now - this.#usedAt >= LET_GO_MS;
  }
}
