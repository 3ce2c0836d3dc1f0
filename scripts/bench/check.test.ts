import { expect, test } from 'vitest';
import { BARS, type BarName, barOf } from './bars.ts';
import { failures } from './check.ts';
import { PART_NAMES } from './parts.ts';
import { figureOf, type Kept, keptPart, single } from './result.ts';

const where = { taken: 'monday', node: 'v24', cpu: '2 × some' };
const NAMES = Object.keys(BARS) as BarName[];

/** Parts whose figures are all exactly at their bars, but for those that are given. */
function taken(parts: string[], others: Partial<Record<BarName, number>> = {}): Kept {
  return Object.fromEntries(
    parts.map((part) => {
      const figures = NAMES.filter((bar) => bar.startsWith(`${part}: `)).map((bar) =>
        figureOf(`what ${bar} bounds`, single(others[bar] ?? barOf(bar).limit), { unit: '×', bar, excludes: 'No.' }),
      );
      return [part, keptPart({ series: [], figures }, where)];
    }),
  );
}

test('what is exactly at its bar passes', () => {
  expect(failures(taken(PART_NAMES))).toEqual([]);
});

test('a ratio above its bar and a rate below its own fail, each by name', () => {
  const found = failures(
    taken(['wakes', 'burst'], { 'wakes: large over small': 1.31, 'burst: sustained wakes': 16.9 }),
  );
  expect(found).toEqual([
    'what wakes: large over small bounds: 1.31 ×, at most 1.3 is recorded (wakes)',
    'what burst: sustained wakes bounds: 16.90 ×, at least 17 is recorded (burst)',
  ]);
});

test('a figure that is no number, and a bar without a figure, fail', () => {
  expect(failures(taken(['copies'], { 'copies: growth': Number.NaN }))).toHaveLength(1);
  expect(failures({ live: keptPart({ series: [], figures: [] }, where) })).toEqual([
    'live: share of a core: has a bar, and nothing was measured for it',
  ]);
  expect(failures({})).toEqual([]);
});

test('every bar belongs to a part, and no goal is easier than its limit', () => {
  for (const name of NAMES) {
    expect(PART_NAMES, name).toContain(name.split(': ')[0]);
    const { limit, goal = limit, better } = barOf(name);
    expect(better === 'more' ? goal >= limit : goal <= limit, name).toBe(true);
  }
});
