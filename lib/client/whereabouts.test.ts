import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { resolveServer } from '../cli/saved-logins.ts';
import { createClient } from './client.ts';
import { DEFAULT_URL } from './whereabouts.ts';

/** Where the calls went, and with which key. */
const sent: [string, string | null][] = [];
const fetch = async (address: string | URL | Request, init?: RequestInit): Promise<Response> => {
  sent.push([String(address), new Headers(init?.headers).get('authorization')]);
  return Response.json([]);
};

/** What the environment says. */
const says = (url: string, key: string) => {
  vi.stubEnv('WINTERDOCK_URL', url);
  vi.stubEnv('WINTERDOCK_KEY', key);
};
const asks = async (options: Parameters<typeof createClient>[0]) => {
  await createClient({ ...options, fetch }).listKeys();
  return sent.pop();
};

beforeEach(() => {
  sent.length = 0;
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
});
afterEach(() => vi.unstubAllEnvs());

test('a client without options uses the server and key of the environment', async () => {
  says('https://dock.example/', 'k1');
  expect(await asks({})).toEqual(['https://dock.example/api/keys', 'Bearer k1']);
  expect(await asks({ url: 'http://other.example' })).toEqual(['http://other.example/api/keys', 'Bearer k1']);
  expect(await asks({ key: 'k2' })).toEqual(['https://dock.example/api/keys', 'Bearer k2']);
  expect(await asks({ key: () => 'k3' })).toEqual(['https://dock.example/api/keys', 'Bearer k3']);
});

test('with nothing in the environment, or with empty words in it, it asks this machine, without a key', async () => {
  says('', '');
  expect(await asks({})).toEqual([`${DEFAULT_URL}/api/keys`, null]);
});

test('a page of the server itself uses its own address and session, whatever the environment says', async () => {
  says('https://dock.example', 'k1');
  expect(await asks({ url: '', key: null })).toEqual(['/api/keys', null]);
});

test.each([
  ['dock.example:8080', 'k1'],
  ['https://dock.example/below/', 'k1'],
  ['', 'k1'],
])('the command line understands %j in the environment as the client does', async (url, key) => {
  says(url, key);
  const [address] = (await asks({})) ?? [];
  expect(resolveServer(process.env, undefined)).toEqual({ url: address?.replace('/api/keys', ''), key });
});

test('an address that is none is refused at once, with words', () => {
  says('ftp://dock.example', 'k1');
  expect(() => createClient()).toThrow(/neither an http nor an https address/);
  expect(() => createClient({ url: 'http://a:b@dock.example' })).toThrow(/must not hold a name or a password/);
});
