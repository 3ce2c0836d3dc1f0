import { expect, test } from 'vitest';
import { thresholdInWords } from '#components/ui/durations.ts';
import { bytesOf, exactSize, secondsOf } from './amounts.ts';

test('lengths of time are read as people type them, and as the console writes them', () => {
  expect([secondsOf('90'), secondsOf('15 min'), secondsOf('24h'), secondsOf('2 d')]).toEqual([
    90, 900, 86_400, 172_800,
  ]);
  for (const seconds of [1, 90, 900, 901, 86_400, 172_800]) expect(secondsOf(thresholdInWords(seconds))).toBe(seconds);
  for (const text of ['', 'soon', '-1', '5 weeks', '1e3']) expect(secondsOf(text), text).toBeNull();
});

test('sizes are read in decimal units and written so that they read back', () => {
  expect([bytesOf('4096'), bytesOf('50 MB'), bytesOf('1.5gb')]).toEqual([4096, 50_000_000, 1_500_000_000]);
  for (const bytes of [0, 1, 4096, 1_234_567, 50_000_000, 1_500_000_000]) expect(bytesOf(exactSize(bytes))).toBe(bytes);
  expect(exactSize(50_000_000)).toBe('50 MB');
  for (const text of ['', 'much', '5 MiB', '99999999999999 TB']) expect(bytesOf(text), text).toBeNull();
});
