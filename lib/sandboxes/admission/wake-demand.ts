/**
 * How many workers to keep started ahead of need: as many as woke in the busiest moment of the last minutes, or of the
 * same quarter of an hour a day and a week ago, as the ledger has it. Knows nothing of processes.
 */
import type { LedgerStore } from '../../registry/ledger.ts';

/** The length of a moment, in milliseconds: what a burst brings before the first started worker can help. */
const MOMENT_MS = 2000;
/** How long a burst is remembered, in milliseconds. */
const RECENT_MS = 5 * 60_000;
/** How far ahead the ledger is asked, and how often, in milliseconds. */
const AHEAD_MS = 15 * 60_000;
const LOOK_EVERY_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const AGO_MS = [DAY_MS, 7 * DAY_MS];
/** Lines read of one such time. A quarter of an hour with more is busy enough. */
const LINES = 500;
/** The most workers ahead of need: at some 16 MB each, a quarter of a GB. Their memory gives way to sandboxes. */
export const MAX_READY = 16;

/** The most of these times (milliseconds, ascending) within one moment. */
export function busiestMoment(times: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (const [last, time] of times.entries()) {
    while (time - (times[first] ?? time) >= MOMENT_MS) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

export class WakeDemand {
  readonly #ledger: Pick<LedgerStore, 'page'>;
  #recent: number[] = [];
  /** The busiest moment of the same time on earlier days. */
  #expected = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(ledger: Pick<LedgerStore, 'page'>) {
    this.#ledger = ledger;
  }

  /** Notes a wake at `nowMs` (epoch milliseconds). */
  noteWake(nowMs: number): void {
    this.#recent.push(nowMs);
  }

  /** Workers to keep started from now on, at least `least`. */
  async readyCount(nowMs: number, least: number): Promise<number> {
    this.#recent = this.#recent.filter((time) => time > nowMs - RECENT_MS && time <= nowMs);
    if (Math.abs(nowMs - this.#lookedAt) >= LOOK_EVERY_MS) {
      this.#lookedAt = nowMs;
      const moments = await Promise.all(AGO_MS.map((ago) => this.#momentAt(nowMs - ago)));
      this.#expected = Math.max(...moments);
    }
    return Math.min(Math.max(MAX_READY, least), Math.max(least, this.#expected, busiestMoment(this.#recent)));
  }

  async #momentAt(fromMs: number): Promise<number> {
    const [since, until] = [fromMs, fromMs + AHEAD_MS].map((ms) => Math.max(0, Math.floor(ms / 1000)));
    const { rows } = await this.#ledger.page({ type: 'transition', since, until }, LINES);
    const wakes = rows.filter(({ to }) => to === 'active').map(({ timeMs }) => timeMs);
    return busiestMoment(wakes.sort((one, other) => one - other));
  }
}
