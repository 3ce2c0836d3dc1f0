/**
 * The `bundles/` drawer: one temporary folder per upload or download, removed when it ends. A start removes those of an
 * earlier run. Owns how many there may be at a time.
 */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Semaphore } from 'async-mutex';
import { makeFolder, makeNewFolder, removeTree } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { discard } from '../storage/files.ts';

/** Most transfers at a time: each takes as much disk space as its sandbox, some of them twice. */
const MAX_FOLDERS = 32;
/** Most transfers of one person or key, so that a slow client does not block the others. */
const MAX_FOLDERS_EACH = 8;
/** Slots for bundle processes; further transfers wait. */
const MAX_WORKING = 2;

export class TransferFolders {
  readonly #drawer: string;
  readonly #working = new Semaphore(MAX_WORKING);
  /** Open folders by actor. */
  readonly #open = new Map<string, number>();

  constructor(dataFolder: string) {
    this.#drawer = join(dataFolder, 'bundles');
  }

  /** Makes the drawer, or empties it. */
  async start(): Promise<void> {
    await makeFolder(this.#drawer);
    for (const name of await readdir(this.#drawer)) await removeTree(join(this.#drawer, name));
  }

  /**
   * A new folder for an actor. `close` removes it with everything in it, and may be called again. Throws
   * `rate_limited`.
   */
  async open(actor: string): Promise<{ path: string; close(): Promise<void> }> {
    const theirs = this.#open.get(actor) ?? 0;
    const all = [...this.#open.values()].reduce((sum, count) => sum + count, 0);
    if (all >= MAX_FOLDERS || theirs >= MAX_FOLDERS_EACH) {
      const says =
        all >= MAX_FOLDERS
          ? `${MAX_FOLDERS} bundles and moments are being made already.`
          : `${theirs} bundles and moments of yours are being made already.`;
      throw new WinterdockError('rate_limited', says, { retryAfterSeconds: 5 });
    }
    this.#open.set(actor, theirs + 1);
    const path = join(this.#drawer, randomUUID());
    let closed: Promise<void> | null = null;
    const close = () => {
      closed ??= discard(path).finally(() => {
        const left = (this.#open.get(actor) ?? 1) - 1;
        if (left > 0) this.#open.set(actor, left);
        else this.#open.delete(actor);
      });
      return closed;
    };
    try {
      await makeNewFolder(path);
      return { path, close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** Runs `work` when a slot is free. */
  withSlot<T>(work: () => Promise<T>): Promise<T> {
    return this.#working.runExclusive(work);
  }
}
