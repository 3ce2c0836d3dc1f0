/**
 * Looks whether the store of the replica still has what it was given: after a start, when the store is back, and once a
 * day. What it lacks is shipped anew, with a line in the ledger. Knows nothing of what is in a segment.
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { lackingReplicas, type StoredUpTo } from '../replication/shipping/lacking-replicas.ts';

/** How often it is asked whether a look is due. */
const POLL_MS = 15_000;
const EVERY_MS = 86_400_000;

export interface ReplicaCheckParts {
  store: Parameters<typeof lackingReplicas>[0];
  /** Finds the bundles of a sandbox's tenant; each of them is read once in a look. */
  openBundles: () => Parameters<typeof lackingReplicas>[2];
  /** Up to where the store was given each of them. */
  points: () => StoredUpTo[];
  /** Resolves with whether the store can be used, and is still this installation's. */
  isUsable: () => Promise<boolean>;
  /** Ships anew what the store lacks. */
  shipAnew: (point: StoredUpTo) => void;
  log: Logger;
}

export class ReplicaCheck {
  readonly #parts: ReplicaCheckParts;
  /** Monotonic milliseconds; null: a look is due. */
  #lookedMs: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #isOver = false;

  constructor(parts: ReplicaCheckParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref();
    this.#poll();
  }

  /** The store was away: somebody may have changed it. */
  wasAway(): void {
    this.#lookedMs = null;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#looking;
  }

  /** One look; returns how many are shipped anew. Throws what the store throws. */
  async run(): Promise<number> {
    const { store, openBundles, points, isUsable, shipAnew, log } = this.#parts;
    const lacking = await lackingReplicas(store, points(), openBundles());
    // Of a store that is another one now nothing is known.
    if (lacking.length === 0 || this.#isOver || !(await isUsable())) return 0;
    log.warn({ count: lacking.length }, 'the store lacks replicas that it was given: they begin anew');
    for (const point of lacking) shipAnew(point);
    return lacking.length;
  }

  #poll(): void {
    const isDue = this.#lookedMs === null || performance.now() - this.#lookedMs > EVERY_MS;
    if (!isDue || this.#looking !== null || this.#isOver) return;
    this.#lookedMs = performance.now();
    this.#looking = this.run()
      .then(() => undefined)
      .catch((error: unknown) => {
        this.#lookedMs = null;
        this.#parts.log.warn({ error: messageOf(error) }, 'it is not known yet whether the replica is whole');
      })
      .finally(() => {
        this.#looking = null;
      });
  }
}
