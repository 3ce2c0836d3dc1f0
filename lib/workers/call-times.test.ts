import { expect, test } from 'vitest';
import { cappedTimeout, componentLimits } from './call-limits.ts';
import { profileOf } from './protocol/policies.ts';

const [posix, minimal] = [profileOf('posix'), profileOf('minimal')];

test('a call has the time that it asks for, as far as its policy and the server allow, and a run as its own limit says', () => {
  expect(cappedTimeout({}, posix)).toBe(60_000);
  expect(cappedTimeout({ timeoutMs: 600_000, mostMs: 600_000 }, posix)).toBe(600_000);
  expect(cappedTimeout({ mostMs: 10_000 }, posix)).toBe(10_000);
  expect(cappedTimeout({}, minimal)).toBe(5000);
  expect(cappedTimeout({ timeoutMs: 600_000, mostMs: 600_000 }, minimal)).toBe(60_000);
  expect(cappedTimeout({ timeoutMs: 7_200_000, mostMs: 10_000, longestMs: 7_200_000 }, minimal)).toBe(7_200_000);
});

test('a call of components has what it asks for, and each step as much; without it each has that of the policy', () => {
  expect(componentLimits(undefined, 2, posix)).toEqual({ timeoutMs: 120_000, stepMs: 60_000 });
  expect(componentLimits(300_000, 1, posix)).toEqual({ timeoutMs: 300_000, stepMs: 300_000 });
  expect(componentLimits(1000, 3, posix)).toEqual({ timeoutMs: 1000, stepMs: 60_000 });
  expect(componentLimits(600_000, 1, minimal)).toEqual({ timeoutMs: 600_000, stepMs: 60_000 });
  expect(componentLimits(900_000, 1, { ...minimal, longestMs: 700_000 })).toEqual({
    timeoutMs: 900_000,
    stepMs: 700_000,
  });
});
