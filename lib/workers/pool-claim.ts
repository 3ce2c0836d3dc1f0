/** A place of the pool that is kept for one process, and the worker that is kept with it. */
import type { Worker } from './process.ts';
import type { Claim } from './protocol/instance.ts';

/** A claim of the pool. */
export class PoolClaim implements Claim {
  /** The worker that is kept for it. */
  worker: Worker | null = null;
  readonly started: Promise<void>;
  readonly open: Claim['open'];
  readonly #release: () => void;
  readonly #kept = Promise.withResolvers<void>();

  constructor(pool: { open: Claim['open']; release: () => void }) {
    this.open = pool.open;
    this.#release = pool.release;
    this.started = this.#kept.promise;
    this.started.catch(() => {});
  }

  /** Null: it needs none that was started ahead. */
  keep(worker: Worker | null): void {
    this.worker = worker;
    this.#kept.resolve();
  }

  fail(error: unknown): void {
    this.#kept.reject(error);
  }

  release(): void {
    this.#release();
    this.#kept.resolve();
  }
}
