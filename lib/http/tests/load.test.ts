import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FakeClock, systemClock } from '../../base/clock.ts';
import type { InstanceLoad, TopLoad } from '../../contract/schema.ts';
import { invited } from '../../testing/people.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ clock: systemClock, settings: { WB_TICK_MS: '200' } });
  for (const [id, tenant] of [
    ['a', 'acme'],
    ['g', 'globex'],
  ])
    await server.call('POST', '/api/instances', { id, tenant });
  await server.call('POST', '/api/instances/a/exec', { command: 'echo one > note' });
  await server.call('POST', '/api/instances/g/exec', { command: 'true' });
  // What a process took is measured each second.
  await vi.waitFor(
    async () => {
      server.host.load.sample();
      const { points } = await get<InstanceLoad>('/api/instances/a/load');
      expect(points.reduce((sum, { cpu_s }) => sum + cpu_s, 0)).toBeGreaterThan(0);
      expect(points.at(-1)?.memory_bytes).toBeGreaterThan(1e6);
    },
    { timeout: 120_000, interval: 500 },
  );
});
afterAll(() => server.stop());

const get = async <T>(path: string) => (await server.call<T>('GET', path)).json;
const sum = (points: InstanceLoad['points'], name: 'calls' | 'cpu_s') =>
  points.reduce((whole, point) => whole + point[name], 0);

test('an instance that is awake has its processor time, memory, calls and disk by the ten seconds', async () => {
  const load = await get<InstanceLoad>('/api/instances/a/load');
  expect(load).toMatchObject({ step: 10, made_of: 'samples' });
  expect(load.to - load.from).toBeGreaterThanOrEqual(3600);
  expect(sum(load.points, 'calls')).toBe(1);
  expect(load.points.at(-1)?.disk_bytes).toBeGreaterThan(1000);
  expect(load.points.every(({ time, measured_s }) => time % 10 === 0 && (measured_s ?? 0) > 0)).toBe(true);
  const now = Math.floor(Date.now() / 1000);
  expect(load.samples_since).toBeGreaterThan(now - 600);
  const minutes = await get<InstanceLoad>('/api/instances/a/load?step=60');
  expect(minutes).toMatchObject({ step: 60, made_of: 'minutes' });
  expect(sum(minutes.points, 'calls')).toBe(1);
  expect(sum(minutes.points, 'cpu_s')).toBeCloseTo(sum(load.points, 'cpu_s'), 1);
  await vi.waitFor(
    async () => {
      const hours = await get<InstanceLoad>(`/api/instances/a/load?from=${now - 5 * 86_400}`);
      expect(hours).toMatchObject({ step: 3600, made_of: 'hours' });
      expect(sum(hours.points, 'calls')).toBe(1);
      expect(hours.points[0]).toMatchObject({ measured_s: null, bytes_in: null });
    },
    { timeout: 60_000 },
  );
});

test('a tenant is the sum of its instances and names them, and the server names tenants', async () => {
  const acme = await get<TopLoad>('/api/tenants/acme/load');
  expect(sum(acme.points, 'calls')).toBe(1);
  expect(acme.top.map(({ name }) => name)).toEqual(['a']);
  const all = await get<TopLoad>('/api/load?top=1');
  expect(sum(all.points, 'calls')).toBe(2);
  expect(all.top).toHaveLength(1);
  expect((await get<TopLoad>('/api/load')).top.map(({ name }) => name).sort()).toEqual(['acme', 'globex']);
  expect((await get<TopLoad>('/api/load?top=0')).top).toEqual([]);
});

test('the points are a table in CSV', async () => {
  for (const [path, name] of [
    ['/api/instances/a/load/export', 'a'],
    ['/api/tenants/acme/load/export', 'acme'],
    ['/api/load/export', 'server'],
  ] as const) {
    const answer = await server.call('GET', `${path}?step=60`);
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).toContain(`winterdock-load-${name}.csv`);
    const [names = '', ...rows] = answer.text.trimEnd().split('\r\n');
    expect(names).toBe('time,measured_s,cpu_s,memory_bytes,calls,bytes_in,bytes_out,disk_bytes,time_iso');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.split(',')).toHaveLength(9);
  }
});

test('what was taken before a start of the server is answered by the minute, and nothing of it is left out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-load-'));
  const clock = new FakeClock(Date.UTC(2026, 10, 30, 12, 0, 30));
  try {
    const before = await startServer({ folder, clock });
    await before.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
    await before.call('POST', '/api/instances/a/exec', { command: 'true' });
    await before.stop();
    clock.advance(600);
    const after = await startServer({ folder, clock });
    const load = async (path: string) => (await after.call<InstanceLoad>('GET', `/api${path}`)).json;
    for (const path of ['/load', '/tenants/acme/load', '/instances/a/load']) {
      const found = await load(path);
      expect([path, found.made_of, found.step, sum(found.points, 'calls')]).toEqual([path, 'minutes', 60, 1]);
      expect(await load(`${path}?step=10`)).toMatchObject({ made_of: 'samples', points: [] });
      // Of a time since the start nothing is cut.
      expect(await load(`${path}?from=${found.samples_since}`)).toMatchObject({ made_of: 'samples' });
    }
    await after.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['from=10&to=5', 'from'],
  ['from=NaN', 'from'],
  ['from=-1', 'from'],
  ['from=1e30', 'from'],
  ['from=0.5', 'from'],
  ['to=never', 'to'],
  ['step=0', 'step'],
  ['step=15', 'step'],
  ['step=3601', 'step'],
  ['step=1e12', 'step'],
  ['from=0&step=10', 'step'],
  ['from=0&step=3600', 'step'],
  ['top=51', 'top'],
  ['top=-1', 'top'],
])('a query of %s is refused and says why', async (query, path) => {
  const refused = await server.call('GET', `/api/load?${query}`);
  expect([refused.status, refused.json.code]).toEqual([422, 'validation']);
  const { errors } = refused.json as unknown as { errors: { path: string }[] };
  expect([...new Set(errors.map((error) => error.path))]).toEqual([path]);
});

test('the longest time there is has no more points than an answer', async () => {
  for (const query of ['from=0&to=253402300799', 'from=0', 'to=253402300799', 'from=253402300799&to=253402300799']) {
    const answer = await server.call<TopLoad>('GET', `/api/load?${query}`);
    expect([query, answer.status]).toEqual([query, 200]);
    expect(answer.json.points.length).toBeLessThanOrEqual(400);
  }
});

test('an unknown one, and one of another tenant, is not found; the server’s is for those who see all of it', async () => {
  expect((await server.call('GET', '/api/instances/none/load')).status).toBe(404);
  expect((await server.call('GET', '/api/tenants/none/load')).status).toBe(404);
  const cookie = await invited(server.host.auth, 'viewer', { tenants: ['acme'], email: 'viewer@example.com' });
  const statusOf = async (path: string) =>
    (await server.call('GET', `/api${path}`, undefined, { key: null, headers: { cookie } })).status;
  for (const end of ['', '/export']) {
    expect(await statusOf(`/instances/a/load${end}`)).toBe(200);
    expect(await statusOf(`/tenants/acme/load${end}`)).toBe(200);
    expect(await statusOf(`/instances/g/load${end}`)).toBe(404);
    expect(await statusOf(`/tenants/globex/load${end}`)).toBe(404);
    expect(await statusOf(`/load${end}`)).toBe(403);
  }
});

test('the metrics have the bytes and what sampling costs, and no name of a sandbox', async () => {
  const { text } = await server.call('GET', '/metrics');
  const lines = text.split('\n').filter((line) => /^winterdock_(load|network)_/.test(line));
  expect(lines.map((line) => line.split(/[{ ]/)[0])).toEqual([
    'winterdock_network_bytes_total',
    'winterdock_network_bytes_total',
    'winterdock_load_series',
    'winterdock_load_sampling_seconds_total',
  ]);
  expect(lines.filter((line) => /"(a|g)"/.test(line))).toEqual([]);
});
