/**
 * When a page that has become wrong is rendered again: at once after a lone line, more and more seldom while many come,
 * and never so often that rendering becomes what the server does. Pure: takes the time as an argument, in milliseconds.
 */
import type { Urgency } from './refresh-urgency.ts';

const SOON_MS = 120;
const LATER_MS = 10_000;
const LEAST_MS = 1000;
const MOST_MS = 15_000;
/** The rate of lines is taken over so long. */
const WINDOW_MS = 5000;
/** For each line a second: at one a second it is rendered every three, at five every fifteen. */
const PER_RATE_MS = 3000;
/** So long without a line, a burst is over, and is followed soon. */
const QUIET_MS = 600;
const QUIET_EVERY_MS = 3000;
/** A page that takes long to render is rendered the less often, up to a limit. */
const TOOK_TIMES = 5;
const TOOK_MOST_MS = 5000;

export class RefreshPace {
  #heard: number[] = [];
  #now: number | null = null;
  #later: number | null = null;
  #last = Number.NEGATIVE_INFINITY;
  #took = 0;

  /** A line concerns the page. */
  hear(urgency: Urgency, now: number): void {
    if (urgency === null) return;
    if (urgency === 'later') {
      this.#later ??= now;
      return;
    }
    this.#now ??= now;
    this.#heard.push(now);
  }

  /** How long until the page should be rendered again, as things are at `now`; null: it is as it should be. */
  wait(now: number): number | null {
    const least = this.#last + Math.max(LEAST_MS, Math.min(TOOK_MOST_MS, TOOK_TIMES * this.#took));
    const times: number[] = [];
    if (this.#later !== null) times.push(Math.max(this.#later + LATER_MS, least));
    if (this.#now !== null) times.push(Math.max(this.#now + SOON_MS, least, this.#last + this.#every(now)));
    return times.length === 0 ? null : Math.max(0, Math.min(...times) - now);
  }

  /** It is being rendered: what was heard so far is settled. */
  begin(now: number): void {
    this.#now = null;
    this.#later = null;
    this.#last = now;
  }

  /** It was rendered. */
  end(now: number): void {
    this.#took = now - this.#last;
    this.#last = now;
  }

  #every(now: number): number {
    this.#heard = this.#heard.filter((at) => at > now - WINDOW_MS);
    const newest = this.#heard.at(-1);
    if (newest === undefined) return 0;
    const most = newest < now - QUIET_MS ? QUIET_EVERY_MS : MOST_MS;
    return Math.min(most, (this.#heard.length * PER_RATE_MS * 1000) / WINDOW_MS);
  }
}
