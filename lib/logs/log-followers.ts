/**
 * Who follows logs over connections that stay open: each has the lines that it did not take yet, bounded, and a bound
 * on how many there are. Knows nothing of connections or files.
 */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { LogLine } from './log-line.ts';

const OF_TENANT = 100;
const IN_ALL = 1000;
/** Characters of lines that wait for one follower. */
const WAITING = 512 * 1024;

/** Whose log is followed: a sandbox's, or a whole tenant's. */
export interface LogScope {
  tenant: string;
  /** Null: every sandbox of the tenant. */
  instance: InstanceId | null;
}

export interface LogFollower {
  /** The lines since the last time, and how many were left out before them, because they were not taken. */
  take(): { lines: LogLine[]; dropped: number };
  /** Resolves when there is something to take, or `signal` is aborted. */
  changed(signal: AbortSignal): Promise<void>;
  /** Idempotent. */
  leave(): void;
}

interface Place extends LogScope {
  lines: LogLine[];
  length: number;
  dropped: number;
  wake: () => void;
}

export class LogFollowers {
  readonly #places = new Set<Place>();

  /** Throws `rate_limited` when the tenant or the server has as many as it may have. */
  requirePlace(tenant: string): void {
    const ofTenant = [...this.#places].filter((place) => place.tenant === tenant).length;
    if (ofTenant >= OF_TENANT) throw tooMany(`${OF_TENANT} follow logs of the tenant "${tenant}" already.`);
    if (this.#places.size >= IN_ALL) throw tooMany(`${IN_ALL} follow logs already.`);
  }

  /** Adds one. Throws as `requirePlace`. */
  join(followed: LogScope): LogFollower {
    this.requirePlace(followed.tenant);
    const place: Place = { ...followed, lines: [], length: 0, dropped: 0, wake: () => undefined };
    this.#places.add(place);
    return {
      take() {
        const taken = { lines: place.lines, dropped: place.dropped };
        Object.assign(place, { lines: [], length: 0, dropped: 0 });
        return taken;
      },
      changed(signal) {
        if (signal.aborted || place.lines.length > 0 || place.dropped > 0) return Promise.resolve();
        return new Promise((resolve) => {
          const done = () => {
            signal.removeEventListener('abort', done);
            resolve();
          };
          place.wake = done;
          signal.addEventListener('abort', done, { once: true });
        });
      },
      leave: () => void this.#places.delete(place),
    };
  }

  /** Tells lines of one sandbox to those who follow it. */
  tell(tenant: string, instance: InstanceId, lines: readonly LogLine[]): void {
    const length = lines.reduce((sum, { text }) => sum + text.length + 100, 0);
    for (const place of this.#places) {
      if (place.tenant !== tenant || (place.instance !== null && place.instance !== instance)) continue;
      if (place.length + length > WAITING) {
        place.dropped += place.lines.length + lines.length;
        place.lines = [];
        place.length = 0;
      } else {
        place.lines.push(...lines);
        place.length += length;
      }
      place.wake();
    }
  }
}

function tooMany(message: string): WinterdockError {
  return new WinterdockError('rate_limited', message, {
    hint: 'Read the log without following it, or come back when others have left.',
    retryAfterSeconds: 5,
  });
}
