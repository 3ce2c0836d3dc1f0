import { expect, test } from 'vitest';
import { scalePosition } from './wake-plot.tsx';

test('a time is placed by its power of ten, and never outside the scale', () => {
  expect([0.1, 1, 10, 100, 1000, 10_000].map(scalePosition)).toEqual([0, 20, 40, 60, 80, 100]);
  expect(scalePosition(0)).toBe(0);
  expect(scalePosition(60_000)).toBe(100);
});
