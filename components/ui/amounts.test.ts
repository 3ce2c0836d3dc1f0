import { expect, test } from 'vitest';
import { thresholdInWords } from '#components/ui/durations.ts';
import { exactSize, parseDuration, parseSize } from './amounts.ts';

test('lengths of time are parsed as people type them and as the console formats them', () => {
  expect([parseDuration('90'), parseDuration('15 min'), parseDuration('24h'), parseDuration('2 d')]).toEqual([
    90, 900, 86_400, 172_800,
  ]);
  for (const seconds of [1, 90, 900, 901, 86_400, 172_800])
    expect(parseDuration(thresholdInWords(seconds))).toBe(seconds);
  for (const text of ['', 'soon', '-1', '5 weeks', '1e3']) expect(parseDuration(text), text).toBeNull();
});

test('sizes are parsed in decimal units and formatted so that they parse back', () => {
  expect([parseSize('4096'), parseSize('50 MB'), parseSize('1.5gb')]).toEqual([4096, 50_000_000, 1_500_000_000]);
  for (const bytes of [0, 1, 4096, 1_234_567, 50_000_000, 1_500_000_000])
    expect(parseSize(exactSize(bytes))).toBe(bytes);
  expect(exactSize(50_000_000)).toBe('50 MB');
  for (const text of ['', 'much', '5 MiB', '99999999999999 TB']) expect(parseSize(text), text).toBeNull();
});
