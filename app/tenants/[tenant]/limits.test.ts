import { expect, test } from 'vitest';
import { readLimits } from './limits.ts';

test('typed limits become numbers, empty ones null', () => {
  const { patch, errors } = readLimits({ max_sandboxes: '50', max_bytes: '500 MB', max_daily_cpu_s: '2 h' });
  expect(errors).toEqual({});
  expect(patch).toEqual({
    max_sandboxes: 50,
    max_active: null,
    max_bytes: 500_000_000,
    max_daily_cpu_s: 7200,
    max_run_s: null,
    max_call_s: null,
  });
});

test('an invalid amount is reported beside its field', () => {
  const { errors } = readLimits({ max_active: 'few', max_bytes: '1 MB', max_sandboxes: '-1' });
  expect(errors).toEqual({
    max_active: 'must be a whole number, like 5',
    max_sandboxes: 'must be a whole number, like 50',
  });
});
