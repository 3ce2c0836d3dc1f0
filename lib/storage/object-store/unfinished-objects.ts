/** Files of a folder that are to become objects: what a process that was killed left of them is removed after a day. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unlinkFile } from '../../base/effects.ts';
import { lookAtNow } from '../../base/strangers-file.ts';

/** No write takes as long. */
const MOST_MS = 86_400_000;

/** How files of unfinished writes of a name begin: a name has slashes. */
export const unfinishedOf = (name: string) => `${createHash('sha256').update(name).digest('hex').slice(0, 32)}-`;

/** Looks through a folder (absolute) at most once a day. */
export class UnfinishedObjects {
  readonly #folder: string;
  #lookedMs = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes what is old, when that is due. What the disk refuses costs nothing else: nobody sees what stays. */
  async tidy(): Promise<void> {
    const now = Date.now();
    if (now - this.#lookedMs < MOST_MS) return;
    this.#lookedMs = now;
    try {
      for (const name of await readdir(this.#folder)) {
        const path = join(this.#folder, name);
        // Its other times may be those of what is in it.
        const changed = lookAtNow(path)?.ctimeMs;
        if (changed !== undefined && Number(changed) < now - MOST_MS) await unlinkFile(path);
      }
    } catch {
      // There is no such folder, or it is looked at again in a day.
    }
  }
}
