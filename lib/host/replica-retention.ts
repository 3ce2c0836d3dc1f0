/**
 * What a replica keeps: every moment of the last days, and the last state of each sandbox. Looks through the store once
 * a day, and removes series that no kept moment needs.
 */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { isInstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { parseSegmentName } from '../replication/replica-names.ts';
import { removeOldSeries } from '../replication/replica-removal.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';

const EVERY_MS = 86_400_000;
/** After a start others come first. */
const FIRST_MS = 3_600_000;

export interface ReplicaRetentionParts {
  store: Pick<ObjectStore, 'list' | 'purge'>;
  registry: Pick<Registry, 'instances'>;
  clock: Clock;
  log: Logger;
  keepMs: number;
}

export class ReplicaRetention {
  readonly #parts: ReplicaRetentionParts;
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> | null = null;
  #isOver = false;

  constructor(parts: ReplicaRetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#later(FIRST_MS);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round;
  }

  /** One round; returns how many segments went. Throws what the store throws. */
  async run(): Promise<number> {
    const { store, registry, clock, keepMs } = this.#parts;
    const beforeMs = clock.now() - keepMs;
    const ids = new Set<string>();
    for await (const page of store.list('replica/')) {
      if (this.#isOver) return 0;
      for (const { name } of page) {
        const place = parseSegmentName(name);
        if (place !== null) ids.add(place.id);
      }
    }
    let removed = 0;
    for (const id of ids) {
      if (this.#isOver) break;
      const row = isInstanceId(id) ? await registry.instances.get(id) : null;
      const isDeleted = row?.state === 'deleted';
      removed += (await removeOldSeries(store, id, { beforeMs, isDeleted, isOver: () => this.#isOver })).removed;
    }
    return removed;
  }

  #later(ms: number): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      this.#round = this.run()
        .then(
          (removed) => this.#parts.log.info({ removed }, 'old moments left the replica'),
          (error: unknown) => this.#parts.log.warn({ error: messageOf(error) }, 'old moments stay in the replica'),
        )
        .then(() => this.#later(EVERY_MS));
    }, ms).unref();
  }
}
