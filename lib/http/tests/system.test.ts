import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { Event, Instance, Settings } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { ROUTES } from '../routes.ts';

let server: TestServer & { clock: FakeClock };
beforeAll(async () => {
  server = await startServer({ settings: { WB_POOL: '1' } });
});
afterAll(() => server.stop());

async function metric(line: string): Promise<number | undefined> {
  const { text } = await server.call('GET', '/metrics');
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

interface Document {
  openapi: string;
  paths: Record<
    string,
    Record<
      string,
      { operationId: string; responses: Record<string, unknown>; parameters?: { name: string; in: string }[] }
    >
  >;
  components: { schemas: Record<string, unknown> };
}

test('the document has every route of the table and no other', async () => {
  const { json: document, headers } = await server.call<Document>('GET', '/openapi.json', undefined, { key: null });
  expect(headers['content-type']).toBe('application/json');
  expect(document.openapi).toBe('3.1.0');
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const table = ROUTES.map(
    ({ method, path, root }) =>
      `${method} ${root ? '' : '/api'}${path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}')}`,
  );
  expect(documented.sort()).toEqual(table.sort());
  const names = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(names).size).toBe(names.length);
  for (const [path, methods] of Object.entries(document.paths)) {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    for (const { parameters = [] } of Object.values(methods)) {
      expect([
        path,
        parameters
          .filter((parameter) => parameter.in === 'path')
          .map(({ name }) => name)
          .sort(),
      ]).toEqual([path, wanted]);
    }
  }
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining(['Instance', 'Event', 'Problem', 'Settings']),
  );
});

test('the settings are shown, changed, used at once, and the change is in the ledger', async () => {
  const settings = await server.call<Settings>('GET', '/api/settings');
  expect(settings.json).toEqual({ hot_to_warm_s: 30, idle_to_suspend_s: 900, idle_to_freeze_s: 86_400 });
  const changed = await server.call<Settings>('PATCH', '/api/settings', { hot_to_warm_s: 0, idle_to_suspend_s: 30 });
  expect(changed.json).toEqual({ hot_to_warm_s: 0, idle_to_suspend_s: 30, idle_to_freeze_s: 86_400 });
  await server.call('POST', '/api/instances', { id: 'idler', tenant: 'acme' });
  await server.call('POST', '/api/instances/idler/resume');
  const now = server.clock.now() / 1000;
  expect((await server.call<Instance>('GET', '/api/instances/idler')).json.next).toMatchObject({
    state: 'suspended',
    at: now + 30,
  });
  server.clock.advance(30);
  await server.host.sandboxes.tick();
  expect((await server.call<Instance>('GET', '/api/instances/idler')).json.state).toBe('suspended');
  const events = await server.call<Event[]>('GET', '/api/events?type=settings.changed');
  expect(events.json[0]).toMatchObject({ actor: 'key:admin', instance: null });
  for (const wrong of [{ idle_to_suspend_s: 0 }, { hot_to_warm_s: -1 }, { idle_to_suspend_s: '30' }, { other: 1 }]) {
    expect((await server.call('PATCH', '/api/settings', wrong)).status).toBe(422);
  }
});

test('the metrics follow what happens', async () => {
  const before = {
    active: (await metric('winterdock_instances{state="active"}')) ?? 0,
    fresh: (await metric('winterdock_resume_cold_total{source="fresh"}')) ?? 0,
    warm: (await metric('winterdock_resume_total{path="warm"}')) ?? 0,
    suspended: (await metric('winterdock_transition_total{from="active",to="suspended",trigger="request"}')) ?? 0,
  };
  await server.call('POST', '/api/instances', { id: 'counted', tenant: 'acme' });
  await server.call('POST', '/api/instances/counted/exec', { command: 'true' });
  await server.call('POST', '/api/instances/counted/resume');
  expect(await metric('winterdock_instances{state="active"}')).toBe(before.active + 1);
  expect(await metric('winterdock_resume_cold_total{source="fresh"}')).toBe(before.fresh + 1);
  expect(await metric('winterdock_resume_total{path="warm"}')).toBe(before.warm + 1);
  expect(await metric('winterdock_resume_seconds_count{path="cold",source="fresh"}')).toBe(before.fresh + 1);
  await server.call('POST', '/api/instances/counted/suspend');
  expect(await metric('winterdock_transition_total{from="active",to="suspended",trigger="request"}')).toBe(
    before.suspended + 1,
  );
  await server.call('POST', '/api/instances/counted/resume');
  expect(await metric('winterdock_resume_cold_total{source="local"}')).toBe(1);
  for (const fault of ['error', 'unknown', 'corrupt', 'missing']) {
    expect(await metric(`winterdock_faults{fault="${fault}"}`)).toBe(0);
  }
  expect(await metric('winterdock_calls_running')).toBe(0);
  expect(await metric('winterdock_wakes_waiting')).toBe(0);
  expect(await metric('winterdock_wake_wait_seconds_count{outcome="admitted"}')).toBeGreaterThanOrEqual(2);
  await vi.waitFor(async () => expect(await metric('winterdock_pool_ready')).toBe(1), { timeout: 240_000 });
  expect(await metric('process_resident_memory_bytes')).toBeGreaterThan(1024 * 1024);
});

test('a server is ready until its data folder is missing', async () => {
  const other = await startServer({ settings: { WB_LOG: 'silent' } });
  try {
    expect((await other.call('GET', '/readyz', undefined, { key: null })).json).toEqual({
      status: 'ok',
      walls: other.host.walls.states,
    });
    rmSync(other.folder, { recursive: true });
    await vi.waitFor(async () => {
      const answer = await other.call('GET', '/readyz', undefined, { key: null });
      expect([answer.status, answer.json.code]).toEqual([503, 'storage_unavailable']);
      expect(answer.text).not.toContain(other.folder);
    }, 240_000);
    expect((await other.call('GET', '/healthz', undefined, { key: null })).status).toBe(200);
  } finally {
    await other.stop();
  }
});
