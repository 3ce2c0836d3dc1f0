/** A real store whose uploads can be held back, delayed and refused: it keeps what it was given before. For tests. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { storeAway } from '../../storage/object-store/store-errors.ts';

export class HeldStore {
  /** Names in the order in which uploads were begun, and those that are whole. */
  readonly begun: string[] = [];
  readonly stored: string[] = [];
  /** Of each upload, in milliseconds. */
  delayMs = 0;
  isAway = false;
  /** Uploads that are to be whole, and are answered with an error all the same. */
  answersLost = 0;
  #open = Promise.withResolvers<void>();

  constructor() {
    this.#open.resolve();
  }

  /** Uploads that begin from now on wait. */
  hold(): void {
    this.#open = Promise.withResolvers();
  }

  release(): void {
    this.#open.resolve();
  }

  readonly over = (store: ObjectStore): ObjectStore => ({
    ...store,
    head: async (name, options) => {
      if (this.isAway) throw storeAway('timeout');
      return store.head(name, options);
    },
    upload: async (name, path, options) => {
      this.begun.push(name);
      await this.#open.promise;
      await pause(this.delayMs);
      if (this.isAway) throw storeAway('timeout');
      const stored = await store.upload(name, path, options);
      this.stored.push(name);
      if (this.answersLost > 0) {
        this.answersLost -= 1;
        throw storeAway('timeout');
      }
      return stored;
    },
  });
}
