/** Those who wait until a process has nothing more to do. Knows nothing of what it does. */

export class IdleWaiters {
  readonly #isBusy: () => boolean;
  readonly #waiters: (() => void)[] = [];

  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
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

  /** Lets all go: it is idle, or gone. */
  release(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
