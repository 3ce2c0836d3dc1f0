/** Operations on usage by the hour, and on the life of a sandbox. */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import {
  type InstanceLife,
  type InstanceUsage,
  type LifeQuery,
  type TenantUsage,
  USAGE_POINTS,
  type UsageQuery,
} from '../contract/schema/usage.ts';
import type { UsageUpkeep } from '../health/usage-upkeep.ts';
import { type LifeColumn, readLife } from '../ledger/life.ts';
import type { Registry } from '../registry/registry.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import { unknownId } from './unknown-id.ts';
import { instancePoints, type Steps, stepsOver, tenantPoints } from './usage-series.ts';

export interface UsageOperations {
  /** What an instance took. Throws `not_found`, `gone`, and `validation` for more points than an answer has. */
  instanceUsage(caller: Caller, id: InstanceId, query: UsageQuery): Promise<InstanceUsage>;
  /** The life of an instance from the ledger. Throws `not_found` and `gone`. */
  instanceLife(caller: Caller, id: InstanceId, query: LifeQuery): Promise<InstanceLife>;
  /** What a tenant's instances took together. Throws as `getTenant` and `instanceUsage` do. */
  tenantUsage(caller: Caller, tenant: string, query: UsageQuery): Promise<TenantUsage>;
  /** What all instances of the server took together. */
  serverUsage(caller: Caller, query: UsageQuery): Promise<TenantUsage>;
}

const HOUR = 3600;
const WEEK = 7 * 24 * HOUR;
/** A reader counts this many new lines, some milliseconds; more are left to the background. */
const READER_LINES = 8000;

export function usageOperations(parts: {
  registry: Registry;
  clock: Clock;
  usage: Pick<UsageUpkeep, 'count'>;
}): UsageOperations {
  const { registry, clock, usage } = parts;

  const stepsOf = ({ from, to = epochSeconds(clock), step }: UsageQuery): Steps => {
    const begin = from ?? Math.max(0, to - WEEK);
    if (begin > to) throw invalid('from', 'must not be after to');
    const hours = Math.floor(to / HOUR) - Math.floor(begin / HOUR) + 2;
    const steps = stepsOver(begin, to, step ?? Math.ceil(hours / USAGE_POINTS) * HOUR);
    if ((steps.to - steps.from) / steps.step > USAGE_POINTS + 1)
      throw invalid('step', `is too small for this time: an answer has ${USAGE_POINTS} points at most`);
    return steps;
  };

  const togetherOf = async (tenant: string | null, query: UsageQuery): Promise<TenantUsage> => {
    const steps = stepsOf(query);
    const read = () => registry.usage.ofTenant(tenant, steps.from / HOUR, steps.to / HOUR - 1, steps.step / HOUR);
    let found = await read();
    if (found.uncounted > 0 && found.uncounted <= READER_LINES) {
      await usage.count();
      found = await read();
    }
    const points = tenantPoints(found, steps, clock.now());
    const sum = (name: 'cpu_s' | 'calls' | 'wakes' | 'faults' | 'awake_s') => sumOf(points, (point) => point[name]);
    return {
      ...steps,
      points,
      total: {
        cpu_s: sum('cpu_s'),
        calls: sum('calls'),
        wakes: sum('wakes'),
        faults: sum('faults'),
        awake_s: sum('awake_s'),
      },
      complete: found.uncounted === 0,
    };
  };

  return {
    async instanceUsage(_caller, id, query) {
      const steps = stepsOf(query);
      await requireInstance(parts, id);
      const hours = await registry.usage.ofSandbox(id, steps.from / HOUR, steps.to / HOUR - 1, steps.step / HOUR);
      const points = instancePoints(hours);
      return {
        ...steps,
        points,
        total: { cpu_s: sumOf(points, ({ cpu_s }) => cpu_s), calls: sumOf(points, ({ calls }) => calls) },
      };
    },

    async instanceLife(_caller, id, query) {
      const { created, state } = await requireInstance(parts, id);
      const now = epochSeconds(clock);
      // The second of its last line is part of it.
      const to = Math.min(query.to ?? now + 1, now + 1);
      const from = Math.min(Math.max(query.from ?? created, created), to - 1);
      const life = await readLife(registry.ledger, {
        id,
        fromMs: from * 1000,
        toMs: to * 1000,
        count: query.columns,
        state,
      });
      const few = life.exact !== null && life.exact.stretches.length <= query.columns ? life.exact : null;
      return {
        from,
        to,
        created,
        stretches:
          few?.stretches.map(({ state: inState, fromMs, toMs }) => ({
            state: inState,
            from: fromMs / 1000,
            to: toMs / 1000,
          })) ?? null,
        hops:
          few?.hops.map(({ timeMs, from: before, to: after, trigger, source, tookMs }) => ({
            time: timeMs / 1000,
            from: before,
            to: after,
            trigger,
            source,
            took_ms: tookMs,
          })) ?? null,
        columns: life.columns.map(columnOf),
      };
    },

    async tenantUsage(caller, tenant, query) {
      if (caller.tenants?.includes(tenant) !== true && (await registry.quotas.tenant(tenant)) === null)
        throw unknownId('tenant', tenant);
      return togetherOf(tenant, query);
    },

    serverUsage: (_caller, query) => togetherOf(null, query),
  };
}

function columnOf({ fromMs, toMs, states, ...column }: LifeColumn): InstanceLife['columns'][number] {
  const times = [...states].map(([state, ms]) => ({ state, seconds: Math.round(ms) / 1000 }));
  return { from: fromMs / 1000, to: toMs / 1000, states: times, ...column };
}

/** To the millisecond: a sum of many decimals has more digits than it knows. */
function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  return Math.round(items.reduce((sum, item) => sum + value(item), 0) * 1000) / 1000;
}

function invalid(path: string, message: string): WinterdockError {
  return new WinterdockError('validation', `${path}: ${message}`, { extra: { errors: [{ path, message }] } });
}
