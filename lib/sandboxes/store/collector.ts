/**
 * The collector: removes what is in the store under names that this registry itself superseded, a day later, after
 * asking again whether anything names them. It never asks the store what there is, so a list that is old or incomplete
 * removes nothing; what the registry does not know stays, for people to decide.
 */
import { objectNameOf } from '../../base/cloud-address.ts';
import { messageOf } from '../../base/errors.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import type { Engine } from '../engine.ts';
import { LISTING_SUFFIX, ROW_SUFFIX } from './row-document.ts';

/** How long a superseded object stays, in milliseconds. */
export const KEPT_AFTER_MS = 86_400_000;
const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;
const PAGE = 200;

/** Whether something beside the rows of sandboxes names an object. */
export type NamedElsewhere = (name: string) => Promise<boolean>;

export class StoreCollector {
  readonly #engine: Engine;
  readonly #objects: ObjectStore;
  readonly #isNamedElsewhere: NamedElsewhere;
  #round: Promise<number> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(engine: Engine, objects: ObjectStore, isNamedElsewhere: NamedElsewhere) {
    this.#engine = engine;
    this.#objects = objects;
    this.#isNamedElsewhere = isNamedElsewhere;
  }

  start(): void {
    this.#wait(FIRST_MS);
  }

  #wait(ms: number): void {
    if (this.#engine.stop.aborted) return;
    this.#timer = setTimeout(() => {
      this.collect()
        .catch((error: unknown) => this.#engine.log.warn({ error: messageOf(error) }, 'superseded objects stay'))
        .finally(() => this.#wait(EVERY_MS));
    }, ms).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round?.catch(() => undefined);
  }

  /** One round; returns how many names it removed. Throws what the store throws; the next round goes on. */
  collect(): Promise<number> {
    this.#round ??= this.#collect().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #collect(): Promise<number> {
    const { registry, clock, stop, failpoint } = this.#engine;
    await registry.storeNames.clampSuperseded(clock.now());
    let removed = 0;
    /** Names that stay: they come first in the next page again. */
    let kept = 0;
    for (;;) {
      const names = await registry.storeNames.superseded(clock.now() - KEPT_AFTER_MS, PAGE + kept);
      const further = names.slice(kept);
      if (further.length === 0) return removed;
      for (const { name, instance } of further) {
        if (stop.aborted) return removed;
        const row = instance === null ? null : await registry.instances.get(instance);
        const named = [row?.vfsPath ?? null, row?.stored?.address ?? null].some((path) => isNamed(path, name));
        if (named || (await this.#isNamedElsewhere(name))) {
          kept += 1;
          continue;
        }
        let isGone = true;
        for (const part of [name + ROW_SUFFIX, name + LISTING_SUFFIX, name]) {
          const { remainsUntil } = await this.#objects.purge(part, { signal: stop });
          if (remainsUntil !== null) isGone = false;
        }
        failpoint('collect.removed');
        if (isGone) {
          await registry.storeNames.remove(name);
          removed += 1;
        } else kept += 1;
      }
    }
  }
}

function isNamed(path: string | null, name: string): boolean {
  return path?.startsWith('cloud:') === true && objectNameOf(path) === name;
}
