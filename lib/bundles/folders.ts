/**
 * The `bundles/` drawer: a folder of its own for everything that passes, gone when it has passed. What an earlier run left is removed at the start. Owns
 * how many may pass at a time.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Semaphore } from 'async-mutex';
import { WinterdockError } from '../errors.ts';

/** Bundles and checkouts on their way at a time: each takes as much disk as its sandbox, some of them twice. */
const MAX_FOLDERS = 32;
/** Processes that work at a time; the others wait their turn. */
const MAX_WORKING = 2;

export class Folders {
  readonly #drawer: string;
  readonly #working = new Semaphore(MAX_WORKING);
  #open = 0;

  constructor(dataFolder: string) {
    this.#drawer = join(dataFolder, 'bundles');
  }

  /** Makes the drawer and empties it. */
  async start(): Promise<void> {
    await mkdir(this.#drawer, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#drawer))
      await rm(join(this.#drawer, name), { recursive: true, force: true });
  }

  /** A new folder. `close` removes it with everything in it, and may be called again. Throws `rate_limited`. */
  async open(): Promise<{ path: string; close(): Promise<void> }> {
    if (this.#open >= MAX_FOLDERS) {
      throw new WinterdockError('rate_limited', `${MAX_FOLDERS} bundles are on their way already.`, {
        retryAfterSeconds: 5,
      });
    }
    this.#open += 1;
    const path = join(this.#drawer, randomUUID());
    let closed: Promise<void> | null = null;
    const close = () => {
      closed ??= rm(path, { recursive: true, force: true }).finally(() => {
        this.#open -= 1;
      });
      return closed;
    };
    try {
      await mkdir(path, { mode: 0o700 });
      return { path, close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** Runs `work` in its turn. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#working.runExclusive(work);
  }
}
