/** Hours of usage summed into the steps of an answer, and the active time between changes. Pure. */
import type { InstanceUsage, TenantUsage } from '../contract/schema/usage.ts';
import type { TenantHours, UsageHour } from '../registry/usage.ts';

const HOUR = 3600;
const HOUR_MS = HOUR * 1000;

/** Epoch seconds; `from` and `to` are whole steps, `to` exclusive. */
export interface Steps {
  from: number;
  to: number;
  step: number;
}

/** The whole steps that cover a span. Steps are counted from the epoch, so that days begin at midnight UTC. */
export function stepsOver(from: number, to: number, step: number): Steps {
  return { from: Math.floor(from / step) * step, to: (Math.floor(to / step) + 1) * step, step };
}

const secondsOf = (ms: number) => Math.round(ms) / 1000;
const beginOf = ({ from, step }: Steps, hour: number) => from + Math.floor((hour * HOUR - from) / step) * step;

/** Steps with at least one hour. */
export function instancePoints(hours: readonly UsageHour[], steps: Steps): InstanceUsage['points'] {
  const points = new Map<number, UsageHour>();
  for (const hour of hours) {
    const time = beginOf(steps, hour.hour);
    const point = points.get(time);
    points.set(time, point === undefined ? hour : { ...sumOf(point, hour), bytes: hour.bytes });
  }
  return [...points].map(([time, { cpuMs, calls, memoryBytes, bytes }]) => ({
    time,
    cpu_s: secondsOf(cpuMs),
    calls,
    memory_bytes: memoryBytes,
    disk_bytes: bytes,
  }));
}

function sumOf<T extends UsageHour>(one: T, other: T): T {
  const { cpuMs, calls } = other;
  const memoryBytes = Math.max(one.memoryBytes, other.memoryBytes);
  return { ...one, cpuMs: one.cpuMs + cpuMs, calls: one.calls + calls, memoryBytes };
}

/**
 * Milliseconds that sandboxes were active in each step, all together, backwards: the hours that are known, and between
 * them those without a change as one stretch. Begins with how many are active now, so that nothing has to be known of
 * the time before the first hour.
 */
function activeMsByStep({ hours, active, laterChange }: TenantHours, steps: Steps, nowMs: number): Map<number, number> {
  const stepMs = steps.step * 1000;
  const result = new Map<number, number>();
  /** Adds `count` sandboxes from `fromMs` to `toMs`; never to the future, and never to steps when there are none. */
  const addStretch = (fromMs: number, toMs: number, count: number) => {
    if (count <= 0) return;
    const endMs = Math.min(toMs, nowMs);
    for (let at = fromMs; at < endMs; ) {
      const begin = steps.from * 1000 + Math.floor((at - steps.from * 1000) / stepMs) * stepMs;
      const end = Math.min(endMs, begin + stepMs);
      result.set(begin / 1000, (result.get(begin / 1000) ?? 0) + (end - at) * count);
      at = end;
    }
  };
  let count = active - laterChange;
  let knownFromMs = steps.to * 1000;
  for (const { hour, activeChange, activeMs } of hours.toReversed()) {
    const [beginMs, endMs] = [hour * HOUR_MS, (hour + 1) * HOUR_MS];
    addStretch(endMs, knownFromMs, count);
    const before = count - activeChange;
    const notYetMs = Math.min(HOUR_MS, Math.max(0, endMs - nowMs));
    const ms = Math.max(0, before * HOUR_MS + activeMs - count * notYetMs);
    const time = beginOf(steps, hour);
    result.set(time, (result.get(time) ?? 0) + ms);
    count = before;
    knownFromMs = beginMs;
  }
  addStretch(steps.from * 1000, knownFromMs, count);
  return result;
}

/** Every step, with zeros where nothing happened; a step without an hour has the disk of the one before. */
export function tenantPoints(found: TenantHours, steps: Steps, nowMs: number): TenantUsage['points'] {
  const activeMs = activeMsByStep(found, steps, nowMs);
  const byStep = Map.groupBy(found.hours, ({ hour }) => beginOf(steps, hour));
  const points: TenantUsage['points'] = [];
  let disk = found.hours[0]?.bytes ?? 0;
  for (let time = steps.from; time < steps.to; time += steps.step) {
    const point = { time, cpu_s: 0, calls: 0, memory_bytes: 0, disk_bytes: 0, wakes: 0, faults: 0, awake_s: 0 };
    let cpuMs = 0;
    for (const row of byStep.get(time) ?? []) {
      cpuMs += row.cpuMs;
      point.calls += row.calls;
      point.memory_bytes = Math.max(point.memory_bytes, row.memoryBytes);
      point.wakes += row.wakes;
      point.faults += row.faults;
      disk = row.bytes;
    }
    const awakeMs = activeMs.get(time) ?? 0;
    points.push({ ...point, cpu_s: secondsOf(cpuMs), awake_s: secondsOf(awakeMs), disk_bytes: disk });
  }
  return points;
}
