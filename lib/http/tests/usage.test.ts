import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import type { InstanceLife, InstanceUsage, TenantUsage } from '../../contract/schema.ts';
import { invited } from '../../testing/people.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const HOUR = 3600;
let server: TestServer;
let clock: FakeClock;
const begin = 1_765_500_000;

beforeAll(async () => {
  clock = new FakeClock(begin * 1000);
  server = await startServer({ clock, settings: { WB_TICK_MS: '200' } });
  for (const [id, tenant] of [
    ['a', 'acme'],
    ['g', 'globex'],
  ])
    await server.call('POST', '/api/instances', { id, tenant, keep_hot: id === 'g' });
  await server.call('POST', '/api/instances/a/exec', { command: 'echo one > note' });
  await server.call('POST', '/api/instances/g/exec', { command: 'true' });
  clock.advance(600);
  await server.call('POST', '/api/instances/a/suspend', {});
  await server.host.sandboxes.tick();
  // A tick that found another one under way has measured nothing: the next one has, within the same hour.
  await vi.waitFor(
    async () => {
      const { points } = await get<InstanceUsage>(`/api/instances/a/usage?from=${begin}`);
      expect(points[0]?.disk_bytes).toBeGreaterThan(0);
    },
    { timeout: 240_000 },
  );
  clock.advance(2 * HOUR - 600);
  await server.call('POST', '/api/instances/a/exec', { command: 'cat note' });
  clock.advance(60);
  await server.host.sandboxes.tick();
});
afterAll(() => server.stop());

const get = async <T>(path: string) => (await server.call<T>('GET', path)).json;

test('what an instance took is told by the hour, and adds up by the day', async () => {
  const usage = await get<InstanceUsage>(`/api/instances/a/usage?from=${begin}`);
  expect(usage.step).toBe(HOUR);
  expect(usage.points.map(({ calls }) => calls)).toEqual([1, 1]);
  expect(usage.points.map(({ time }) => time % HOUR)).toEqual([0, 0]);
  expect(usage.points[0]?.disk_bytes).toBeGreaterThan(1000);
  expect(usage.total.calls).toBe(2);
  const byDay = await get<InstanceUsage>(`/api/instances/a/usage?from=${begin}&step=86400`);
  expect(byDay.points).toHaveLength(1);
  expect(byDay.points[0]).toMatchObject({ calls: 2, cpu_s: usage.total.cpu_s });
  for (const [query, path] of [
    ['step=5000', 'step'],
    [`from=0&step=${HOUR}`, 'step'],
    ['from=10&to=5', 'from'],
  ]) {
    const refused = await server.call('GET', `/api/instances/a/usage?${query}`);
    expect([query, refused.status, refused.json.errors]).toMatchObject([query, 422, [{ path }]]);
  }
  expect((await server.call('GET', '/api/instances/none/usage')).status).toBe(404);
});

test('a tenant’s wakes and active time are those of its ledger, and the server’s those of all', async () => {
  const acme = await get<TenantUsage>(`/api/tenants/acme/usage?from=${begin}`);
  expect(acme).toMatchObject({ complete: true, total: { calls: 2, wakes: 2, faults: 0 } });
  // Ten minutes, and the minute since.
  expect(acme.total.awake_s).toBeCloseTo(660, -1);
  expect(acme.points).toHaveLength(3);
  const globex = await get<TenantUsage>(`/api/tenants/globex/usage?from=${begin}`);
  expect(globex.total.awake_s).toBeCloseTo(2 * HOUR + 60, -1);
  const all = await get<TenantUsage>(`/api/usage?from=${begin}`);
  expect(all.total).toMatchObject({ calls: 3, wakes: 3 });
  expect(all.total.awake_s).toBeCloseTo(acme.total.awake_s + globex.total.awake_s, 1);
  expect(all.total.cpu_s).toBeCloseTo(acme.total.cpu_s + globex.total.cpu_s, 3);
  expect((await server.call('GET', '/api/tenants/none/usage')).status).toBe(404);
});

test('the life of an instance is its hops and the time between them', async () => {
  const life = await get<InstanceLife>('/api/instances/a/life?columns=10');
  expect(life.stretches?.map(({ state }) => state)).toEqual(['active', 'suspended', 'active']);
  expect(life.hops?.map(({ from, to, source }) => [from, to, source])).toMatchObject([
    ['created', 'active', 'fresh'],
    ['active', 'suspended', null],
    ['suspended', 'active', 'local'],
  ]);
  expect(life.columns).toHaveLength(10);
  expect(life.columns.reduce((sum, { wakes }) => sum + wakes, 0)).toBe(2);
  const few = await get<InstanceLife>(`/api/instances/a/life?from=${begin + HOUR}&to=${begin + HOUR + 60}&columns=1`);
  expect(few.stretches).toEqual([{ state: 'suspended', from: begin + HOUR, to: begin + HOUR + 60 }]);
});

test('a viewer may look; another tenant’s answers like an unknown one; only who sees all sees the server', async () => {
  const as = async (role: 'viewer' | 'operator', tenants: string[] | null) => {
    const cookie = await invited(server.host.auth, role, { tenants, email: `${role}-${tenants}@example.com` });
    return async (path: string) =>
      (await server.call('GET', `/api${path}`, undefined, { key: null, headers: { cookie } })).status;
  };
  const paths = ['/instances/a/usage', '/instances/a/life', '/tenants/acme/usage', '/usage'];
  const statuses = (look: (path: string) => Promise<number>) => Promise.all(paths.map(look));
  expect(await statuses(await as('viewer', null))).toEqual([200, 200, 200, 200]);
  expect(await statuses(await as('viewer', ['acme']))).toEqual([200, 200, 200, 403]);
  expect(await statuses(await as('operator', ['globex']))).toEqual([404, 404, 404, 403]);
});

test('calls, memory and disk of tenants are metrics', async () => {
  const { text } = await server.call('GET', '/metrics');
  expect(text).toContain('winterdock_tenant_calls_total{tenant="acme"} 2');
  expect(text).toMatch(/winterdock_tenant_disk_bytes\{tenant="acme"\} \d{4,}/);
  expect(text).toMatch(/winterdock_tenant_memory_bytes\{tenant="acme"\} \d+/);
});
