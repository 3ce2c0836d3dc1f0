/**
 * How often a stale page is refreshed: at once after a single line, less often the more lines come, and never so often
 * that rendering becomes the server's main work. Pure: takes the time as an argument, in milliseconds.
 */
import type { Urgency } from './refresh-urgency.ts';

const SOON_MS = 120;
const LATER_MS = 10_000;
const LEAST_MS = 1000;
const MOST_MS = 15_000;
/** The rate of lines is measured over this time. */
const WINDOW_MS = 5000;
/** Per line a second: at one a second the page is refreshed every 3 s, at five every 15 s. */
const PER_RATE_MS = 3000;
/** After this time without a line a burst is over, and the page is refreshed soon. */
const QUIET_MS = 600;
const QUIET_EVERY_MS = 3000;
/** The pause is at least this many times what the last refresh took, up to a limit. */
const TOOK_TIMES = 5;
const TOOK_MOST_MS = 5000;

export class RefreshPace {
  #lineTimes: number[] = [];
  #now: number | null = null;
  #later: number | null = null;
  #last = Number.NEGATIVE_INFINITY;
  #took = 0;

  /** Notes a line that makes the page stale. */
  noteLine(urgency: Urgency, now: number): void {
    if (urgency === null) return;
    if (urgency === 'later') {
      this.#later ??= now;
      return;
    }
    this.#now ??= now;
    this.#lineTimes.push(now);
  }

  /** Milliseconds until the next refresh, as of `now`; null: the page is not stale. */
  wait(now: number): number | null {
    const least = this.#last + Math.max(LEAST_MS, Math.min(TOOK_MOST_MS, TOOK_TIMES * this.#took));
    const times: number[] = [];
    if (this.#later !== null) times.push(Math.max(this.#later + LATER_MS, least));
    if (this.#now !== null) times.push(Math.max(this.#now + SOON_MS, least, this.#last + this.#every(now)));
    return times.length === 0 ? null : Math.max(0, Math.min(...times) - now);
  }

  /** A refresh begins: it covers all lines noted so far. */
  begin(now: number): void {
    this.#now = null;
    this.#later = null;
    this.#last = now;
  }

  /** The refresh has ended. */
  end(now: number): void {
    this.#took = now - this.#last;
    this.#last = now;
  }

  #every(now: number): number {
    this.#lineTimes = this.#lineTimes.filter((at) => at > now - WINDOW_MS);
    const newest = this.#lineTimes.at(-1);
    if (newest === undefined) return 0;
    const most = newest < now - QUIET_MS ? QUIET_EVERY_MS : MOST_MS;
    return Math.min(most, (this.#lineTimes.length * PER_RATE_MS * 1000) / WINDOW_MS);
  }
}
