/**
 * Who is still listening by which key or session: an open stream ends at once when what let it in no longer holds.
 * Knows only callers.
 */
import type { Caller } from './caller.ts';

/** What became of what let a caller in: it is over, or it lets in with other rights than before. */
export type Ending = 'over' | 'changed';

export interface Watch {
  /**
   * Calls `act` once when what let the caller in is over or changed; at `until` (epoch milliseconds; null: never) it is
   * over. Returns the way out, which may be called twice.
   */
  join(caller: Caller, until: number | null, act: (ending: Ending) => void): () => void;
  /** Ends what `gone` is true for. What it asks for from then on must be answered so already. */
  end(gone: (caller: Caller) => boolean, ending: Ending): void;
}

/** The longest that a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/** Makes one. `now` in epoch milliseconds. */
export function createWatch(now: () => number): Watch {
  const watched = new Map<(ending: Ending) => void, Caller>();
  return {
    join(caller, until, act) {
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(timer);
        watched.delete(end);
      };
      const end = (ending: Ending) => {
        leave();
        act(ending);
      };
      const wait = () => {
        if (until === null) return;
        const left = until - now();
        timer = setTimeout(() => (until <= now() ? end('over') : wait()), Math.min(Math.max(left, 0), LONGEST_MS));
        timer.unref();
      };
      watched.set(end, caller);
      wait();
      return leave;
    },
    end(gone, ending) {
      for (const [end, caller] of [...watched]) if (gone(caller)) end(ending);
    },
  };
}
