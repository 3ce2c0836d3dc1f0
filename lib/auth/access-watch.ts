/**
 * Watches the keys and sessions of open streams: a stream ends at once when its caller's key or session ends or their
 * rights change. Knows only callers.
 */
import type { Caller } from './caller.ts';

/** `over`: the key or session has ended. `changed`: the caller's rights are different now. */
export type AccessChange = 'over' | 'changed';

export interface AccessWatch {
  /**
   * Calls `act` once when the caller's access ends or changes. It ends at `until` (epoch milliseconds; null: never).
   * Returns the unsubscriber, which may be called twice.
   */
  join(caller: Caller, until: number | null, act: (change: AccessChange) => void): () => void;
  /**
   * Notifies the watchers of every caller for whom `affected` is true. Call it after the change itself: a client that
   * reconnects at once must meet its new rights.
   */
  end(affected: (caller: Caller) => boolean, change: AccessChange): void;
  /** Those who are watched now; one object for each that joined. */
  callers(): Caller[];
}

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** Makes one. `now` in epoch milliseconds. */
export function createAccessWatch(now: () => number): AccessWatch {
  const watched = new Map<(change: AccessChange) => void, Caller>();
  return {
    join(caller, until, act) {
      let timer: NodeJS.Timeout | undefined;
      const endsAt = until === null ? 0 : performance.now() + (until - now());
      const leave = () => {
        clearTimeout(timer);
        watched.delete(end);
      };
      const end = (change: AccessChange) => {
        leave();
        act(change);
      };
      const wait = () => {
        if (until === null) return;
        // By whichever comes first: a clock that is set back gives nobody more time.
        const left = Math.max(0, Math.min(until - now(), endsAt - performance.now()));
        timer = setTimeout(() => (left <= LONGEST_MS ? end('over') : wait()), Math.min(left, LONGEST_MS));
        timer.unref();
      };
      watched.set(end, caller);
      wait();
      return leave;
    },
    end(affected, change) {
      for (const [end, caller] of [...watched]) if (affected(caller)) end(change);
    },
    callers: () => [...watched.values()],
  };
}
