import { expect, test } from 'vitest';
import { estimateOf, percentile, percentileOf, ratioOf, summarize } from './statistics.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

test('percentiles are nearest-rank, whatever the order of the samples', () => {
  const samples = upTo(100).toReversed();
  expect([0.5, 0.95, 0.99, 1].map((share) => percentile(samples, share))).toEqual([50, 95, 99, 100]);
  expect(percentile([7], 0.5)).toBe(7);
  expect(percentile([], 0.5)).toBeNaN();
});

test('a percentile that too few samples stand for is left out', () => {
  expect(summarize([upTo(19)])).toMatchObject({ samples: 19, p50: 10, p95: null, p99: null });
  expect(summarize([upTo(99)])).toMatchObject({ samples: 99, p95: 95, p99: null });
  expect(summarize([upTo(100)])).toMatchObject({ samples: 100, p95: 95, p99: 99 });
});

test('one slice has no spread, few have their least and greatest median, and many an interval around the median', () => {
  expect(summarize([upTo(50)])).toMatchObject({ low: null, high: null });
  expect(summarize([[1, 2, 3], [10], [5]])).toMatchObject({ slices: 3, low: 2, high: 10 });
  const { p50, low, high } = summarize(upTo(200).map((n) => [n]));
  expect(p50).toBe(100);
  expect(low).toBeGreaterThan(75);
  expect(low).toBeLessThan(100);
  expect(high).toBeGreaterThan(100);
  expect(high).toBeLessThan(125);
});

test('the same samples have the same interval each time', () => {
  const slices = upTo(40).map((n) => [n % 7, n % 11]);
  expect(summarize(slices)).toEqual(summarize(slices));
});

test('slices with few samples of a noisy turn do not shrink the interval', () => {
  // A hundred samples in five slices that differ say as little of the next slice as five samples would.
  const wide = summarize([1, 2, 3, 4, 5].map((level) => Array.from({ length: 20 }, () => level)));
  expect(wide).toMatchObject({ samples: 100, p50: 3 });
  expect(Number(wide.high) - Number(wide.low)).toBeGreaterThanOrEqual(2);
});

test('a ratio draws both contenders from the same turns, so that noise which hit both cancels out', () => {
  const noise = upTo(60).map((n) => 1 + (n % 10));
  const ratio = ratioOf(
    noise.map((n) => [2 * n]),
    noise.map((n) => [n]),
  );
  expect(ratio).toEqual({ measured: 2, low: 2, high: 2 });
  expect(ratioOf([upTo(100)], [upTo(10)], 0.99).measured).toBe(99 / 5);
  expect(() => ratioOf([[1]], [[1], [2]])).toThrow('1 slices over 2: not the same turns.');
});

test('rates of slices have a median with its spread, percentiles of samples too', () => {
  expect(estimateOf([10, 30, 20])).toEqual({ measured: 20, low: 10, high: 30 });
  expect(estimateOf([10])).toEqual({ measured: 10, low: null, high: null });
  expect(percentileOf([upTo(10), upTo(20)], 1)).toEqual({ measured: 20, low: 10, high: 20 });
});
