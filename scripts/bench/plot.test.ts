import { expect, test } from 'vitest';
import { plotOf } from './plot.ts';
import { type Series, seriesOf } from './result.ts';

const around = (center: number) => Array.from({ length: 120 }, (_, n) => [center * (0.9 + n / 400)]);
const series = (what: string, center: number, floor: string | null = 'the floor'): Series =>
  seriesOf(what, around(center), { floor, excludes: 'Nothing else.' });

const SOME = [series('the floor', 1, null), series('a hot exec', 2), series('a <frozen> & "cold" one', 6)];

/** The x of what a pattern finds, in the order of the rows. */
const xs = (svg: string, pattern: RegExp) => [...svg.matchAll(pattern)].map(([, x]) => Number(x));

test('a longer time lies further right, with its tail right of its median, and the floor is marked', () => {
  const plot = plotOf('wakes', SOME);
  const svg = plot?.svg ?? '';
  const dots = xs(svg, /<circle class="[a-z-]+" cx="([\d.]+)"/g);
  expect(dots).toHaveLength(3);
  expect(dots).toEqual(dots.toSorted((a, b) => a - b));
  const tails = xs(svg, /class="tail"[^>]* x2="([\d.]+)"/g);
  for (const [row, x] of tails.entries()) expect(x).toBeGreaterThan(dots[row] ?? Number.NaN);
  expect(xs(svg, /class="floor" x1="([\d.]+)"/g)).toEqual([dots[0]]);
  expect(plot?.title).toBe('wakes: median and tail of 3 series in ms');
});

test('everything is within the picture, on an axis of round numbers', () => {
  const wide = [series('short', 0.012, null), series('long', 43_000, 'short')];
  for (const each of [SOME, wide, [series('alone', 1, null)]]) {
    const svg = plotOf('any', each)?.svg ?? '';
    const width = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]);
    for (const x of xs(svg, / (?:x1|x2|cx|x)="([-\d.]+)"/g)) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x).toBeLessThanOrEqual(width);
    }
    const ticks = [...svg.matchAll(/text-anchor="middle">([^<]+)</g)].map(([, tick]) => Number(tick));
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(12);
    for (const tick of ticks) expect(String(tick)).toMatch(/^(?:0\.0*)?[1235]0*$/);
  }
});

test('names are text and never markup, and both themes have their colours', () => {
  const svg = plotOf('wakes', SOME)?.svg ?? '';
  expect(svg).toContain('a &lt;frozen> &amp; &quot;cold&quot; one');
  expect(svg).not.toContain('<frozen>');
  expect(svg).toContain('prefers-color-scheme: dark');
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  expect(svg).toContain('<title>wakes');
});

test('without series there is no picture, and another unit has no place on the axis', () => {
  expect(plotOf('live', [])).toBeNull();
  const other = seriesOf('memory', around(20), { unit: 'MB', excludes: 'Nothing else.' });
  expect(plotOf('wakes', [...SOME, other])?.svg).not.toContain('memory');
});
