/** What was sampled, summed into the steps of an answer. Pure. */
import { LOAD_POINTS } from '../contract/load-limits.ts';
import type { InstanceLoad } from '../contract/schema/load.ts';
import type { LoadStretch } from '../health/load/load-sampler.ts';
import type { Steps } from './usage-series.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
/** Seconds of a point, the finest first; above them whole hours. */
const STEPS = [10, 20, 30, 60, 120, 180, 240, 300, 600, 900, 1200, 1800] as const;

type Point = InstanceLoad['points'][number];

/** What is kept for a step of so many seconds. */
export function madeOf(step: number): InstanceLoad['made_of'] {
  if (step < MINUTE) return 'samples';
  return step < HOUR ? 'minutes' : 'hours';
}

/** The finest step in which a time, in epoch seconds, is known whole and has no more points than an answer. */
export function finestStep(from: number, to: number, now: number): number {
  // Who asks for the last hour asks a moment later than it began.
  const finest = from < now - DAY - MINUTE ? HOUR : from < now - HOUR - MINUTE ? MINUTE : STEPS[0];
  const fits = (step: number) => Math.floor(to / step) - Math.floor(from / step) + 1 <= LOAD_POINTS;
  const step = STEPS.find((one) => one >= finest && fits(one));
  if (step !== undefined) return step;
  let hours = Math.max(1, Math.ceil((to - from) / HOUR / LOAD_POINTS));
  while (!fits(hours * HOUR)) hours += 1;
  return hours * HOUR;
}

/**
 * The steps in which something was measured. A stretch is of the step that has its middle; one that is longer than a
 * step is spread over those whose middle it has.
 */
export function loadPoints(stretches: readonly LoadStretch[], { from, to, step }: Steps): Point[] {
  const points = new Map<number, Point>();
  for (const stretch of stretches) {
    const times = stepsOf(stretch, step);
    for (const [at, time] of times.entries()) {
      if (time < from || time >= to) continue;
      const part = (value: number) =>
        Math.floor((value * (at + 1)) / times.length) - Math.floor((value * at) / times.length);
      const point = points.get(time) ?? emptyPoint(time);
      point.measured_s = Math.min(step, (point.measured_s ?? 0) + part(stretch.measuredMs) / 1000);
      point.cpu_s = rounded(point.cpu_s + part(stretch.cpuMs) / 1000);
      point.memory_bytes = Math.max(point.memory_bytes, stretch.memoryBytes);
      point.calls += part(stretch.calls);
      point.bytes_in = (point.bytes_in ?? 0) + part(stretch.bytesIn);
      point.bytes_out = (point.bytes_out ?? 0) + part(stretch.bytesOut);
      point.disk_bytes = stretch.diskBytes ?? point.disk_bytes;
      points.set(time, point);
    }
  }
  for (const point of points.values()) point.measured_s = rounded(point.measured_s ?? 0);
  return [...points.values()].sort((one, other) => one.time - other.time);
}

function stepsOf({ fromMs, toMs }: LoadStretch, step: number): number[] {
  const stepMs = step * 1000;
  const first = Math.floor(fromMs / stepMs - 0.5) + 1;
  const last = Math.floor(toMs / stepMs - 0.5);
  if (last <= first) return [Math.floor((fromMs + toMs) / 2 / stepMs) * step];
  return Array.from({ length: last - first + 1 }, (_, n) => (first + n) * step);
}

function emptyPoint(time: number): Point {
  return { time, measured_s: 0, cpu_s: 0, memory_bytes: 0, calls: 0, bytes_in: 0, bytes_out: 0, disk_bytes: null };
}

const rounded = (value: number) => Math.round(value * 1000) / 1000;

/** Gives each point the disk of its hour: of a tenant and of the server it is known by the hour. `hours` in order. */
export function withDisk(points: readonly Point[], hours: readonly { hour: number; bytes: number | null }[]): Point[] {
  let at = 0;
  let bytes: number | null = null;
  return points.map((point) => {
    for (let hour = hours[at]; hour !== undefined && hour.hour * HOUR <= point.time; hour = hours[at]) {
      bytes = hour.bytes;
      at += 1;
    }
    return { ...point, disk_bytes: bytes };
  });
}
