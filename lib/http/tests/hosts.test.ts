/** The hosts of a registry over the API: of one that is a file, and of one that others reach too. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Event, HostAnswer } from '../../contract/schema.ts';
import { connect } from '../../registry/postgres/connect.ts';
import { administer, newDatabase } from '../../registry/testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../../registry/testing/postgres-server.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const DATABASE = 'hosts_of_api';
const LEASE_MS = 3000;
const WAIT = { timeout: 60_000 };

let root: string;
let server: TestServer | null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-hosts-'));
  server = null;
});
afterEach(async () => {
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

const NAMED = { WB_HOST_NAME: 'one', WB_MAX_ACTIVE: '7', WB_MEMORY: '0' };

async function start(settings: Record<string, string> = {}, folder = 'data'): Promise<TestServer> {
  server = await startServer({ folder: join(root, folder), settings: { ...NAMED, ...settings } });
  return server;
}

async function hostsOf({ call }: TestServer): Promise<HostAnswer[]> {
  const { status, json } = await call<HostAnswer[]>('GET', '/api/hosts');
  expect(status).toBe(200);
  return json;
}

const leaseOf = async ({ call }: TestServer) =>
  /^winterdock_host_lease_seconds (\S+)$/m.exec((await call('GET', '/metrics')).text)?.[1] ?? null;

/** The registry of these tests is a file unless they say otherwise. */
const file = () => ({ WB_REGISTRY: join(root, 'data', 'registry.sqlite') });

test('a server with its registry in a file is its only host, without a lease, a key or a renewal', async () => {
  const labelled = { ...file(), WB_HOST_URL: 'http://10.0.0.5:3000/', WB_HOST_LABELS: 'zone=a, disk=fast' };
  const first = await start(labelled);
  const one = {
    name: 'one',
    self: true,
    term: 1,
    since: expect.any(Number),
    url: 'http://10.0.0.5:3000',
    version: packageJson.version,
    capacity: { active: 7, memory_bytes: null },
    labels: { zone: 'a', disk: 'fast' },
    sandboxes: 0,
    awake: 0,
    draining: false,
    drain: null,
    held: true,
    dead: false,
    lease_ms: null,
    renewals: 0,
    renewed: null,
    public_key: null,
  };
  expect(await hostsOf(first)).toEqual([one]);
  expect((await first.call('GET', '/api/hosts/one')).json).toEqual(one);
  expect((await first.call('GET', '/api/hosts/two')).json).toMatchObject({ status: 404, code: 'not_found' });
  expect(await leaseOf(first)).toBeNull();
  // Its row is written by the start, and nothing asks of it again: no call does, and no timer.
  await first.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  for (let n = 0; n < 5; n += 1) await first.call('POST', '/api/instances/a/exec', { command: 'true' });
  const timesOf = async (method: string) =>
    new RegExp(`winterdock_registry_seconds_count\\{method="hosts.${method}"\\} (\\d+)`).exec(
      (await first.call('GET', '/metrics')).text,
    )?.[1];
  expect([await timesOf('describe'), await timesOf('renew'), first.host.lease]).toEqual(['1', undefined, null]);
  expect(existsSync(join(root, 'data', 'host.key'))).toBe(false);
  expect(await hostsOf(first)).toEqual([{ ...one, sandboxes: 1, awake: 1 }]);
  await first.stop();
  // Another name is another host, and the former one is gone: nobody else uses the registry.
  const renamed = await start({ ...file(), WB_HOST_NAME: 'two' });
  expect(await hostsOf(renamed)).toEqual([{ ...one, name: 'two', term: 2, url: null, labels: {}, sandboxes: 1 }]);
});

test('labels are set by a call and kept, until a start says its own; what has its registry for itself is not emptied', async () => {
  const first = await start(file());
  const labels = { zone: 'b', disk: 'fast' };
  const set = await first.call<HostAnswer>('PATCH', '/api/hosts/one', { labels });
  expect([set.status, set.json.labels]).toEqual([200, labels]);
  for (const wrong of [{ labels: { 'two words': 'x' } }, { labels: { zone: 'x'.repeat(257) } }, {}, { draining: true }])
    expect((await first.call('PATCH', '/api/hosts/one', wrong)).json).toMatchObject({ code: 'validation' });
  expect((await first.call('PATCH', '/api/hosts/two', { labels })).json).toMatchObject({ code: 'not_found' });
  const lines = (await first.call<Event[]>('GET', '/api/events?type=host.labelled')).json;
  expect(lines.map(({ reason, actor, tenant }) => [reason, actor, tenant])).toEqual([
    ['one: zone=b, disk=fast', 'key:admin', null],
  ]);
  for (const [method, path, code] of [
    ['POST', '/api/hosts/one/drain', 'conflict'],
    ['POST', '/api/hosts/two/drain', 'not_found'],
    ['DELETE', '/api/hosts/two/drain', 'not_found'],
  ] as const)
    expect([path, (await first.call(method, path, method === 'POST' ? {} : undefined)).json]).toMatchObject([
      path,
      { code },
    ]);
  expect((await first.call<HostAnswer>('DELETE', '/api/hosts/one/drain')).json).toMatchObject({ draining: false });
  await first.stop();
  const again = await start(file());
  expect((await hostsOf(again))[0]?.labels).toEqual(labels);
  await again.stop();
  expect((await hostsOf(await start({ ...file(), WB_HOST_LABELS: 'zone=c' })))[0]?.labels).toEqual({ zone: 'c' });
});

test('only whoever keeps the whole dock sees its hosts', async () => {
  const { call, url } = await start(file());
  for (const [role, status] of [
    ['admin', 200],
    ['operator', 200],
    ['support', 403],
    ['viewer', 403],
  ] as const) {
    const { json } = await call<{ key: string }>('POST', '/api/keys', { name: role, role });
    for (const path of ['/api/hosts', '/api/hosts/one']) {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${json.key}` } });
      expect([role, path, answer.status]).toEqual([role, path, status]);
    }
    // Nor does anybody else change them.
    const drained = await fetch(`${url}/api/hosts/one/drain`, {
      method: 'POST',
      headers: { authorization: `Bearer ${json.key}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect([role, drained.status]).toEqual([role, status === 200 ? 409 : 403]);
  }
  expect((await fetch(`${url}/api/hosts`)).status).toBe(401);
});

test.each([
  ['WB_HOST_URL', 'http://10.0.0.5:3000/path', 'must be an origin'],
  ['WB_HOST_URL', 'http://me:word@10.0.0.5', 'must be an origin'],
  ['WB_HOST_LEASE_MS', '999', 'from 1000 to 600000'],
  ['WB_HOST_LABELS', 'zone', 'must be at most 32 labels'],
])('%s=%s is refused', async (name, value, says) => {
  await expect(start({ ...file(), [name]: value })).rejects.toThrow(says);
});

test.skipIf(!HAS_POSTGRES)(
  'a server whose registry is on Postgres renews its lease, and hands its name back',
  async () => {
    const address = await newDatabase(DATABASE);
    const settings = {
      WB_REGISTRY: `postgres://${address.user}@127.0.0.1:${address.hosts[0]?.port}/${DATABASE}`,
      WB_HOST_LEASE_MS: String(LEASE_MS),
      WB_KEYS: join(root, 'data'),
    };
    mkdirSync(join(root, 'data'));
    const tokens = async () => {
      const sql = await connect(address);
      const rows = await sql.unsafe('select name, token from winterdock.hosts').values();
      await sql.end();
      return rows as unknown as unknown[][];
    };
    try {
      const first = await start(settings);
      const [host] = await hostsOf(first);
      expect(host).toMatchObject({ name: 'one', self: true, term: 1, held: true, lease_ms: LEASE_MS });
      expect(host?.public_key).toMatch(/^did:key:z6Mk/);
      const renewals = host?.renewals ?? 0;
      await expect.poll(async () => (await hostsOf(first))[0]?.renewals, WAIT).toBeGreaterThan(renewals + 2);
      expect(Number(await leaseOf(first))).toBeGreaterThan(0);
      expect(Number(await leaseOf(first))).toBeLessThanOrEqual((LEASE_MS * 0.7) / 1000);
      expect(statSync(join(root, 'data', 'host.key')).mode & 0o777).toBe(0o600);
      await first.stop();
      expect(await tokens()).toEqual([['one', null]]);

      // The same data folder is the same host: its key stays, its renewals are counted on.
      const again = await start(settings);
      const [same] = await hostsOf(again);
      expect(same).toMatchObject({ name: 'one', term: 1, public_key: host?.public_key });
      expect(same?.renewals).toBeGreaterThan(renewals);
      await again.stop();

      // Another data folder's server may still act, where the name was not handed back.
      const sql = await connect(address);
      await sql.unsafe(`update winterdock.hosts set token = 'of a server that was cut off'`);
      await sql.end();
      const begun = performance.now();
      const elsewhere = await start({ ...settings, WB_HOST_NAME: 'two' }, 'elsewhere');
      expect(performance.now() - begun).toBeGreaterThan(LEASE_MS);
      const [other] = await hostsOf(elsewhere);
      expect(other).toMatchObject({ name: 'two', term: 2 });
      expect(other?.public_key).not.toBe(host?.public_key);
    } finally {
      await server?.stop();
      await administer(`drop database if exists ${DATABASE} with (force)`);
    }
  },
);
