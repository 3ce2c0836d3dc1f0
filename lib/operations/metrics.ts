/** Operations on measurements: the Prometheus metrics, and how long wakes took in the last days. */
import type { Caller } from '../auth/caller.ts';
import type { WakeTime } from '../contract/schema/tenants.ts';
import type { Metrics } from '../health/metrics.ts';

export interface MetricsOperations {
  /** The metrics in the Prometheus text format. */
  metricsText(caller: Caller): Promise<string>;
  wakeTimes(caller: Caller, query: { days: number }): Promise<WakeTime[]>;
}

export function metricsOperations({ metrics }: { metrics: Pick<Metrics, 'text' | 'wakeTimes'> }): MetricsOperations {
  return {
    metricsText: () => metrics.text(),

    async wakeTimes(_caller, { days }) {
      const times = await metrics.wakeTimes(days);
      return times.map(({ path, source, count, meanMs, p50Ms, p99Ms, buckets }) => ({
        path,
        source,
        count,
        mean_ms: rounded(meanMs),
        p50_ms: rounded(p50Ms),
        p99_ms: rounded(p99Ms),
        buckets: buckets.map(({ leMs, count: n }) => ({ le_ms: leMs, count: n })),
      }));
    },
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
