import { expect, test } from 'vitest';
import { browserInWords, rightsInWords, tenantsOf } from './account-words.ts';

test('tenants are parsed as people type them, and none means all', () => {
  expect(tenantsOf(' acme, northwind\nacme  lighthouse,')).toEqual(['acme', 'northwind', 'lighthouse']);
  expect(tenantsOf(' , ')).toBeNull();
});

test('rights are described in words', () => {
  expect(rightsInWords({ role: 'admin', tenants: null })).toBe('admin');
  expect(rightsInWords({ role: 'operator', tenants: null })).toBe('operator of all tenants');
  expect(rightsInWords({ role: 'viewer', tenants: ['acme', 'harbour'] })).toBe('viewer of acme, harbour');
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['curl/8.5.0', 'curl'],
  ['Something of its own/1', 'Something of its own/1'],
  [null, 'unknown'],
])('a browser is named by its agent: %s', (agent, words) => {
  expect(browserInWords(agent)).toBe(words);
});
