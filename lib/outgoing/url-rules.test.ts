import { describe, expect, test } from 'vitest';
import { allowedByBoth } from './network-limits.ts';
import { covers, normalRuleUrl, parseOutgoingUrl, rulesFor, type UrlRule } from './url-rules.ts';

const target = (text: string): URL => {
  const parsed = parseOutgoingUrl(text);
  if ('wrong' in parsed) throw new Error(parsed.wrong);
  return parsed.url;
};
const isCovered = (rule: string, text: string) => {
  const normal = normalRuleUrl(rule);
  if ('wrong' in normal) throw new Error(normal.wrong);
  const parsed = parseOutgoingUrl(text);
  return 'url' in parsed && covers(normal.url, parsed.url);
};

describe('an entry with a path covers', () => {
  test.each([
    'https://api.example.com/v1/',
    'https://api.example.com/v1/users',
    'https://API.Example.com:443/v1/users?x=1#y',
    'https://api.example.com/v1/a/../b',
    'https://api.example.com/v1/caf%C3%A9',
    'https://api.example.com/v1/a%20b;v=1',
    'https://api.example.com/v1/100%25',
    'https://api.example.com/v1/caf%E9',
    'https://api.example.com/v1/%E2%82%AC/%F0%9F%98%80',
  ])('%s', (text) => expect(isCovered('https://api.example.com/v1/', text)).toBe(true));
});

describe('an entry with a path does not cover', () => {
  test.each([
    ['another scheme', 'http://api.example.com/v1/users'],
    ['another port', 'https://api.example.com:8443/v1/users'],
    ['a host below it', 'https://x.api.example.com/v1/'],
    ['a host that begins like it', 'https://api.example.com.evil.test/v1/'],
    ['a user that looks like it', 'https://api.example.com@evil.test/v1/'],
    ['an empty user', 'https://@api.example.com/v1/'],
    ['a dot at the end of the host', 'https://api.example.com./v1/'],
    ['a path that begins like it', 'https://api.example.com/v10/'],
    ['the path without its slash', 'https://api.example.com/v1'],
    ['dot segments', 'https://api.example.com/v1/../admin'],
    ['encoded dot segments', 'https://api.example.com/v1/%2e%2e/admin'],
    ['half encoded dot segments', 'https://api.example.com/v1/.%2E/admin'],
    ['encoded dots and slash', 'https://api.example.com/v1/..%2fadmin'],
    ['an encoded slash', 'https://api.example.com/v1/%2fadmin'],
    ['twice encoded dots', 'https://api.example.com/v1/%252e%252e/admin'],
    ['twice encoded slash', 'https://api.example.com/v1/..%252fadmin'],
    ['four times encoded dots', 'https://api.example.com/v1/%2525252e%2525252e/admin'],
    ['an encoded backslash', 'https://api.example.com/v1/..%5cadmin'],
    ['a backslash', 'https://api.example.com\\v1\\users'],
    ['dots with a parameter', 'https://api.example.com/v1/..;/admin'],
    ['encoded dots with a parameter', 'https://api.example.com/v1/%2e%2e;x=1/admin'],
    ['a NUL', 'https://api.example.com/v1/a%00b'],
    ['an encoded line break', 'https://api.example.com/v1/a%0d%0ab'],
    ['a tab in the scheme', 'ht\ttps://api.example.com/v1/'],
    ['a line break', 'https://api.example.com/v1/\r\nHost: evil.test'],
    ['bytes that hide an escape', 'https://api.example.com/v1/%ff%252e%252e%252fadmin'],
    ['bytes that hide dots with a parameter', 'https://api.example.com/v1/..%3b/%ff'],
    ['dots in more bytes than they have', 'https://api.example.com/v1/%c0%ae%c0%ae/admin'],
    ['a slash in more bytes than it has', 'https://api.example.com/v1/..%e0%80%afadmin'],
    ['escapes of another kind', 'https://api.example.com/v1/%u002e%u002e/admin'],
    ['letters that only look like it', 'https://аpi.example.com/v1/'],
    ['no host', 'https:///v1/'],
  ])('%s', (_what, text) => expect(isCovered('https://api.example.com/v1/', text)).toBe(false));
});

test('an entry without a last slash covers its path and what is below it, by whole segments', () => {
  const rule = 'https://api.example.com/v1';
  expect(
    ['/v1', '/v1/', '/v1/x', '/v1?x', '/v10', '/v', '/'].map((p) => isCovered(rule, `https://api.example.com${p}`)),
  ).toEqual([true, true, true, true, false, false, false]);
});

test('an entry of a whole host covers every path of it, and the wildcard every host', () => {
  expect(isCovered('https://api.example.com', 'https://api.example.com/a%2fb/%252e')).toBe(true);
  expect(isCovered('https://api.example.com', 'https://api.example.org/')).toBe(false);
  expect(isCovered('*', 'http://anything.test:81/x')).toBe(true);
});

test('the wildcard covers no port at which mail, a shell or a chat is spoken, and an entry that names one does', () => {
  const urls = [22, 25, 110, 587, 6667].map((port) => `http://mail.test:${port}/`);
  expect(urls.map((url) => [isCovered('*', url), isCovered(url, url)])).toEqual(urls.map(() => [false, true]));
  const rule = (url: string): UrlRule => ({ url, methods: ['GET'], private: false });
  expect(allowedByBoth([rule('*')], [rule('http://mail.test:25/'), rule('http://mail.test:81/')])).toEqual([
    rule('http://mail.test:81/'),
  ]);
});

test.each([
  ['https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
  ['HTTPS://API.example.com:443/V1/', 'https://api.example.com/V1/'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
  ['http://2130706433:8080/x', 'http://127.0.0.1:8080/x'],
  ['https://[0:0::1]/', 'https://[::1]/'],
  ['https://api.example.com/a/../b/', 'https://api.example.com/b/'],
  ['*', '*'],
])('the entry %s is kept as %s', (text, url) => expect(normalRuleUrl(text)).toEqual({ url }));

test.each([
  'api.example.com',
  'ftp://api.example.com/',
  'https://*.example.com/',
  'https://api.example.com/*',
  'https://api.example.com/?x=1',
  'https://api.example.com/#x',
  'https://user:pass@api.example.com/',
  'https://api.example.com./',
  'https://api.example.com/a%2fb/',
  'https://a b/',
  ' https://api.example.com/',
  '',
])('%j is no entry', (text) => expect(normalRuleUrl(text)).toEqual({ wrong: expect.any(String) }));

test('methods are compared exactly', () => {
  const rules: UrlRule[] = [{ url: 'https://a.test/', methods: ['GET'], private: false }];
  const found = (method: string) => rulesFor(rules, target('https://a.test/x'), method).length;
  expect(['GET', 'POST', 'get', 'HEAD', 'GET ', ''].map(found)).toEqual([1, 0, 0, 0, 0, 0]);
});
