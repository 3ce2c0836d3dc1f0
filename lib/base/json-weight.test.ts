import { expect, test } from 'vitest';
import { isDeepValue, isHeavyJson, JsonWeight, parseLightJson } from './json-weight.ts';

const heavy = (text: string) => isHeavyJson(Buffer.from(text), 250_000);

test('a text that would become far larger than it is long is heavy, whether it is JSON or not', () => {
  expect(heavy('['.repeat(1001))).toBe(true);
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

test('a text weighs the same in one piece and in any pieces', () => {
  const texts = [
    '{"a":"[\\\\",\\"{,","b":[1,2,{"c":"\\\\\\""}]}',
    JSON.stringify({ text: '\\"'.repeat(600), after: '['.repeat(600), list: [1, 2, 3] }),
    JSON.stringify(Array.from({ length: 40 }, (_, at) => ({ [`k${at}`]: '"\\ä[,' }))),
    `["${'\\\\'.repeat(700)}",${'['.repeat(501)}`,
  ].map((text) => Buffer.from(text));
  for (const text of texts) {
    for (const most of [0, 1, 5, 6, 60, 119, 120, 1000]) {
      for (const length of [1, 2, 3, 7, 64]) {
        const weight = new JsonWeight(text.length, most);
        let isHeavy = false;
        for (let at = 0; at < text.length; at += length)
          isHeavy = weight.isHeavyWith(text, at, Math.min(text.length, at + length)) || isHeavy;
        expect([String(text), most, length, isHeavy]).toEqual([String(text), most, length, isHeavyJson(text, most)]);
      }
    }
  }
});

test('a text from elsewhere is parsed unless it is heavy or no JSON', () => {
  expect(parseLightJson('{"a":["\\u00e4",1]}')).toEqual({ a: ['ä', 1] });
  expect(parseLightJson(Buffer.from('"𝄞"'))).toBe('𝄞');
  expect(() => parseLightJson(`[${'0,'.repeat(50_001)}0]`)).toThrow(RangeError);
  expect(() => parseLightJson(`${'['.repeat(501)}${']'.repeat(501)}`)).toThrow(RangeError);
  expect(() => parseLightJson('{')).toThrow(SyntaxError);
});

test('a value that nests too deeply is told from one that does not, whatever it is', () => {
  const nested = (depth: number) => JSON.parse(`${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`) as unknown;
  expect(isDeepValue(nested(500))).toBe(false);
  expect(isDeepValue(nested(502))).toBe(true);
  expect(isDeepValue(nested(100_000))).toBe(true);
  expect([1, 'a', null, undefined, new Uint8Array(9), {}, [[]]].some((value) => isDeepValue(value))).toBe(false);
});
