import { expect, test } from 'vitest';
import { cpuMs } from '../../testing/cpu-time.ts';
import { globMatcher } from './glob.ts';

test.each([
  ['*.py', ['a.py', '.py'], ['a/b.py', 'a.pyc', 'a.p']],
  ['**/*.py', ['a.py', 'a/b.py', 'a/b/c.py'], ['a.pyx', 'a/b.txt']],
  ['src/**', ['src/a', 'src/a/b'], ['src', 'xsrc/a']],
  ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['az', 'a/bz', 'ab/z']],
  ['?.[a-c]', ['x.b', 'é.a'], ['x.d', '/.a', 'xy.a']],
  ['[!a]b', ['xb'], ['ab']],
  ['*.{js,t{s,sx}}', ['a.js', 'a.ts', 'a.tsx'], ['a.t', 'a.jsx']],
  ['(a+b).$x', ['(a+b).$x'], ['aab.$x']],
  ['[open', ['[open'], ['o']],
  ['{open', ['{open'], ['open']],
  ['**', ['', 'a', 'a/b'], []],
])('the pattern %s means what agents mean by it', (pattern, fitting, others) => {
  const matches = globMatcher(pattern);
  expect(fitting.filter((path) => !matches(path))).toEqual([]);
  expect(others.filter((path) => matches(path))).toEqual([]);
});

test('no pattern takes long, however many ways there are to fit it', () => {
  const path = `${'a'.repeat(1000)}b`;
  const begun = cpuMs();
  expect(globMatcher('*a'.repeat(60))(path)).toBe(false);
  expect(globMatcher('**/'.repeat(60))(`${'a/'.repeat(500)}b`)).toBe(false);
  expect(globMatcher('{a,b}'.repeat(30))(path)).toBe(false);
  // A backtracking one takes centuries.
  expect(cpuMs() - begun).toBeLessThan(20_000);
});
