import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSecretSealer } from '../base/sealed-secrets.ts';
import type { Registry } from '../registry/registry.ts';
import type { SecretTerms } from '../registry/secrets.ts';
import { entry, makeInstance, START } from '../registry/testing/fixtures.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { type PlainIds, withPlainIds } from '../testing/plain-ids.ts';
import { SECRET_PURPOSE, Secrets } from './secrets.ts';

const CANARY = 'canary-7f3a91';
let folder: string;
let registry: Registry;
let now = START;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-secrets-'));
  registry = await openRegistryOfTests(null);
  await makeInstance(withPlainIds(registry), 'sb-1');
  await makeInstance(withPlainIds(registry), 'sb-2');
  now = START;
});
afterEach(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (key = 'data'): PlainIds<Secrets> =>
  withPlainIds(
    new Secrets({
      registry,
      sealer: openSecretSealer(join(folder, key), SECRET_PURPOSE),
      clock: { now: () => now * 1000 },
    }),
  );
const terms = (over: Partial<Record<keyof SecretTerms, string>> = {}) => ({
  tenant: 'acme',
  instance: '',
  name: 'API',
  url: 'https://api.example.com/v1/',
  header: 'authorization',
  format: 'Bearer {}',
  ...over,
});
const set = (secrets: PlainIds<Secrets>, over: Partial<Record<keyof SecretTerms, string>> = {}, value = CANARY) =>
  secrets.set(terms(over) as never, value, 'key:test', entry({ type: 'secret.set' }));
const ask = async (secrets: PlainIds<Secrets>, url: string, who = { instanceId: 'sb-1', tenant: 'acme' }) =>
  (await secrets.headersFor(who, new URL(url))).map(({ name, value }) => `${name}: ${value}`);

test('a secret is a header of requests to its address and below it, and of no other', async () => {
  const secrets = open();
  await set(secrets);
  const HEADER = [`authorization: Bearer ${CANARY}`];
  for (const url of [
    'https://api.example.com/v1/',
    'https://api.example.com/v1/x?y=1',
    'https://API.example.com:443/v1/a/../b',
  ])
    expect([url, await ask(secrets, url)]).toEqual([url, HEADER]);
  for (const url of [
    'http://api.example.com/v1/',
    'https://api.example.com:8443/v1/',
    'https://api.example.com/v1/../v2/',
    'https://api.example.com/v1/%2e%2e/v2/',
    'https://api.example.com/v1/..%2fv2/',
    'https://api.example.com/v1/..%5Cv2/',
    'https://api.example.com/v1',
    'https://api.example.com/v10/',
    'https://api.example.com/',
    'https://api.example.com.evil.test/v1/',
    'https://evil.test/https://api.example.com/v1/',
    'https://api.example.com@evil.test/v1/',
  ])
    expect([url, await ask(secrets, url)]).toEqual([url, []]);
  expect(await ask(secrets, 'https://api.example.com/v1/', { instanceId: 'sb-1', tenant: 'globex' })).toEqual([]);
});

test('an address without a slash at its end is itself and what is below it', async () => {
  const secrets = open();
  await set(secrets, { url: 'https://api.example.com/v1' });
  expect(await ask(secrets, 'https://api.example.com/v1')).toHaveLength(1);
  expect(await ask(secrets, 'https://api.example.com/v1/x')).toHaveLength(1);
  expect(await ask(secrets, 'https://api.example.com/v1x')).toEqual([]);
});

test('the sandbox’s own goes before its tenant’s, then the longer address, and takes the place of its name', async () => {
  const secrets = open();
  await set(secrets, {}, 'tenant');
  await set(secrets, { name: 'WIDE', url: 'https://api.example.com/' }, 'wide');
  await set(secrets, { name: 'KEY', header: 'x-key', format: '{}' }, 'key$&');
  const url = 'https://api.example.com/v1/';
  expect(await ask(secrets, url)).toEqual(['authorization: Bearer tenant', 'x-key: key$&']);
  await set(secrets, { name: 'OWN', instance: 'sb-1', url: 'https://api.example.com/' }, 'own');
  expect(await ask(secrets, url)).toEqual(['authorization: Bearer own', 'x-key: key$&']);
  expect(await ask(secrets, url, { instanceId: 'sb-2', tenant: 'acme' })).toContain('authorization: Bearer tenant');
  await set(secrets, { name: 'KEY', instance: 'sb-1', url: 'https://elsewhere.example.com/', header: 'x-key' }, 'mine');
  expect(await ask(secrets, url)).toEqual(['authorization: Bearer own']);
});

test('what is stored holds no secret, and opens for nothing but what it was set for', async () => {
  const secrets = open();
  const { row } = await set(secrets);
  expect(JSON.stringify(await registry.secrets.all())).not.toContain(CANARY);
  expect(secrets.opens(row)).toBe(true);
  for (const change of [
    { tenant: 'globex' },
    { instance: 'sb-1' },
    { name: 'OTHER' },
    { url: 'https://evil.test/' },
    { header: 'x-echo' },
    { format: '{}' },
  ])
    expect([change, secrets.opens({ ...row, ...change } as typeof row)]).toEqual([change, false]);
});

test('with another key the error names what to set again, and setting it again mends it', async () => {
  await set(open());
  await set(open(), { name: 'OWN', instance: 'sb-1' });
  const restored = open('another');
  expect((await restored.lost())?.message).toBe('The server’s key does not open: API of acme, OWN of sb-1.');
  await expect(ask(restored, 'https://api.example.com/v1/')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('OWN of sb-1'),
    hint: expect.stringContaining('Set them again'),
  });
  // Elsewhere nothing is asked for that does not open.
  expect(await ask(restored, 'https://elsewhere.example.com/')).toEqual([]);
  await set(restored, { name: 'OWN', instance: 'sb-1' }, 'again');
  expect(await ask(restored, 'https://api.example.com/v1/')).toEqual(['authorization: Bearer again']);
  expect(await open().lost()).toMatchObject({ message: expect.stringContaining('OWN of sb-1') });
});

test('the last use is known to the minute', async () => {
  const secrets = open();
  await set(secrets);
  const lastUsed = async () => (await registry.secrets.all())[0]?.lastUsed;
  expect(await lastUsed()).toBeNull();
  await ask(secrets, 'https://api.example.com/v2/');
  expect(await lastUsed()).toBeNull();
  await ask(secrets, 'https://api.example.com/v1/');
  expect(await lastUsed()).toBe(START);
  now = START + 59;
  await ask(secrets, 'https://api.example.com/v1/');
  expect(await lastUsed()).toBe(START);
  now = START + 60;
  await ask(secrets, 'https://api.example.com/v1/');
  expect(await lastUsed()).toBe(START + 60);
});
