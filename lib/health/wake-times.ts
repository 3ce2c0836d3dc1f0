/**
 * The wake-time histogram over days and restarts, with the buckets of the metrics. Collects counts in memory and saves
 * them in batches. Knows nothing of Prometheus.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Source } from '../lifecycle/words.ts';
import type { WakeBucket, WakeTimeStore } from '../registry/wake-times.ts';

const DAY_SECONDS = 86_400;
const FLUSH_MS = 10_000;

/** Wakes of one path and source. */
export interface WakeSummary {
  path: 'warm' | 'cold';
  source: Source | null;
  count: number;
  meanMs: number;
  /**
   * Interpolated linearly within a bucket, and exact where a single wake is in it; several times above all bounds count
   * as the last bound.
   */
  p50Ms: number;
  p99Ms: number;
  /** Not cumulative. `leMs` is null for the bucket above every bound. */
  buckets: { leMs: number | null; count: number }[];
}

export class WakeTimeBook {
  readonly #kept: WakeTimeStore;
  readonly #clock: Clock;
  /** Milliseconds, ascending. */
  readonly #bounds: readonly number[];
  readonly #waiting = new Map<string, WakeBucket>();
  readonly #keepDays: number;
  readonly #timer: NodeJS.Timeout;

  constructor(parts: {
    kept: WakeTimeStore;
    clock: Clock;
    bounds: readonly number[];
    /** Older days are deleted when it stops. */
    keepDays: number;
    failed: (error: unknown) => void;
  }) {
    this.#kept = parts.kept;
    this.#clock = parts.clock;
    this.#bounds = parts.bounds;
    this.#keepDays = parts.keepDays;
    this.#timer = setInterval(() => void this.flush().catch(parts.failed), FLUSH_MS);
    this.#timer.unref();
  }

  observe(path: 'warm' | 'cold', source: Source | null, ms: number): void {
    const boundMs = this.#bounds.find((bound) => ms <= bound) ?? null;
    const key = `${this.#day()} ${path} ${source} ${boundMs}`;
    const bucket = this.#waiting.get(key) ?? { day: this.#day(), path, source, boundMs, count: 0, sumMs: 0 };
    bucket.count += 1;
    bucket.sumMs += ms;
    this.#waiting.set(key, bucket);
  }

  /** Saves what was observed. A killed server loses up to ten seconds of it. */
  async flush(): Promise<void> {
    const buckets = [...this.#waiting.values()];
    this.#waiting.clear();
    await this.#kept.add(buckets);
  }

  /** Of the last `days` days, today being one; in order of path and source. */
  async summary(days: number): Promise<WakeSummary[]> {
    await this.flush();
    const byKind = new Map<string, WakeBucket[]>();
    for (const bucket of await this.#kept.since(this.#day() - days + 1)) {
      const kind = `${bucket.path} ${bucket.source ?? ''}`;
      byKind.set(kind, [...(byKind.get(kind) ?? []), bucket]);
    }
    return [...byKind].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, buckets]) => this.#summaryOf(buckets) ?? []);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    await this.#kept.deleteBefore(this.#day() - this.#keepDays);
  }

  #day(): number {
    return Math.floor(epochSeconds(this.#clock) / DAY_SECONDS);
  }

  #summaryOf(days: readonly WakeBucket[]): WakeSummary | null {
    const [first] = days;
    if (first === undefined) return null;
    const filled = [...this.#bounds, null].map((leMs) => {
      const own = days.filter(({ boundMs }) => boundMs === leMs);
      return {
        leMs,
        count: own.reduce((sum, { count }) => sum + count, 0),
        sumMs: own.reduce((sum, bucket) => sum + bucket.sumMs, 0),
      };
    });
    const count = days.reduce((sum, bucket) => sum + bucket.count, 0);
    const sumMs = days.reduce((sum, bucket) => sum + bucket.sumMs, 0);
    return {
      path: first.path,
      source: first.source,
      count,
      meanMs: sumMs / Math.max(1, count),
      p50Ms: quantile(filled, 0.5),
      p99Ms: quantile(filled, 0.99),
      buckets: filled.map(({ leMs, count: inIt }) => ({ leMs, count: inIt })),
    };
  }
}

/**
 * The quantile `share` (0.5: the median), computed like Prometheus' histogram_quantile, but that of a single wake is
 * what it took: the ledger says that too.
 */
function quantile(buckets: readonly { leMs: number | null; count: number; sumMs: number }[], share: number): number {
  const rank = share * buckets.reduce((sum, { count }) => sum + count, 0);
  let below = 0;
  let from = 0;
  for (const { leMs, count, sumMs } of buckets) {
    if (count === 1 && below + count >= rank) return sumMs;
    if (count > 0 && below + count >= rank)
      return leMs === null ? from : from + (leMs - from) * ((rank - below) / count);
    below += count;
    if (leMs !== null) from = leMs;
  }
  return from;
}
