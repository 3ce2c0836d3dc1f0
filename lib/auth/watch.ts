/**
 * Who is still listening by which key or session: an open stream ends at once when what let it in no longer holds. Knows only callers.
 */
import type { Caller } from '../auth.ts';

export interface Watch {
  /**
   * Calls `act` once when the caller's key or session ends, or at `until` (epoch milliseconds; null: never). Returns the way out, which
   * may be called twice.
   */
  join(caller: Caller, until: number | null, act: () => void): () => void;
  /** Ends what `gone` is true for. */
  end(gone: (caller: Caller) => boolean): void;
}

/** The longest that a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/** Makes one. `now` in epoch milliseconds. */
export function createWatch(now: () => number): Watch {
  const watched = new Map<() => void, Caller>();
  return {
    join(caller, until, act) {
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(timer);
        watched.delete(end);
      };
      const end = () => {
        leave();
        act();
      };
      const wait = () => {
        if (until === null) return;
        const left = until - now();
        timer = setTimeout(() => (until <= now() ? end() : wait()), Math.min(Math.max(left, 0), LONGEST_MS));
        timer.unref();
      };
      watched.set(end, caller);
      wait();
      return leave;
    },
    end(gone) {
      for (const [end, caller] of [...watched]) if (gone(caller)) end();
    },
  };
}
