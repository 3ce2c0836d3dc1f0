/** Operations on measurements: the Prometheus metrics, what the server does now, and how long wakes took. */
import type { Caller } from '../auth/caller.ts';
import type { Config } from '../base/config.ts';
import type { WakeTime } from '../contract/schema/tenants.ts';
import type { Metrics, ResumeCounts } from '../health/metrics.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { InstancePool } from '../workers/protocol/instance.ts';

/** Numbers alone: nothing of any tenant. */
interface ServerHealth {
  instances: Record<State, number>;
  processes: Pick<InstancePool, 'active' | 'claimed' | 'ready' | 'startedAhead'> & { most: number };
  callsRunning: number;
  resumes: ResumeCounts;
}

export interface MetricsOperations {
  /** The metrics in the Prometheus text format. */
  metricsText(caller: Caller): Promise<string>;
  serverHealth(caller: Caller): Promise<ServerHealth>;
  wakeTimes(caller: Caller, query: { days: number }): Promise<WakeTime[]>;
}

export function metricsOperations(parts: {
  metrics: Pick<Metrics, 'text' | 'resumes' | 'wakeTimes'>;
  registry: { instances: Pick<Registry['instances'], 'countsByState'> };
  pool: Pick<InstancePool, 'active' | 'claimed' | 'ready' | 'startedAhead'>;
  sandboxes: Pick<Sandboxes, 'callsRunning'>;
  config: Pick<Config, 'maxActive'>;
}): MetricsOperations {
  const { metrics, registry, pool, sandboxes, config } = parts;
  return {
    metricsText: () => metrics.text(),

    async serverHealth() {
      const { active, claimed, ready, startedAhead } = pool;
      return {
        instances: await registry.instances.countsByState(),
        processes: { active, claimed, ready, startedAhead, most: config.maxActive },
        callsRunning: sandboxes.callsRunning,
        resumes: await metrics.resumes(),
      };
    },

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
