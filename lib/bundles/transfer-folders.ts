/**
 * The `bundles/` drawer: a folder of its own for everything that passes, gone when it has passed. What an earlier run
 * left is removed at the start. Owns how many may pass at a time.
 */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Semaphore } from 'async-mutex';
import { makeFolder, makeNewFolder, removeTree } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { discard } from '../storage/files.ts';

/** Bundles and checkouts on their way at a time: each takes as much disk as its sandbox, some of them twice. */
const MAX_FOLDERS = 32;
/** Those of one person or key: whoever sends or takes his slowly keeps nobody else from sending. */
const MAX_FOLDERS_EACH = 8;
/** Processes that work at a time; the others wait their turn. */
const MAX_WORKING = 2;

export class TransferFolders {
  readonly #drawer: string;
  readonly #working = new Semaphore(MAX_WORKING);
  /** How many each has open. */
  readonly #open = new Map<string, number>();

  constructor(dataFolder: string) {
    this.#drawer = join(dataFolder, 'bundles');
  }

  /** Makes the drawer and empties it. */
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
          ? `${MAX_FOLDERS} bundles are on their way already.`
          : `${theirs} bundles of yours are on their way already.`;
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

  /** Runs `work` in its turn. */
  withSlot<T>(work: () => Promise<T>): Promise<T> {
    return this.#working.runExclusive(work);
  }
}
