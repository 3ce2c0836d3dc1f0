/**
 * Whose page is begun next, and what each costs: one begins in each turn of the event loop, addresses in turn, so that
 * nobody's pages together hold up what else the server answers. Knows no page.
 */
import { rateLimited } from '../auth/rate-limits.ts';
import { FairQueue } from '../base/fair-queue.ts';
import { cpuMs } from '../health/loop-watch.ts';

/** Pages of one address that may wait. Ten tabs that are opened at once ask for a few each. */
const MOST_WAITING = 100;

export class PageTurns {
  readonly #waiting = new FairQueue<() => void>();
  #isTaken = false;
  readonly #underWay = new Set<{ costMs: number }>();
  #countedMs = 0;

  /** Resolves when a page for this address may begin. Throws `rate_limited` when too many wait. */
  async enter(address: string): Promise<void> {
    if (!this.#isTaken) return this.#take();
    if (this.#waiting.lengthOf(address) >= MOST_WAITING) {
      throw rateLimited('Too many pages for this address wait.', 1);
    }
    return new Promise((resolve) => this.#waiting.add(address, resolve));
  }

  /**
   * A page begins. Returns what ends it and tells its cost: of the processor time that this thread took meanwhile, its
   * equal share among the pages that were under way, in milliseconds.
   */
  begin(): () => number {
    const page = { costMs: 0 };
    this.#share();
    this.#underWay.add(page);
    return () => {
      this.#share();
      this.#underWay.delete(page);
      return page.costMs;
    };
  }

  #share(): void {
    const now = cpuMs();
    const eachMs = (now - this.#countedMs) / this.#underWay.size;
    for (const page of this.#underWay) page.costMs += eachMs;
    this.#countedMs = now;
  }

  #take(): void {
    this.#isTaken = true;
    setImmediate(() => {
      this.#isTaken = false;
      const next = this.#waiting.take();
      if (next === undefined) return;
      this.#take();
      next();
    });
  }
}
