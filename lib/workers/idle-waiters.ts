/**
 * When a process has something to do and when nothing more: for those who wait for that, and for one who is told each
 * time. Knows nothing of what it does.
 */

/** Called when a process gets work that somebody waits for, and when it has no more. */
export interface BusyListener {
  begin(process: object): void;
  end(process: object): void;
}

export class IdleWaiters {
  readonly #isBusy: () => boolean;
  readonly #listener: BusyListener | null;
  readonly #waiters: (() => void)[] = [];

  /** A process begins busy: it opens its file. */
  constructor(isBusy: () => boolean, listener: BusyListener | null = null) {
    this.#isBusy = isBusy;
    this.#listener = listener;
    this.begin();
  }

  begin(): void {
    this.#listener?.begin(this);
  }

  /** Resolves true when it is idle, which `release` tells; false when it is still busy after `milliseconds`. */
  wait(milliseconds: number): Promise<boolean> {
    if (!this.#isBusy()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(!this.#isBusy()), milliseconds);
      this.#waiters.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /** Lets all go, if it is idle or gone. */
  release(): void {
    if (this.#isBusy()) return;
    this.#listener?.end(this);
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
