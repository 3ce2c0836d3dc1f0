import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('every rule of SPEC.md has a test of its number, and every number is a rule', () => {
  const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
  const numbers = (text: string, pattern: RegExp) =>
    new Set([...text.matchAll(pattern)].map((match) => Number(match[1])));
  const tests = ['file/', 'fuse/'].flatMap((folder) =>
    readdirSync(new URL(folder, import.meta.url)).flatMap((name) => (name.endsWith('.test.ts') ? [folder + name] : [])),
  );
  const tested = numbers(tests.map(read).join('\n'), /^\s*(?:test\(|\]\)\(|test\.each\(.*\)\()?\s*['`](\d+)\. /gm);
  const rules = numbers(read('SPEC.md'), /^(\d+)\. /gm);
  expect(rules.size).toBe(26);
  expect([...rules].filter((rule) => !tested.has(rule))).toEqual([]);
  expect([...tested].filter((number) => !rules.has(number))).toEqual([]);
});
