/**
 * What a replica keeps: looks through the store once a day, removes what is older than is kept, and has merged what was
 * left out.
 */
import type { Clock } from '../base/clock.ts';
import { isUnavailable, isWinterdockError, messageOf } from '../base/errors.ts';
import { isInstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { ageBundles } from '../replication/levels/bundle-aging.ts';
import { ageReplicaOf, type ReplicaAgingParts } from '../replication/levels/replica-aging.ts';
import { parseSegmentName } from '../replication/names/replica-names.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';

const EVERY_MS = 86_400_000;
/** After a start others come first. */
const FIRST_MS = 3_600_000;

export interface ReplicaRetentionParts extends Pick<ReplicaAgingParts, 'cutter' | 'levels' | 'tmp' | 'keeps'> {
  store: ReplicaAgingParts['store'] & Pick<ObjectStore, 'purge' | 'remove' | 'traits'>;
  registry: Pick<Registry, 'instances'>;
  clock: Clock;
  log: Logger;
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
    const { store, registry, clock, log, cutter, levels, tmp, keeps } = this.#parts;
    // A purge lists versions and unfinished uploads of each name: where there are none, one request does.
    const { versioning } = await store.traits();
    const remove = (name: string) => (versioning === 'off' ? store.remove(name) : store.purge(name));
    const isOver = () => this.#isOver;
    const parts = { store, remove, cutter, levels, tmp, keeps, nowMs: clock.now(), isOver };
    const ids = new Set<string>();
    for await (const page of store.list('replica/')) {
      if (this.#isOver) return 0;
      for (const { name } of page) {
        const place = parseSegmentName(name);
        if (place !== null) ids.add(place.id);
      }
    }
    let removed = await ageBundles({ ...parts, log });
    for (const id of ids) {
      if (this.#isOver) break;
      const row = isInstanceId(id) ? await registry.instances.get(id) : null;
      const isDeleted = row?.state === 'deleted';
      try {
        removed += await ageReplicaOf(parts, id, isDeleted);
      } catch (error) {
        // What is damaged of one keeps nothing of the others.
        if (!isWinterdockError(error) || isUnavailable(error)) throw error;
        log.warn({ id, error: messageOf(error) }, 'old moments of a sandbox stay in the replica');
      }
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
