import { expect, test } from 'vitest';
import { binary, bounded, fixed, general, integer, unary, unsigned, wideLiteral } from './exact-integers.ts';

test('integers have 64 bits and go round, and those up to 2^53 are numbers', () => {
  const most = 2n ** 63n - 1n;
  expect(binary(1, 40, '<<', Error)).toBe(2 ** 40);
  expect(binary(-5, 1, '>>', Error)).toBe(-3);
  expect(binary(1, 64, '<<', Error)).toBe(1);
  expect(binary(-1, 255, '&', Error)).toBe(255);
  expect(binary(2, 63, '**', Error)).toBe(-(2n ** 63n));
  expect(binary(2, 64, '**', Error)).toBe(0);
  expect(binary(most, 1, '+', Error)).toBe(-(2n ** 63n));
  expect(binary(most, most, '-', Error)).toBe(0);
  expect(binary(3037000500, 3037000500, '*', Error)).toBe(-9223372036709301616n);
  expect([binary(most, most, '==', Error), binary(most, 1, '<', Error), binary(most, 10, '%', Error)]).toEqual([
    1, 0, 7,
  ]);
  expect(Object.is(binary(-1, 2, '/', Error), 0)).toBe(true);
  expect(() => binary(most, 0, '%', RangeError)).toThrow('division by 0');
  expect([unary(2n ** 62n, '~'), unary(0, '~'), unary(-(2n ** 63n), '-'), unary(most, '!')]).toEqual([
    -(2n ** 62n) - 1n,
    -1,
    -(2n ** 63n),
    0,
  ]);
});

test('a literal is a BigInt where a number could not hold it, and printf takes the nearest', () => {
  expect([wideLiteral('9223372036854775807'), wideLiteral('0xffffffffffffffff'), wideLiteral('123456789')]).toEqual([
    2n ** 63n - 1n,
    -1,
    undefined,
  ]);
  expect([wideLiteral('64#@@@@@@@@@@'), wideLiteral('2#222222222222'), wideLiteral('0899999999999999999')]).toEqual([
    1134621163263881150n,
    undefined,
    undefined,
  ]);
  expect([integer(' -9223372036854775808 '), integer('12x'), integer('x')]).toEqual([-(2n ** 63n), 12, 0]);
  expect([bounded('9223372036854775808'), bounded('-7'), unsigned('', -1)]).toEqual([
    2n ** 63n - 1n,
    -7,
    2n ** 64n - 1n,
  ]);
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
