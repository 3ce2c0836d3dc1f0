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
 * Milliseconds that sandboxes were active in each hour, all together. Goes backwards from how many are active now, so
 * that nothing has to be known of the time before the first hour.
 */
function activeMsByHour(
  { hours, active, laterChange }: TenantHours,
  { first, last }: { first: number; last: number },
  nowMs: number,
): Map<number, number> {
  const byHour = new Map(hours.map((hour) => [hour.hour, hour]));
  const result = new Map<number, number>();
  let atEnd = active - laterChange;
  for (let hour = last; hour >= first; hour -= 1) {
    const { activeChange = 0, activeMs = 0 } = byHour.get(hour) ?? {};
    const atBegin = atEnd - activeChange;
    const notYetMs = Math.min(HOUR_MS, Math.max(0, (hour + 1) * HOUR_MS - nowMs));
    result.set(hour, Math.max(0, atBegin * HOUR_MS + activeMs - atEnd * notYetMs));
    atEnd = atBegin;
  }
  return result;
}

/** Every step, with zeros where nothing happened; a step without an hour has the disk of the one before. */
export function tenantPoints(found: TenantHours, steps: Steps, nowMs: number): TenantUsage['points'] {
  const first = steps.from / HOUR;
  const last = steps.to / HOUR - 1;
  const activeMs = activeMsByHour(found, { first, last }, nowMs);
  const byHour = new Map(found.hours.map((hour) => [hour.hour, hour]));
  const points: TenantUsage['points'] = [];
  let disk = found.hours[0]?.bytes ?? 0;
  for (let time = steps.from; time < steps.to; time += steps.step) {
    const point = { time, cpu_s: 0, calls: 0, memory_bytes: 0, disk_bytes: 0, wakes: 0, faults: 0, awake_s: 0 };
    let cpuMs = 0;
    let awakeMs = 0;
    for (let hour = time / HOUR; hour < (time + steps.step) / HOUR; hour += 1) {
      awakeMs += activeMs.get(hour) ?? 0;
      const row = byHour.get(hour);
      if (row === undefined) continue;
      cpuMs += row.cpuMs;
      point.calls += row.calls;
      point.memory_bytes = Math.max(point.memory_bytes, row.memoryBytes);
      point.wakes += row.wakes;
      point.faults += row.faults;
      disk = row.bytes;
    }
    points.push({ ...point, cpu_s: secondsOf(cpuMs), awake_s: secondsOf(awakeMs), disk_bytes: disk });
  }
  return points;
}
