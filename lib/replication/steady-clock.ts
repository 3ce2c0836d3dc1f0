/**
 * The clock of a replica: it never goes back, also not over a restart of the server. Later series and segments have
 * later times, whatever the clock of the machine says, for the newest moment is found by them. The newest time that
 * was told is the time of a small file.
 */
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { createFileNow, makeFolderNow, setTimesNow, syncFile, syncFileNow, syncFolderNow } from '../base/effects.ts';
import { isThereNow, lookAtNow } from '../base/strangers-file.ts';

/** How often the file is touched at most, in milliseconds. */
const NOTED_MS = 500;
/** What may have been told after the last note that is on disk, in milliseconds: its successor is being synced. */
const NOT_NOTED_MS = 2 * NOTED_MS;
const NS_PER_MS = 1_000_000n;

export class SteadyClock implements Clock {
  readonly #clock: Clock;
  readonly #path: string;
  #last: number;
  #notedMs: number;
  /** No note of this start is on disk yet. */
  #isFirst = true;
  #isSyncing = false;

  /** `path`: absolute, of the small file; made when it is missing. */
  constructor(clock: Clock, path: string) {
    this.#clock = clock;
    this.#path = path;
    const stat = lookAtNow(path);
    this.#notedMs = stat === null ? 0 : Number(stat.mtimeNs / NS_PER_MS);
    this.#last = stat === null ? 0 : this.#notedMs + NOT_NOTED_MS;
  }

  now(): number {
    this.#last = Math.max(this.#clock.now(), this.#last);
    if (this.#last >= this.#notedMs + NOTED_MS && !this.#isSyncing) this.#note();
    return this.#last;
  }

  /** A disk that refuses costs only what this is for. */
  #note(): void {
    this.#notedMs = this.#last;
    try {
      const isNew = !isThereNow(this.#path);
      if (isNew) {
        makeFolderNow(dirname(this.#path));
        createFileNow(this.#path);
      }
      setTimesNow(this.#path, this.#last / 1000);
      if (this.#isFirst || isNew) {
        syncFileNow(this.#path);
        if (isNew) for (const folder of [dirname(this.#path), dirname(dirname(this.#path))]) syncFolderNow(folder);
        this.#isFirst = false;
      } else void this.#sync();
    } catch {
      // It is noted again the next time.
    }
  }

  async #sync(): Promise<void> {
    this.#isSyncing = true;
    try {
      await syncFile(this.#path);
    } catch {
      // It is synced with the next note.
    } finally {
      this.#isSyncing = false;
    }
  }
}
