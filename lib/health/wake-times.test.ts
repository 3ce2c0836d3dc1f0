import { expect, test } from 'vitest';
import type { WakeBucket, WakeTimeStore } from '../registry/wake-times.ts';
import { WakeTimeBook } from './wake-times.ts';

/** A book over a store that keeps what it is given. */
function book(): WakeTimeBook {
  const kept: WakeBucket[] = [];
  const store: WakeTimeStore = {
    add: async (buckets) => void kept.push(...buckets),
    since: async () => kept,
    deleteBefore: async () => {},
  };
  const clock = { now: () => Date.UTC(2026, 10, 24) };
  return new WakeTimeBook({ kept: store, clock, bounds: [10, 100, 1000], keepDays: 30, failed: () => {} });
}

test('of a single wake, p50 and p99 are what it took', async () => {
  const wakes = book();
  wakes.observe('cold', 'local', 34);
  expect(await wakes.summary(1)).toMatchObject([{ count: 1, meanMs: 34, p50Ms: 34, p99Ms: 34 }]);
  await wakes.stop();
});

test('among several, a time that is alone in its bucket is exact, and the others are interpolated', async () => {
  const wakes = book();
  for (const ms of [4, 6, 6, 900]) wakes.observe('cold', 'local', ms);
  const [summary] = await wakes.summary(1);
  expect(summary?.p50Ms).toBeCloseTo(6.67, 2);
  expect(summary?.p99Ms).toBe(900);
  expect(summary?.buckets).toEqual([
    { leMs: 10, count: 3 },
    { leMs: 100, count: 0 },
    { leMs: 1000, count: 1 },
    { leMs: null, count: 0 },
  ]);
  await wakes.stop();
});
