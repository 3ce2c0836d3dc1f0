import { expect, test } from 'vitest';
import type { LoadStretch } from '../health/load/load-sampler.ts';
import { finestStep, loadPoints, madeOf, withDisk } from './load-series.ts';
import { stepsOver } from './usage-series.ts';

const NOW = 1_765_500_000;
const HOUR = 3600;
const stretch = (from: number, to: number, more: Partial<LoadStretch> = {}): LoadStretch => ({
  ...{ fromMs: from * 1000, toMs: to * 1000, measuredMs: Math.round((to - from) * 1000) },
  ...{ cpuMs: 0, memoryBytes: 0, calls: 0, bytesIn: 0, bytesOut: 0, diskBytes: null },
  ...more,
});

test('the step is the finest in which a time is known and has no more points than an answer', () => {
  expect(finestStep(NOW - HOUR, NOW, NOW)).toBe(10);
  expect(finestStep(NOW - 300, NOW, NOW)).toBe(10);
  expect(finestStep(NOW - 6 * HOUR, NOW, NOW)).toBe(60);
  expect(finestStep(NOW - 24 * HOUR, NOW, NOW)).toBe(240);
  expect(finestStep(NOW - 2 * 86_400, NOW, NOW)).toBe(HOUR);
  for (const from of [0, NOW - 400 * HOUR, NOW - 9e8])
    for (const to of [from, NOW, NOW + 1000, 253_402_300_799]) {
      const step = finestStep(from, to, NOW);
      expect(Math.floor(to / step) - Math.floor(from / step) + 1).toBeLessThanOrEqual(400);
      expect(madeOf(step) === 'hours' ? step % HOUR : 0).toBe(0);
    }
});

test('samples that are late by a little have a step each; nothing is drawn between those that are apart', () => {
  const stretches = [0, 1, 2, 3, 6].map((n) => stretch(n * 10 + 0.4, n * 10 + 10.4, { cpuMs: n + 1 }));
  const points = loadPoints(stretches, stepsOver(0, 99, 10));
  expect(points.map(({ time, cpu_s, measured_s }) => [time, cpu_s, measured_s])).toEqual(
    [0, 1, 2, 3, 6].map((n) => [n * 10, (n + 1) / 1000, 10]),
  );
});

test('a sample of a server that was held up is spread over its time, whole', () => {
  const [long] = [stretch(0, 35, { cpuMs: 7001, calls: 5, bytesIn: 11, memoryBytes: 9 })];
  const points = loadPoints([long], stepsOver(0, 99, 10));
  expect(points.map(({ time }) => time)).toEqual([0, 10, 20, 30].slice(0, points.length));
  expect(points.length).toBeGreaterThanOrEqual(3);
  expect(points.reduce((sum, { calls }) => sum + calls, 0)).toBe(5);
  expect(points.reduce((sum, { bytes_in }) => sum + (bytes_in ?? 0), 0)).toBe(11);
  expect(points.reduce((sum, { cpu_s }) => sum + cpu_s, 0)).toBeCloseTo(7.001, 6);
  for (const { measured_s, memory_bytes } of points) {
    expect(measured_s).toBeLessThanOrEqual(10);
    expect(memory_bytes).toBe(9);
  }
});

test('stretches of one step are its sum, with the most memory and the last disk', () => {
  const points = loadPoints(
    [
      stretch(0, 10, { cpuMs: 100, calls: 1, memoryBytes: 5, diskBytes: 7 }),
      stretch(10, 20, { cpuMs: 50, calls: 2, memoryBytes: 3, diskBytes: null }),
      stretch(70, 80, { cpuMs: 1 }),
    ],
    stepsOver(0, 119, 60),
  );
  expect(points).toMatchObject([
    { time: 0, cpu_s: 0.15, calls: 3, memory_bytes: 5, disk_bytes: 7, measured_s: 20 },
    { time: 60, cpu_s: 0.001, measured_s: 10, disk_bytes: null },
  ]);
});

test('a tenant’s disk is that of the last hour that knows it', () => {
  const points = loadPoints(
    [10, HOUR + 10, 3 * HOUR].map((at) => stretch(at, at + 10)),
    stepsOver(0, 4 * HOUR, HOUR),
  );
  const disks = withDisk(points, [
    { hour: 1, bytes: 5 },
    { hour: 2, bytes: 6 },
  ]).map(({ disk_bytes }) => disk_bytes);
  expect(disks).toEqual([null, 5, 6]);
});
