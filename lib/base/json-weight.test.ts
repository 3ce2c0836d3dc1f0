import { expect, test } from 'vitest';
import { isHeavyJson } from './json-weight.ts';

const heavy = (text: string) => isHeavyJson(Buffer.from(text), 250_000);

test('a text that would become far larger than it is long is heavy, whether it is JSON or not', () => {
  expect(heavy('['.repeat(501))).toBe(true);
  expect(heavy(`${'{"a":'.repeat(501)}1${'}'.repeat(501)}`)).toBe(true);
  expect(heavy(`[${'{},'.repeat(125_001)}0]`)).toBe(true);
  expect(heavy(`[${'0,'.repeat(250_001)}0]`)).toBe(true);
  expect(heavy(`${'[],'.repeat(125_001)}`)).toBe(true);
});

test('a text that is large for its strings, or has an ordinary number of values, is not', () => {
  expect(heavy('')).toBe(false);
  expect(heavy(JSON.stringify({ stdin: '[{,"\\'.repeat(500_000) }))).toBe(false);
  expect(heavy(JSON.stringify({ text: '\\', after: '['.repeat(600) }))).toBe(false);
  expect(heavy(JSON.stringify(Array.from({ length: 100_000 }, (_, id) => `sb-${id}`)))).toBe(false);
  expect(heavy(`${'['.repeat(500)}${']'.repeat(500)}`)).toBe(false);
  expect(heavy('"never ended \\')).toBe(false);
});
