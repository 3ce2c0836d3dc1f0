import { expect, test } from 'vitest';
import { targetProblem } from './request-target.ts';

test.each([
  ['dots', ['/..', '/.', '/a/../b', '/a/./b', '/a/..', '/../', '/_next/../api/me']],
  ['encoded dots', ['/%2e', '/%2E%2e/b', '/a/.%2e/b', '/a/%2e./b', '/_next/%2e%2e/api/me']],
  ['an encoded slash', ['/a%2fb', '/..%2fb', '/%2F']],
  ['a backslash', ['/a\\b', '/\\..\\b', '/a%5cb', '/%5C']],
  ['a broken escape', ['/%', '/a%2', '/%zz', '/%ff', '/%c0%ae', '/%ed%a0%80']],
  ['control characters', ['/%00', '/a%0d%0ab', '/%7f', '/a\0']],
  ['raw characters beyond ASCII', ['/é', '/a b', '/\xff']],
  ['no slash at its beginning', ['', '*', 'a', '?a', '#', 'example:80']],
])('a target with %s is refused, with a sentence', (_what, targets) => {
  for (const target of targets) expect([target, targetProblem(target)]).toEqual([target, expect.stringMatching(/\.$/)]);
});

test('what browsers ask for is let through: whatever a query or fragment holds, names of files, encoded names', () => {
  for (const target of [
    '/',
    '/sandboxes/box',
    '/sandboxes/box?path=/a/../b&x=%2e%2e%2f%5c',
    '/sandboxes/box?%ff=%',
    '/x#/../y',
    '/..a/b..c/...',
    '/_next/static/chunks/%5Broot-of-the-server%5D__0-a~b._.js?dpl=1',
    '/caf%C3%A9',
    '//api/me',
    '/a//b/',
  ]) {
    expect([target, targetProblem(target)]).toEqual([target, null]);
  }
});
