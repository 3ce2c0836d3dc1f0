import { expect, test } from 'vitest';
import { bitwise, fixed, general, requireExact } from './exact-integers.ts';

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

test('decimals are as C writes them: the middle to the even digit, and powers of ten from five digits on', () => {
  expect([2.25, 0.5, 2.5, -2.5, 0.125].map((value) => fixed(value, value === 2.25 ? 1 : 0))).toEqual([
    '2.2',
    '0',
    '2',
    '-2',
    '0',
  ]);
  expect([fixed(0.35, 1), fixed(1.005, 2), fixed(1e21, 1), fixed(Math.E, 3)]).toEqual([
    '0.3',
    '1.00',
    '1000000000000000000000.0',
    '2.718',
  ]);
  const shown = [1e-10, 1e10, 0.00001234, 123456789, 100, 0.0001].map((value) => general(value, 6, false));
  expect(shown).toEqual(['1e-10', '1e+10', '1.234e-05', '1.23457e+08', '100', '0.0001']);
  expect([general(1, 6, true), general(0, 6, false), general(2.5, 1, false)]).toEqual(['1.00000', '0', '2']);
});
