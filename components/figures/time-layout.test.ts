import { expect, test } from 'vitest';
import { bandsOf, barPath, partsOf, timeInStates } from './time-layout.ts';

const column = (n: number, states: { state: 'active' | 'suspended'; seconds: number }[]) => ({
  ...{ from: n * 10, to: n * 10 + 10, states, hops: 0, wakes: 0, faults: [], lines: 0, cut: false, estimated: false },
});
const life = (columns: ReturnType<typeof column>[]) => ({ from: 0, to: columns.length * 10, created: 0, columns });

test('a short life is a band for each stretch, in its place', () => {
  const stretches = [
    { state: 'active' as const, from: 0, to: 5 },
    { state: 'suspended' as const, from: 5, to: 20 },
  ];
  expect(bandsOf({ ...life([column(0, []), column(1, [])]), stretches, hops: [] })).toEqual([
    { state: 'active', x: 0, width: 250, y: 0, height: 1000 },
    { state: 'suspended', x: 250, width: 750, y: 0, height: 1000 },
  ]);
});

test('a long life is stacked columns, and neighbours in one state are one band', () => {
  const asleep = [{ state: 'suspended' as const, seconds: 10 }];
  const mixed = [
    { state: 'suspended' as const, seconds: 7.5 },
    { state: 'active' as const, seconds: 2.5 },
  ];
  const columns = [column(0, asleep), column(1, asleep), column(2, mixed), column(3, asleep)];
  const drawn = bandsOf({ ...life(columns), stretches: null, hops: null });
  expect(drawn.map(({ state, x, width, y, height }) => [state, x, width, y, height])).toEqual([
    ['suspended', 0, 500, 0, 1000],
    ['suspended', 500, 250, 0, 750],
    ['active', 500, 250, 750, 250],
    ['suspended', 750, 250, 0, 1000],
  ]);
  expect(timeInStates({ columns })).toEqual([
    { state: 'suspended', seconds: 37.5 },
    { state: 'active', seconds: 2.5 },
  ]);
});

test('bars are one path, nothing is drawn for zero, and little is a line', () => {
  const bars = [
    { time: 0, value: 10 },
    { time: 10, value: 0 },
    { time: 20, value: 0.001 },
  ];
  expect(barPath(bars, { from: 0, to: 40, step: 10, most: 10 })).toBe('M0 1000V0h225V1000zM500 1000V980h225V1000z');
});

test('a span is cut into whole seconds, and into no more parts than it has', () => {
  expect(partsOf({ from: 0, to: 10 }, 4).map(({ from, to }) => [from, to])).toEqual([
    [0, 3],
    [3, 5],
    [5, 8],
    [8, 10],
  ]);
  expect(partsOf({ from: 5, to: 7 }, 12)).toHaveLength(2);
});
