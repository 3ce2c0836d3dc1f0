import { expect, test } from 'vitest';
import { CHARTS, greatestOf, type LoadPoint, linePath, pointAt, spanBetween, valueInWords } from './load-layout.ts';

const pointOf = (time: number, more: Partial<LoadPoint> = {}): LoadPoint => ({
  ...{ time, measured_s: 10, cpu_s: 0, memory_bytes: 0, calls: 0, bytes_in: 0, bytes_out: 0, disk_bytes: null },
  ...more,
});
const chartOf = (name: string) => {
  const chart = CHARTS.find((one) => one.name === name);
  if (chart === undefined) throw new Error(`no chart of ${name}`);
  return chart;
};
const [calls] = chartOf('Calls and writes').lines;
const span = { from: 0, to: 100 };

test('a gap is a gap: nothing is drawn across it and it is not zero', () => {
  const points = [pointOf(0, { calls: 2 }), pointOf(10, { calls: 4 }), pointOf(50, { calls: 1 })];
  if (calls === undefined) throw new Error('no line');
  expect(linePath(points, calls, { span, step: 10, most: 4 })).toBe('M0 530H100V60H200M500 765H600');
  expect(linePath(points, calls, { span, step: 10, most: 4, area: true })).toBe(
    'M0 1000V530H100V60H200V1000zM500 1000V765H600V1000z',
  );
  expect(linePath([], calls, { span, step: 10, most: 0, area: true })).toBe('');
  expect(pointAt(points, 10, 19)?.calls).toBe(4);
  expect(pointAt(points, 10, 20)).toBeNull();
  expect(pointAt(points, 10, -1)).toBeNull();
});

test('zeros alone are a line at the base', () => {
  if (calls === undefined) throw new Error('no line');
  expect(linePath([pointOf(0)], calls, { span, step: 10, most: 0 })).toBe('M0 1000H100');
});

test('a processor is a share of what was measured, in hours of the whole hour', () => {
  const processor = chartOf('Processor');
  expect(valueInWords(processor, pointOf(0, { cpu_s: 2 }), 10)).toBe('20 % of a core');
  expect(valueInWords(processor, pointOf(0, { cpu_s: 0.5, measured_s: 5 }), 10)).toBe('10 % of a core');
  expect(valueInWords(processor, pointOf(0, { cpu_s: 36, measured_s: null }), 3600)).toBe('1 % of a core');
  // A moment that was measured is no spike.
  expect(greatestOf(processor, [pointOf(0, { cpu_s: 0.02, measured_s: 0.001 })], 10)).toBe(0.02);
});

test('what is not known has no words, and a chart of two lines has both', () => {
  expect(valueInWords(chartOf('Disk'), pointOf(0), 10)).toBeNull();
  expect(valueInWords(chartOf('Network'), pointOf(0, { bytes_in: 3000, bytes_out: 20 }), 10)).toBe(
    'in 3.0 kB · out 20 B',
  );
  expect(greatestOf(chartOf('Disk'), [pointOf(0)], 10)).toBeNull();
});

test.each([
  [10, 90, { from: 10, to: 90 }],
  [90, 10, { from: 10, to: 90 }],
  [50, 50, { from: 20, to: 80 }],
  [2, 3, { from: 0, to: 60 }],
  [99, 100, { from: 40, to: 100 }],
])('what is dragged from %i to %i is a time within the whole, of a minute at least', (one, other, expected) => {
  expect(spanBetween(one, other, 60, { from: 0, to: 100 })).toEqual(expected);
});
