import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import type { Simulation, Tenant, WakeTime } from '../../contract/schema.ts';
import { namesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let folder: string;
let clock: FakeClock;
let server: TestServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-tenants-'));
  clock = new FakeClock();
  server = await startServer({ folder, clock });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const create = (id: string, tenant = 'acme') => server.call('POST', '/api/instances', { id, tenant });
const patch = (body: object, tenant = 'acme') => server.call<Tenant>('PATCH', `/api/tenants/${tenant}`, body);
const tenant = async (name = 'acme') => (await server.call<Tenant>('GET', `/api/tenants/${name}`)).json;

test('fifty creates at a quota of ten leave exactly ten, and clones pass the same gate', async () => {
  expect((await patch({ max_sandboxes: 10 })).json.quotas.max_sandboxes).toEqual({ limit: 10, used: 0 });
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => create(`n${n}`)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  const refused = answers.find(({ status }) => status !== 201);
  expect([refused?.status, refused?.json]).toMatchObject([
    429,
    { code: 'quota_exceeded', quota: 'max_sandboxes', limit: 10, used: 10 },
  ]);
  expect((await tenant()).quotas.max_sandboxes).toEqual({ limit: 10, used: 10 });

  const some = answers.findIndex(({ status }) => status === 201);
  const snapshot = await server.call<{ id: string }>('POST', `/api/instances/n${some}/snapshots`, {});
  expect(snapshot.status).toBe(201);
  await patch({ max_sandboxes: 12 });
  const many = await server.call('POST', `/api/snapshots/${snapshot.json.id}/restore`, { count: 3 });
  expect([many.status, many.json.code]).toEqual([429, 'quota_exceeded']);
  expect((await tenant()).counts.created).toBe(10);
  expect((await server.call('POST', `/api/snapshots/${snapshot.json.id}/restore`, { count: 2 })).status).toBe(201);
  expect((await create('elsewhere', 'globex')).status).toBe(201);
});

test('snapshots count among the bytes that a tenant may have, equal ones once, and a refused one leaves no file', async () => {
  await create('full');
  const write = (content: Buffer) => server.call('PUT', '/api/instances/full/volumes/workspace/a', content);
  const take = () => server.call('POST', '/api/instances/full/snapshots', {});
  const files = () => namesIn(join(folder, 'snapshots'));
  await write(randomBytes(300_000));
  const first = await take();
  expect([first.status, (await take()).status, files().length]).toEqual([201, 201, 1]);
  await server.call('POST', '/api/instances/full/suspend', {});
  const { used } = (await tenant()).quotas.max_bytes;
  await patch({ max_bytes: 2 * used + 400_000 });
  expect((await take()).status).toBe(201);
  await write(randomBytes(300_000));
  const beyond = await take();
  expect([beyond.status, beyond.json.code, beyond.json.quota]).toEqual([429, 'quota_exceeded', 'max_bytes']);
  expect(files()).toHaveLength(1);
  await patch({ max_bytes: 4 * used });
  expect((await take()).status).toBe(201);
});

test('the volumes of a tenant are weighed some seconds after a sandbox was filed', async () => {
  await create('weighed');
  for (const [volume, bytes] of [
    ['workspace', 3000],
    ['memory', 200],
    ['tmp', 10],
  ] as const) {
    await server.call('PUT', `/api/instances/weighed/volumes/${volume}/a`, Buffer.alloc(bytes, 7));
  }
  expect((await tenant()).volumes).toEqual({ sandboxes: 0, workspace: 0, memory: 0, tmp: 0 });
  await server.call('POST', '/api/instances/weighed/suspend', {});
  const weighed = { sandboxes: 1, workspace: 3000, memory: 200, tmp: 10 };
  await vi.waitFor(async () => expect((await tenant()).volumes).toEqual(weighed), { timeout: 240_000, interval: 200 });
});

test('no more are active than may be, however many wake at once', async () => {
  await patch({ max_active: 2 });
  for (const n of [1, 2, 3, 4, 5]) await create(`w${n}`);
  const woken = await Promise.all([1, 2, 3, 4, 5].map((n) => server.call('POST', `/api/instances/w${n}/resume`, {})));
  expect(woken.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429]);
  expect(woken.find(({ status }) => status === 429)?.json).toMatchObject({ quota: 'max_active', limit: 2, used: 2 });
  expect((await tenant()).quotas.max_active).toEqual({ limit: 2, used: 2 });
  const refused = await server.call<{ trigger: string }[]>('GET', '/api/events?type=wake.refused');
  expect(refused.json.map(({ trigger }) => trigger)).toEqual(['quota', 'quota', 'quota']);
  const active = woken.findIndex(({ status }) => status === 200) + 1;
  const asleep = woken.findIndex(({ status }) => status === 429) + 1;
  expect((await server.call('POST', `/api/instances/w${active}/suspend`, {})).status).toBe(200);
  expect((await server.call('POST', `/api/instances/w${asleep}/exec`, { command: 'echo up' })).status).toBe(200);
});

test('writes take from what a tenant may have, at once and over all its sandboxes', async () => {
  const put = (id: string, name: string, bytes: number) =>
    server.call('PUT', `/api/instances/${id}/volumes/workspace/${name}`, Buffer.alloc(bytes, 7));
  for (const id of ['a', 'b']) await create(id);
  for (const id of ['a', 'b']) expect((await put(id, 'first', 1000)).status).toBe(201);
  await server.host.sandboxes.tick();
  const { used } = (await tenant()).quotas.max_bytes;
  expect(used).toBeGreaterThan(2000);
  await patch({ max_bytes: used + 1_000_000 });
  const racing = await Promise.all(Array.from({ length: 10 }, (_, n) => put(n % 2 ? 'a' : 'b', `f${n}`, 300_000)));
  const kept = racing.filter(({ status }) => status === 201).length;
  expect(kept).toBeGreaterThan(0);
  // How many fit depends on how much of the log is in the main file by then: what the tenant has in the end is the
  // promise.
  expect(kept).toBeLessThan(10);
  const refused = racing.find(({ status }) => status === 429);
  expect(refused?.json).toMatchObject({ code: 'quota_exceeded', quota: 'max_bytes', limit: used + 1_000_000 });

  for (const id of ['a', 'b']) expect((await server.call('POST', `/api/instances/${id}/suspend`, {})).status).toBe(200);
  const after = await tenant();
  expect(after.quotas.max_bytes.used).toBeLessThanOrEqual(used + 1_000_000);
  expect(after.bytes).toMatchObject({ total: after.quotas.max_bytes.used, live: after.quotas.max_bytes.used, cold: 0 });
  await server.call('POST', '/api/instances/a/freeze', {});
  const frozen = await tenant();
  expect(frozen.bytes.cold).toBeGreaterThan(0);
  expect(frozen.bytes.live + frozen.bytes.cold).toBe(after.bytes.total);
});

test('a guest cannot grow beyond what its tenant has left, and can still delete', async () => {
  await create('a');
  await server.call('PUT', '/api/instances/a/volumes/workspace/big', Buffer.alloc(1_500_000, 7));
  await server.call('POST', '/api/instances/a/suspend', {});
  const { used } = (await tenant()).quotas.max_bytes;
  await patch({ max_bytes: used + 100_000 });
  const grow = await server.call<{ exit_code: number }>('POST', '/api/instances/a/exec', { command: 'cat big > more' });
  expect(grow.status === 429 || grow.json.exit_code !== 0, grow.text).toBe(true);
  const more = await server.call('GET', '/api/instances/a/volumes/workspace/more');
  expect(more.bytes.byteLength).toBeLessThan(1_000_000);
  const freed = await server.call('POST', '/api/instances/a/exec', { command: 'rm big && echo gone' });
  expect([freed.status, freed.json.stdout]).toEqual([200, 'gone\n']);
});

test('thresholds of a tenant apply to its sandboxes and fall back, and the ledger says who changed what', async () => {
  await create('a');
  const changed = await patch({ hot_to_warm_s: 0, idle_to_suspend_s: 60, max_active: 5 });
  expect(changed.json).toMatchObject({
    hot_to_warm_s: 0,
    idle_to_suspend_s: 60,
    idle_to_freeze_s: null,
    thresholds: { hot_to_warm_s: 0, idle_to_suspend_s: 60, idle_to_freeze_s: 86_400 },
  });
  await patch({ hot_to_warm_s: null, idle_to_suspend_s: null, max_active: null });
  expect((await tenant()).thresholds).toMatchObject({ hot_to_warm_s: 30, idle_to_suspend_s: 900 });
  const lines = await server.call<{ tenant: string; reason: string }[]>('GET', '/api/events?type=tenant.changed');
  expect(lines.json.map(({ tenant: of, reason }) => [of, reason])).toEqual([
    ['acme', 'max_active=none'],
    ['acme', 'hot_to_warm_s=none idle_to_suspend_s=none'],
    ['acme', 'max_active=5'],
    ['acme', 'hot_to_warm_s=0 idle_to_suspend_s=60'],
  ]);
  expect((await server.call('GET', '/api/tenants/nobody')).status).toBe(404);
  expect((await server.call<Tenant[]>('GET', '/api/tenants')).json.map(({ tenant: name }) => name)).toEqual(['acme']);
});

test('wake times are kept over a restart, by source', async () => {
  await create('a');
  await server.call('POST', '/api/instances/a/resume', {});
  await server.call('POST', '/api/instances/a/resume', {});
  await server.call('POST', '/api/instances/a/suspend', {});
  await server.call('POST', '/api/instances/a/exec', { command: 'true' });
  const times = async () =>
    (await server.call<WakeTime[]>('GET', '/api/metrics/wakes')).json.map(({ path, source, count }) => [
      path,
      source,
      count,
    ]);
  const wanted = [
    ['cold', 'fresh', 1],
    ['cold', 'local', 1],
    ['warm', null, 1],
  ];
  expect(await times()).toEqual(wanted);
  await server.stop();
  server = await startServer({ folder, clock });
  expect(await times()).toEqual(wanted);
  const [fresh] = (await server.call<WakeTime[]>('GET', '/api/metrics/wakes')).json;
  expect(fresh?.p99_ms).toBeGreaterThan(0);
  expect(fresh?.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(1);
  clock.advance(40 * 86_400);
  expect(await times()).toEqual([]);
});

test('the simulator says what other thresholds would have made of the ledger', async () => {
  await create('a');
  const exec = () => server.call('POST', '/api/instances/a/exec', { command: 'true' });
  await exec();
  clock.advance(900);
  await server.host.sandboxes.tick();
  clock.advance(900);
  await exec();
  clock.advance(3600);
  await server.host.sandboxes.tick();
  const ask = async (body: object) => (await server.call<Simulation>('POST', '/api/settings/simulate', body)).json;
  const same = await ask({});
  expect(same).toMatchObject({ cut: false, was: { cold_wakes: 2, process_hours: 1.25 }, would: same.was });
  const longer = await ask({ idle_to_suspend_s: 3600 });
  expect(longer.would).toMatchObject({ cold_wakes: 1, process_hours: 1.5 + 0 });
  const shorter = await ask({ idle_to_suspend_s: 300, tenant: 'acme' });
  expect(shorter.would.process_hours).toBeLessThan(same.was.process_hours);
  expect((await ask({ tenant: 'globex' })).lines).toBe(0);
});

test('processor time is a quota of the day, shown, refused with its end, and a metric', async () => {
  await create('burns');
  await patch({ max_daily_cpu_s: 0 });
  const refused = await server.call('POST', '/api/instances/burns/exec', { command: 'true' });
  expect([refused.status, refused.json]).toMatchObject([
    429,
    { code: 'quota_exceeded', quota: 'max_daily_cpu_s', limit: 0, used: 0 },
  ]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  const [line] = (await server.call<{ trigger: string }[]>('GET', '/api/events?type=exec.refused')).json;
  expect(line).toMatchObject({ trigger: 'quota', instance: 'burns', tenant: 'acme' });
  await patch({ max_daily_cpu_s: 3600 });
  const command = 'while true; do :; done';
  await vi.waitFor(
    async () => {
      await server.call('POST', '/api/instances/burns/exec', { command, timeout_ms: 500 });
      await server.host.sandboxes.tick();
      expect((await tenant()).quotas.max_daily_cpu_s.used).toBeGreaterThan(1);
    },
    { timeout: 240_000 },
  );
  expect((await tenant()).quotas.max_daily_cpu_s.limit).toBe(3600);
  const metric = /^winterdock_cpu_seconds_total\{tenant="acme"\} (\S+)$/m.exec(
    (await server.call('GET', '/metrics')).text,
  );
  expect(Number(metric?.[1])).toBeGreaterThan(1);
});
