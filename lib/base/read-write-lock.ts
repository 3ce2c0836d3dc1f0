/**
 * A lock that many readers hold together or one writer alone, in order of arrival: readers that come after a waiting
 * writer wait for it. A reader that need not wait costs a counter.
 */

interface Waiting {
  writes: boolean;
  enter: () => void;
}

export class ReadWriteLock {
  #readers = 0;
  #writes = false;
  readonly #waiting: Waiting[] = [];

  /** True while nobody holds it. */
  get isFree(): boolean {
    return this.#readers === 0 && !this.#writes;
  }

  /** Runs `work` beside other readers. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#writes || this.#waiting.length > 0) await this.#turn(false);
    else this.#readers += 1;
    try {
      return await work();
    } finally {
      this.#readers -= 1;
      this.#admit();
    }
  }

  /** Runs `work` while nobody else holds the lock. */
  async write<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isFree || this.#waiting.length > 0) await this.#turn(true);
    else this.#writes = true;
    try {
      return await work();
    } finally {
      this.#writes = false;
      this.#admit();
    }
  }

  /** Resolves when it is the caller's turn, and the lock is already theirs. */
  #turn(writes: boolean): Promise<void> {
    return new Promise((enter) => this.#waiting.push({ writes, enter }));
  }

  /** Gives the lock to the first in line: to a writer once it is free, or to all readers before the next writer. */
  #admit(): void {
    for (let [next] = this.#waiting; next !== undefined && !this.#writes; [next] = this.#waiting) {
      if (next.writes && this.#readers > 0) return;
      this.#waiting.shift();
      if (next.writes) this.#writes = true;
      else this.#readers += 1;
      next.enter();
    }
  }
}
