import { expect, test } from 'vitest';
import { readLimits } from './limits.ts';

test('typed limits ask for numbers, empty ones for none', () => {
  const { patch, errors } = readLimits({ max_sandboxes: '50', max_bytes: '500 MB', idle_to_suspend_s: '15 min' });
  expect(errors).toEqual({});
  expect(patch).toEqual({
    max_sandboxes: 50,
    max_active: null,
    max_bytes: 500_000_000,
    idle_to_suspend_s: 900,
    idle_to_freeze_s: null,
  });
});

test('what is no amount is said beside its field', () => {
  const { errors } = readLimits({ max_active: 'few', max_bytes: '1 MB', idle_to_freeze_s: 'never' });
  expect(errors).toEqual({
    max_active: 'must be a whole number, like 5',
    idle_to_freeze_s: 'must be a length of time, like 24 h',
  });
});
