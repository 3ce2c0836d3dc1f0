import { expect, test } from 'vitest';
import { isWinterdockError } from '../base/errors.ts';
import { RouteMatcher } from './route-matcher.ts';
import { filePathOf, parseTarget } from './target.ts';

function refusal(raw: string): string {
  try {
    return `accepted ${filePathOf(raw.split('/'))}`;
  } catch (error) {
    return isWinterdockError(error) ? error.code : String(error);
  }
}

test('a path is decoded once, segment by segment', () => {
  expect(filePathOf(['a', 'b%20c.txt'])).toBe('/a/b c.txt');
  expect(filePathOf(['%C3%A9t%C3%A9'])).toBe('/été');
  expect(filePathOf(['a%252e%252e'])).toBe('/a%2e%2e');
  expect(filePathOf(['...'])).toBe('/...');
  expect(filePathOf(['a%2Fb'])).toBe('/a/b');
});

test.each([
  ['dots', '..'],
  ['dots below a folder', 'a/../b'],
  ['encoded dots', '%2e%2e'],
  ['half-encoded dots', 'a/.%2E/b'],
  ['dots beside an encoded slash', 'a%2f..%2fb'],
  ['one dot', './a'],
  ['a NUL', 'a%00b'],
  ['a double slash', 'a//b'],
  ['an encoded double slash', 'a%2F%2Fb'],
  ['a trailing slash', 'a/'],
  ['nothing at all', ''],
  ['a broken escape', '%zz'],
  ['half an escape', 'a%2'],
  ['overlong UTF-8', '%c0%ae%c0%ae'],
  ['half a surrogate pair', '%ed%a0%80'],
  ['bytes that were not encoded', 'caf\u00e9'],
  ['5 000 characters', 'x'.repeat(5000)],
])('a path with %s is refused', (_what, raw) => {
  expect(refusal(raw)).toBe('validation');
});

test('a target is split without being decoded or normalised', () => {
  expect(parseTarget('/api/instances/a/../b//c?x=%2e&y')).toEqual({
    path: '/api/instances/a/../b//c',
    segments: ['api', 'instances', 'a', '..', 'b', '', 'c'],
    search: 'x=%2e&y',
  });
  expect(parseTarget('/a?x#y?z')).toEqual({ path: '/a', segments: ['a'], search: 'x' });
  expect(parseTarget('http://host:1/a?b').segments).toEqual(['a']);
  expect(parseTarget('http://host').path).toBe('/');
  expect(parseTarget('*').segments).toEqual([]);
});

test('the most specific pattern comes first, and a rest parameter takes the remaining path', () => {
  const matcher = new RouteMatcher<string>();
  matcher.add('POST', '/v/:volume/move', 'move');
  matcher.add('GET', '/v/:volume', 'list');
  matcher.add('GET', '/v/:volume/*', 'file');
  const names = (path: string) =>
    matcher.find(path.split('/').slice(1)).map(({ methods, parameters, rest }) => [[...methods], parameters, rest]);
  expect(names('/v/tmp')).toEqual([[[['GET', 'list']], ['tmp'], null]]);
  expect(names('/v/tmp/move')).toEqual([
    [[['POST', 'move']], ['tmp'], null],
    [[['GET', 'file']], ['tmp'], ['move']],
  ]);
  expect(names('/v/tmp/a//b')).toEqual([[[['GET', 'file']], ['tmp'], ['a', '', 'b']]]);
  expect(names('/v//a')).toEqual([]);
  expect(names('/w')).toEqual([]);
  expect(() => matcher.add('GET', '/v/:other', 'again')).toThrow('twice');
});
