import { expect, test } from 'vitest';
import { revivalInWords } from './revival-words.ts';

const volume = (name: string, files: number, bytes: number) => ({
  volume: name,
  files,
  bytes,
  survives: name !== 'tmp',
});

test('a revival says what comes back, what does not, and how long it takes', () => {
  const volumes = [volume('workspace', 6, 1_200_000), volume('memory', 1, 31), volume('tmp', 3, 2000)];
  expect(revivalInWords({ volumes, tookMs: [29.6, 31, 900, 28, 30.2, 12] }).join(' ')).toBe(
    'Comes back: workspace 6 files (1.2 MB), memory 1 file (31 B). Does not: tmp 3 files (2.0 kB). About 30 ms, as the last six took.',
  );
  expect(revivalInWords({ volumes: [volume('workspace', 0, 0)], tookMs: [44] })).toEqual([
    'Comes back: nothing, its file is empty.',
    'About 44 ms, as the last one took.',
  ]);
});

test('who may not see how much there is, and has seen no revival, is told nothing', () => {
  expect(revivalInWords({ volumes: null, tookMs: [] })).toEqual([]);
});
