import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { scalePosition, WakePlot } from './wake-plot.tsx';

test('a time is placed by its power of ten, and never outside the scale', () => {
  expect([0.1, 1, 10, 100, 1000, 10_000].map(scalePosition)).toEqual([0, 20, 40, 60, 80, 100]);
  expect(scalePosition(0)).toBe(0);
  expect(scalePosition(60_000)).toBe(100);
});

test('after few wakes, p50 and p99 are one dot', () => {
  const time = { path: 'cold', source: 'local', count: 1, p50_ms: 12 } as const;
  const drawn = (p99_ms: number) =>
    renderToStaticMarkup(createElement(WakePlot, { times: [{ ...time, p99_ms } as never] }));
  expect(drawn(12)).toContain('<circle');
  expect(drawn(12)).not.toMatch(/class="(?:end|span)"/);
  expect(drawn(40)).toMatch(/class="end"/);
});
