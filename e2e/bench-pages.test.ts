import { expect, test } from 'vitest';
import { measurePages } from '../scripts/bench/pages.ts';

test('the bench measures every page beside the floor, small as it gets', async () => {
  const { series, figures } = await measurePages(1500, 1);
  const [floor] = series;
  expect(floor?.floor).toBeNull();
  const pages = series.filter(({ what }) => what.includes(' as a page, '));
  const typed = series.filter(({ what }) => what.startsWith('a typed filter '));
  expect(typed).toHaveLength(2);
  expect(series).toHaveLength(1 + pages.length + typed.length);
  expect(pages).toHaveLength(2 * figures.filter(({ what }) => what.includes(' as a page: ')).length);
  expect(pages.length).toBeGreaterThan(10);
  for (const { what, p50, floor: below } of pages) {
    expect(p50, what).toBeGreaterThan(0);
    expect(below).toBe(floor?.what);
  }
  for (const { what, measured } of figures) expect(measured, what).toBeGreaterThan(0);
});
