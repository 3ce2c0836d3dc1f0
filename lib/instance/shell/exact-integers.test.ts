import { expect, test } from 'vitest';
import { bitwise, requireExact } from './exact-integers.ts';

test('shifts and masks have 64 bits, and other operators are left to the shell', () => {
  expect(bitwise(1, 40, '<<')).toBe(2 ** 40);
  expect(bitwise(-5, 1, '>>')).toBe(-3);
  expect(bitwise(1, 64, '<<')).toBe(1);
  expect(bitwise(-1, 255, '&')).toBe(255);
  expect(bitwise(1, 2, '+')).toBeUndefined();
  expect(bitwise(Number.NaN, 2, '&')).toBeUndefined();
});

test('a result that a number cannot hold exactly is an error', () => {
  expect(requireExact(Number.MAX_SAFE_INTEGER, Error)).toBe(Number.MAX_SAFE_INTEGER);
  for (const value of [2 ** 53, -(2 ** 53), Number.POSITIVE_INFINITY]) {
    expect(() => requireExact(value, RangeError)).toThrow('up to which numbers are exact');
  }
});
