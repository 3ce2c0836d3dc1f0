/** Operations on load: what an instance, a tenant or the server takes while it takes it. */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { LOAD_POINTS } from '../contract/load-limits.ts';
import type { InstanceLoad, LoadQuery, TopLoad, TopLoadQuery } from '../contract/schema/load.ts';
import type { LoadSampler, LoadShare } from '../health/load/load-sampler.ts';
import type { LoadSubject } from '../health/load/minutes-file.ts';
import type { Registry } from '../registry/registry.ts';
import type { UsageHour } from '../registry/usage.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import { finestStep, loadPoints, madeOf, withDisk } from './load-series.ts';
import { unknownId } from './unknown-id.ts';
import { type Steps, stepsOver } from './usage-series.ts';

export interface LoadOperations {
  /** What an instance took. Throws `not_found`, `gone`, and `validation` for more points than an answer has. */
  instanceLoad(caller: Caller, id: InstanceId, query: LoadQuery): Promise<InstanceLoad>;
  /** What a tenant's instances took together, and which the most. Throws as `getTenant` and `instanceLoad` do. */
  tenantLoad(caller: Caller, tenant: string, query: TopLoadQuery): Promise<TopLoad>;
  /** What all instances of the server took together, and which tenants the most. */
  serverLoad(caller: Caller, query: TopLoadQuery): Promise<TopLoad>;
}

const MINUTE = 60;
const HOUR = 3600;

export function loadOperations(parts: {
  registry: Registry;
  clock: Clock;
  load: Pick<LoadSampler, 'samplesOf' | 'minutesOf' | 'sinceMs' | 'top'>;
}): LoadOperations {
  const { registry, clock, load } = parts;

  const stepsFor = (query: LoadQuery): Steps => {
    const now = epochSeconds(clock);
    const to = query.to ?? now;
    const from = query.from ?? Math.max(0, to - HOUR);
    if (from > to) throw invalid('from', 'must not be after to');
    const step = query.step ?? finestStep(from, to, now);
    const steps = stepsOver(from, to, step);
    if ((steps.to - steps.from) / step > LOAD_POINTS + 1)
      throw invalid('step', `is too small for this time: an answer has ${LOAD_POINTS} points at most`);
    return steps;
  };

  /** After a start of the server the minutes go back further than the samples: of such a time they know more. */
  const stepsOf = (subject: LoadSubject, query: LoadQuery): Steps => {
    const steps = stepsFor(query);
    const cutMs = load.sinceMs - MINUTE * 1000;
    if (query.step !== undefined || madeOf(steps.step) !== 'samples' || cutMs <= steps.from * 1000) return steps;
    const isKnown = load.minutesOf(subject, steps.from * 1000, cutMs).length > 0;
    return isKnown ? stepsFor({ ...query, step: MINUTE }) : steps;
  };

  const loadOf = async (
    subject: LoadSubject,
    steps: Steps,
    hoursOf: (from: number, until: number, step: number) => Promise<UsageHour[]>,
  ): Promise<InstanceLoad> => {
    const { from, to, step } = steps;
    const made = madeOf(step);
    const hoursSince = (first: number, size: number) => hoursOf(first, Math.ceil(to / HOUR) - 1, size);
    const pointsOf = async () => {
      if (made === 'hours') return (await hoursSince(from / HOUR, step / HOUR)).map(hourPoint);
      const stretches = made === 'samples' ? load.samplesOf(subject) : load.minutesOf(subject, from * 1000, to * 1000);
      const points = loadPoints(stretches, steps);
      if (subject.id !== '' || points.length === 0) return points;
      return withDisk(points, await hoursSince(Math.floor(from / HOUR) - 1, 1));
    };
    const points = await pointsOf();
    const samplesSince = Math.ceil(load.sinceMs / 1000);
    return { from, to, step, made_of: made, samples_since: samplesSince, points: points.slice(-LOAD_POINTS) };
  };

  const togetherOf = async (tenant: string | null, { top, ...query }: TopLoadQuery): Promise<TopLoad> => {
    const subject = { tenant: tenant ?? '', id: '' };
    const steps = stepsOf(subject, query);
    const found = await loadOf(subject, steps, async (from, until, step) => {
      const { hours } = await registry.usage.ofTenant(tenant, Math.max(0, from), until, step);
      return hours;
    });
    return { ...found, top: load.top(tenant, steps.from * 1000, steps.to * 1000, top).map(shareOf) };
  };

  return {
    async instanceLoad(_caller, id, query) {
      const { tenant } = await requireInstance(parts, id);
      const subject = { tenant, id };
      return loadOf(subject, stepsOf(subject, query), (from, until, step) =>
        registry.usage.ofSandbox(id, from, until, step),
      );
    },

    async tenantLoad(caller, tenant, query) {
      if (caller.tenants?.includes(tenant) !== true && (await registry.quotas.tenant(tenant)) === null)
        throw unknownId('tenant', tenant);
      return togetherOf(tenant, query);
    },

    serverLoad: (_caller, query) => togetherOf(null, query),
  };
}

function hourPoint({ hour, cpuMs, memoryBytes, calls, bytes }: UsageHour): InstanceLoad['points'][number] {
  return {
    time: hour * HOUR,
    measured_s: null,
    cpu_s: cpuMs / 1000,
    memory_bytes: memoryBytes,
    calls,
    bytes_in: null,
    bytes_out: null,
    disk_bytes: bytes,
  };
}

function shareOf({ name, cpuMs, memoryBytes, calls, bytesIn, bytesOut }: LoadShare): TopLoad['top'][number] {
  const cpu = Math.round(cpuMs) / 1000;
  return { name, cpu_s: cpu, memory_bytes: memoryBytes, calls, bytes_in: bytesIn, bytes_out: bytesOut };
}

function invalid(path: string, message: string): WinterdockError {
  return new WinterdockError('validation', `${path}: ${message}`, { extra: { errors: [{ path, message }] } });
}
