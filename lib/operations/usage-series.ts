/** Hours of usage summed into the steps of an answer, and the active time between changes. Pure. */
import type { InstanceUsage, TenantUsage } from '../contract/schema/usage.ts';
import type { TenantHours, UsageHour } from '../registry/usage.ts';

const HOUR = 3600;

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

/** Steps in which something happened, from hours of that size. */
export function instancePoints(hours: readonly UsageHour[]): InstanceUsage['points'] {
  return hours.map(({ hour, cpuMs, calls, memoryBytes, bytes }) => ({
    time: hour * HOUR,
    cpu_s: secondsOf(cpuMs),
    calls,
    memory_bytes: memoryBytes,
    disk_bytes: bytes,
  }));
}

/**
 * Every step, from hours of that size, with zeros where nothing happened; a step without one has the disk of the one
 * before. Active time is counted backwards from how many are active now, so that nothing has to be known of the time
 * before the first hour.
 */
export function tenantPoints(found: TenantHours, steps: Steps, nowMs: number): TenantUsage['points'] {
  const { hours, active, laterChange } = found;
  const byStep = new Map(hours.map((hour) => [hour.hour * HOUR, hour]));
  const awakeMs = new Map<number, number>();
  let atEnd = active - laterChange;
  for (let time = steps.to - steps.step; time >= steps.from; time -= steps.step) {
    const { activeChange = 0, activeMs = 0 } = byStep.get(time) ?? {};
    const atBegin = atEnd - activeChange;
    const stepMs = steps.step * 1000;
    const notYetMs = Math.min(stepMs, Math.max(0, time * 1000 + stepMs - nowMs));
    awakeMs.set(time, Math.max(0, atBegin * stepMs + activeMs - atEnd * notYetMs));
    atEnd = atBegin;
  }
  const points: TenantUsage['points'] = [];
  let disk = hours[0]?.bytes ?? 0;
  for (let time = steps.from; time < steps.to; time += steps.step) {
    const { cpuMs = 0, calls = 0, memoryBytes = 0, wakes = 0, faults = 0, bytes = disk } = byStep.get(time) ?? {};
    disk = bytes;
    points.push({
      ...{ time, cpu_s: secondsOf(cpuMs), calls, memory_bytes: memoryBytes, disk_bytes: disk, wakes, faults },
      awake_s: secondsOf(awakeMs.get(time) ?? 0),
    });
  }
  return points;
}
