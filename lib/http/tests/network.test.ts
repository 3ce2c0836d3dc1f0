import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InstanceNetwork, Problem, TenantNetwork } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
const keys: Record<string, string> = {};
beforeAll(async () => {
  server = await startServer();
  for (const [id, tenant] of [
    ['mine', 'acme'],
    ['theirs', 'globex'],
  ]) {
    await server.call('POST', '/api/instances', { id, tenant, policy: 'network' });
  }
  for (const role of ['operator', 'support', 'viewer', 'tenant']) {
    const input = { name: role, role, tenant: 'acme' };
    keys[role] = (await server.call<{ key: string }>('POST', '/api/keys', input)).json.key;
  }
});
afterAll(() => server.stop());

const ask = <T = Problem>(role: string | null, method: string, path: string, body?: unknown) =>
  server.call<T>(method, `/api${path}`, body, role === null ? {} : { key: keys[role] ?? '' });
const LIST = { rules: [{ url: 'https://api.test/v1/', methods: ['GET', 'POST'] }] };

test.each([
  ['operator', 200, 200],
  ['support', 403, 403],
  ['viewer', 403, 403],
  ['tenant', 403, 200],
] as const)(
  '%s sets a tenant’s list (%i) and a sandbox’s (%i), and everybody sees their own',
  async (role, ofTenant, own) => {
    expect((await ask(role, 'PUT', '/tenants/acme/network', LIST)).status).toBe(ofTenant);
    expect((await ask(role, 'PUT', '/instances/mine/network', LIST)).status).toBe(own);
    for (const path of ['/tenants/acme/network', '/instances/mine/network']) {
      expect((await ask(role, 'GET', path)).status).toBe(200);
    }
    expect((await ask(role, 'GET', '/instances/theirs/network')).status).toBe(404);
    expect((await ask(role, 'GET', '/tenants/globex/network')).status).toBe(404);
    const foreign = await ask(role, 'PUT', '/instances/theirs/network', LIST);
    expect(foreign.status).toBe(own === 200 ? 404 : 403);
  },
);

test('a tenant’s key opens no way out: no wildcard, no private address, no number above the server’s', async () => {
  const put = (body: object) => ask('tenant', 'PUT', '/instances/mine/network', body);
  expect((await put({ rules: [{ url: '*' }] })).status).toBe(403);
  expect((await put({ rules: [{ url: 'https://lan.test/', private: true }] })).status).toBe(422);
  expect((await put({ rules: null, requests_per_minute: 121 })).status).toBe(403);
  expect((await put({ rules: null, bytes_per_day: 2 ** 40 })).status).toBe(403);
  expect((await put({ rules: null, requests_per_minute: 120 })).status).toBe(200);
  expect((await ask(null, 'PUT', '/instances/mine/network', { rules: [{ url: '*' }] })).status).toBe(200);
  // Its tenant's list is all that a wildcard of its own lets through.
  const { json } = await ask<InstanceNetwork>(null, 'GET', '/instances/mine/network');
  expect(json.allowed.rules).toEqual([{ url: 'https://api.test/v1/', methods: ['GET'], private: false }]);
});

test('an entry is kept as it is compared, and what is none is refused by its number', async () => {
  const rules = [
    { url: 'HTTPS://Bücher.example:443/a/../b' },
    { url: 'http://0x7f.1/', methods: ['POST', 'GET', 'GET'] },
  ];
  const kept = await ask<TenantNetwork>(null, 'PUT', '/tenants/acme/network', { rules, bytes_per_day: 5 });
  expect(kept.json).toMatchObject({
    rules: [
      { url: 'https://xn--bcher-kva.example/b', methods: ['GET', 'HEAD'], private: false },
      { url: 'http://127.0.0.1/', methods: ['GET', 'POST'] },
    ],
    bytes_per_day: 5,
    requests_per_minute: null,
    updated_by: 'key:admin',
  });
  for (const [url, why] of [
    ['ftp://a.test/', 'must begin with https://'],
    ['https://a.test/?x', 'must have no query'],
    ['https://*.test/', 'must name a host'],
  ]) {
    const refused = await ask(null, 'PUT', '/tenants/acme/network', { rules: [{ url: 'https://a.test/' }, { url }] });
    expect([refused.status, refused.json.errors?.[0]?.path]).toEqual([422, 'rules.1.url']);
    expect(refused.json.errors?.[0]?.message).toContain(why);
  }
  const wild = await ask(null, 'PUT', '/tenants/acme/network', { rules: [{ url: '*', private: true }] });
  expect([wild.status, wild.json.errors?.[0]]).toEqual([422, { path: 'rules.0.private', message: 'must name a host' }]);
});

test('each change is a line of the ledger, and a deleted sandbox takes its list along', async () => {
  await server.call('POST', '/api/instances', { id: 'short', tenant: 'acme' });
  await ask(null, 'PUT', '/instances/short/network', LIST);
  const { json } = await ask<{ reason: string; tenant: string }[]>(
    null,
    'GET',
    '/events?type=network.changed&instance=short',
  );
  expect(json).toMatchObject([{ tenant: 'acme', reason: expect.stringContaining('GET|POST https://api.test/v1/') }]);
  for (const verb of ['resume', 'archive']) await server.call('POST', `/api/instances/short/${verb}`, {});
  expect((await server.call('DELETE', '/api/instances/short')).status).toBe(204);
  expect(await server.host.registry.network.policy('sandbox', 'short')).toBeNull();
  expect((await ask(null, 'GET', '/instances/short/network')).status).toBe(410);
});
