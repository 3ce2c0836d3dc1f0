import { expect, test } from 'vitest';
import { recoveryInWords } from './recovery-words.ts';

const words = (replicate: string, at: number | null, behind: number | null, as: 'live' | 'filed' | 'none') =>
  recoveryInWords({ replicate, recovery_point: { at, behind_s: behind, as } }, 10_000, (seconds) => `${seconds} s`);

test('a recovery point is said in words', () => {
  expect(words('1s', 9999, 0.84, 'live')).toBe('0.8 s behind');
  expect(words('1s', 9000, 900, 'live')).toBe('900 s behind');
  expect(words('1s', 9999, 0, 'live')).toBe('up to date');
  expect(words('1s', null, 3, 'live')).toBe('its first copy is on its way');
  expect(words('1s', 9000, null, 'live')).toBe('as it was 1000 s ago at least');
  expect(words('filed', 9000, 0, 'filed')).toBe('as filed 1000 s ago');
  expect(words('off', 9000, null, 'filed')).toBe('as it was 1000 s ago, not as it is');
  expect(words('off', null, null, 'none')).toBe('not replicated');
  expect(words('filed', null, null, 'none')).toBe('not replicated yet');
});
