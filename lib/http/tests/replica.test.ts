import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Instance, Storage } from '../../contract/schema.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let root: string;
let server: TestServer;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-http-replica-'));
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const bucket = () => join(root, 'bucket');
const start = async (settings: Record<string, string> = {}) => {
  server = await startServer({ folder: join(root, 'data'), settings: { WB_POOL: '0', ...settings } });
};
const of = async (id: string) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json;
const replication = async () => (await server.call<Storage>('GET', '/api/settings/storage')).json.replication;
const metrics = async () => (await server.call('GET', '/metrics')).text;
const patchTenant = (replicate: string | null) => server.call('PATCH', '/api/tenants/acme', { replicate });

test('a sandbox says what is promised of its replica and how far it is, and so does the server', async () => {
  await start();
  for (const id of ['early', 'own']) {
    await server.call('POST', '/api/instances', { id, tenant: 'acme', ...(id === 'own' ? { replicate: 'off' } : {}) });
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/a`, 'kept');
    await server.call('POST', `/api/instances/${id}/suspend`);
  }
  expect(await replication()).toBeNull();
  expect(await metrics()).not.toContain('winterdock_replica');
  await server.stop();

  await start({ WB_REPLICA_URL: `file://${bucket()}`, WB_REPLICATE: '5s', WB_REPLICA_SPOOL: '1000000' });
  expect(await of('early')).toMatchObject({ own_replicate: null, replicate: '5s' });
  expect(await of('own')).toMatchObject({ own_replicate: 'off', replicate: 'off', recovery_point: { as: 'none' } });
  // What rested before there was a replica is shipped in the background.
  await vi.waitFor(async () => expect((await of('early')).recovery_point).toMatchObject({ as: 'filed', behind_s: 0 }), {
    timeout: 240_000,
  });
  expect((await of('early')).recovery_point.at).toBeGreaterThan(0);
  const shipped = filesIn(bucket()).filter((path) => path.startsWith('replica/'));
  expect(shipped.map((path) => path.split('/')[1])).toContain('early');
  expect(shipped.map((path) => path.split('/')[1])).not.toContain('own');

  // The registry is shipped meanwhile.
  await vi.waitFor(
    async () =>
      expect(await replication()).toMatchObject({
        url: `file://${bucket()}`,
        replicate: '5s',
        retention: 'commits=24h,minutes=7d,hours=30d,filings=365d',
        month: null,
        away: null,
        spool: { bytes: 0, limit_bytes: 1_000_000, refused: null },
        lag: { behind: 0, max_s: 0, mean_s: 0 },
        requests: { count: expect.any(Number), shared: false },
        late: null,
      }),
    { timeout: 240_000 },
  );
  expect((await replication())?.requests.count).toBeGreaterThan(0);
  for (const line of ['winterdock_replica_lag_seconds{stat="max"} 0', 'winterdock_replica_spool_bytes 0'])
    await vi.waitFor(async () => expect(await metrics()).toContain(line), { timeout: 240_000 });
  expect(await metrics()).not.toContain('early');
});

test('an awake sandbox is live, one that rests is as filed, and `filed` ships each rest', async () => {
  await start({ WB_REPLICA_URL: `file://${bucket()}` });
  const point = async (id: string) => (await of(id)).recovery_point;
  for (const id of ['live', 'filed']) {
    const own = id === 'filed' ? { replicate: 'filed' } : {};
    await server.call('POST', '/api/instances', { id, tenant: 'acme', ...own });
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/a`, 'kept');
  }
  await vi.waitFor(async () => expect(await point('live')).toMatchObject({ as: 'live', behind_s: 0 }), {
    timeout: 240_000,
  });
  expect((await point('live')).at).toBeGreaterThan(0);
  expect(await point('filed')).toEqual({ at: null, behind_s: null, as: 'none' });
  expect((await replication())?.lag).toMatchObject({ open: 1, behind: 0 });
  for (const id of ['live', 'filed']) {
    await server.call('POST', `/api/instances/${id}/suspend`);
    await vi.waitFor(async () => expect(await point(id)).toMatchObject({ as: 'filed', behind_s: 0 }), {
      timeout: 240_000,
    });
  }
});

test('of a sandbox its own setting holds, else that of its tenant, else that of the server', async () => {
  await start({ WB_REPLICA_URL: `file://${bucket()}`, WB_REPLICATE: 'filed' });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('POST', '/api/instances', { id: 'b', tenant: 'acme', replicate: '2s' });
  await server.call('POST', '/api/instances', { id: 'c', tenant: 'globex' });
  const all = async () => Promise.all(['a', 'b', 'c'].map(async (id) => (await of(id)).replicate));
  expect(await all()).toEqual(['filed', '2s', 'filed']);
  await patchTenant('30s');
  await vi.waitFor(async () => expect(await all()).toEqual(['30s', '2s', 'filed']), { timeout: 240_000 });
  await server.call('PATCH', '/api/instances/b', { replicate: null });
  expect(await all()).toEqual(['30s', '30s', 'filed']);
  await patchTenant(null);
  await vi.waitFor(async () => expect(await all()).toEqual(['filed', 'filed', 'filed']), { timeout: 240_000 });
});
