/**
 * The clock of a replica: it never goes back, also not over a restart of the server. Later series and segments have
 * later times, whatever the clock of the machine says, for the newest moment is found by them. The newest time that
 * was told is the time of a small file.
 */
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { createFileNow, makeFolderNow, setTimesNow } from '../base/effects.ts';
import { isThereNow, lookAtNow } from '../base/strangers-file.ts';

/** How often the file is touched at most, in milliseconds. */
const NOTED_MS = 1000;
const NS_PER_MS = 1_000_000n;

export class SteadyClock implements Clock {
  readonly #clock: Clock;
  readonly #path: string;
  #last: number;
  #notedMs: number;

  /** `path`: absolute, of the small file; made when it is missing. */
  constructor(clock: Clock, path: string) {
    this.#clock = clock;
    this.#path = path;
    const stat = lookAtNow(path);
    this.#notedMs = stat === null ? 0 : Number(stat.mtimeNs / NS_PER_MS);
    // What was told after the last note is not known.
    this.#last = stat === null ? 0 : this.#notedMs + NOTED_MS;
  }

  now(): number {
    this.#last = Math.max(this.#clock.now(), this.#last);
    if (this.#last >= this.#notedMs + NOTED_MS) this.#note();
    return this.#last;
  }

  /** A disk that refuses costs only what this is for. */
  #note(): void {
    this.#notedMs = this.#last;
    try {
      if (!isThereNow(this.#path)) {
        makeFolderNow(dirname(this.#path));
        createFileNow(this.#path);
      }
      setTimesNow(this.#path, this.#last / 1000);
    } catch {
      // It is noted again in a second.
    }
  }
}
