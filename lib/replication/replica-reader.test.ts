import { expect, test } from 'vitest';
import { newSeries, type SegmentPlace } from './replica-names.ts';
import { chainTo } from './replica-reader.ts';

const series = newSeries(1, 1);
const place = (level: number, min: number, max = min): SegmentPlace => ({ id: 'a', series, level, min, max });
const spans = (chain: readonly SegmentPlace[] | null) => chain?.map(({ min, max }) => [min, max]) ?? null;

test('a state is made of its base and of what follows it without a hole', () => {
  const segments = [place(9, 1), place(0, 2), place(0, 3), place(0, 5)];
  expect(spans(chainTo(segments, 3))).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
  expect(chainTo(segments, 5)).toBeNull();
  expect(chainTo(segments.slice(1), 3)).toBeNull();
});

test('a later base and longer segments make a chain shorter, and none reaches beyond the state', () => {
  const segments = [
    place(9, 1),
    ...[2, 3, 4, 5, 6, 7, 8].map((at) => place(0, at)),
    place(1, 2, 4),
    place(1, 5, 7),
    place(9, 1, 6),
  ];
  expect(spans(chainTo(segments, 5))).toEqual([
    [1, 1],
    [2, 4],
    [5, 5],
  ]);
  expect(spans(chainTo(segments, 8))).toEqual([
    [1, 6],
    [7, 7],
    [8, 8],
  ]);
});
