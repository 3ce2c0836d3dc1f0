import { expect, test } from 'vitest';
import { HEIGHT, hoursInFigures, roundsBetween, type TradePoint, tradeInWords, tradeLayout } from './trade-layout.ts';

const point = (threshold: number, process_hours: number, cold_wakes: number, thaws = 0): TradePoint => ({
  threshold,
  would: { process_hours, cold_wakes, thaws },
  estimated: 0,
});
const DAY = 86_400;

test('more wakes are further right, more hours further up, and everything is inside the plot', () => {
  const { points, wakes, hours } = tradeLayout([point(60, 10, 90), point(900, 40, 30), point(3600, 160, 10)], [1]);
  const [short, middle, long] = points;
  expect([short, middle, long].map((place) => place?.x)).toEqual([92, expect.any(Number), 6]);
  expect(short?.y).toBeGreaterThan(middle?.y ?? 0);
  expect(middle?.y).toBeGreaterThan(long?.y ?? 0);
  for (const { at } of wakes) expect(at >= 0 && at <= 100).toBe(true);
  for (const { at } of hours) expect(at >= 0 && at <= HEIGHT).toBe(true);
  expect(points.every(({ label }) => label !== null)).toBe(true);
});

test('overlapping labels give way to the important ones', () => {
  const crowd = [60, 120, 300, 900].map((threshold) => point(threshold, 10, 5));
  expect(tradeLayout(crowd, [2]).points.map(({ label }) => label)).toEqual([null, null, -10, null]);
  expect(tradeLayout(crowd, [2, 0]).points.map(({ label }) => label)).toEqual([20, null, -10, null]);
});

test('equal points, or none, are drawn without invalid numbers', () => {
  for (const same of [point(60, 0, 0), point(60, 3, 7)]) {
    const { points, wakes, hours } = tradeLayout([same, same], []);
    for (const { x, y } of points) expect([Number.isFinite(x), Number.isFinite(y)]).toEqual([true, true]);
    expect([...wakes, ...hours].every(({ at }) => Number.isFinite(at))).toBe(true);
  }
});

test('round numbers are round', () => {
  expect(roundsBetween(3, 97)).toEqual([50]);
  expect(roundsBetween(0, 100)).toEqual([0, 50, 100]);
  expect(roundsBetween(0.12, 0.41)).toEqual([0.2, 0.3, 0.4]);
  expect(roundsBetween(0, 2, 1)).toEqual([0, 1, 2]);
});

test('a point describes what would have been fewer and what more', () => {
  const was = { process_hours: 40.26, cold_wakes: 12, thaws: 3 };
  expect(tradeInWords(point(600, 36.06, 13, 3), was, 7 * DAY)).toBe(
    'Suspending after 10 min in the last 7 days: 4.2 fewer process-hours, 1 more cold wake.',
  );
  expect(tradeInWords({ ...point(60, 12, 40, 5), estimated: 20 }, was, DAY)).toContain(
    '28 fewer process-hours, 28 more cold wakes (20 of the wakes are estimated',
  );
  expect(tradeInWords(point(900, 40.26, 12, 4), was, DAY)).toContain(
    'as many process-hours, as many cold wakes, 1 more thaw.',
  );
  expect([hoursInFigures(1234.5), hoursInFigures(2)]).toEqual(['1,235', '2.0']);
});
