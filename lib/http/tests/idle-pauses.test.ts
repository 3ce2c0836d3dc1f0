import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { DryRun, Event, Instance } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer & { clock: FakeClock };

beforeAll(async () => {
  server = await startServer();
  for (const [id, extra] of [
    ['idle', {}],
    ['other', { tenant: 'globex' }],
    ['kept', { keep_hot: true }],
    ['never', { hot_to_warm_s: 0 }],
    ['late', { hot_to_warm_s: 300 }],
    ['asleep', {}],
  ] as const) {
    await server.call('POST', '/api/instances', { id, tenant: 'acme', ...extra });
    await server.call('POST', `/api/instances/${id}/resume`);
  }
  await server.call('POST', '/api/instances/asleep/suspend', {});
  server.clock.advance(30);
  await server.host.sandboxes.tick();
});
afterAll(() => server.stop());

const see = async (id: string) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json;
const ids = async (query: string) =>
  (await server.call<Instance[]>('GET', `/api/instances?${query}`)).json.map(({ id }) => id).sort();
const gauge = async (thermal: string) => {
  const { text } = await server.call('GET', '/metrics');
  return Number(new RegExp(`^winterdock_instances_thermal\\{thermal="${thermal}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
};

test('a sandbox that idled is active and warm, and says since when and nothing else about its state', async () => {
  const now = server.clock.now() / 1000;
  const warm = await see('idle');
  expect(warm).toMatchObject({ state: 'active', thermal: 'warm', warm_since: now, attached: 0 });
  expect(warm.next).toEqual({ state: 'suspended', at: warm.updated + 900, because: 'idle for 900 s' });
  expect(await see('kept')).toMatchObject({ thermal: 'hot', warm_since: null });
  expect(await see('asleep')).toMatchObject({ thermal: 'cold', warm_since: null });
  const [line] = (await server.call<Event[]>('GET', '/api/instances/idle/events?type=thermal.warm')).json;
  expect(line).toMatchObject({ trigger: 'idle', from: null, to: null });
});

test.each([
  ['thermal=warm', ['idle', 'other']],
  ['thermal=warm&tenant=globex', ['other']],
  ['thermal=warm&state=active&q=idle', ['idle']],
  ['thermal=warm&state=suspended', []],
  ['thermal=hot', ['kept', 'late', 'never']],
  ['thermal=hot&label=a:b', []],
  ['thermal=cold', ['asleep']],
  ['state=active', ['idle', 'kept', 'late', 'never', 'other']],
])('the filter "%s" knows which of the active ones are warm', async (query, expected) => {
  expect(await ids(query)).toEqual(expected);
  const { headers } = await server.call('GET', `/api/instances?${query}&limit=1`);
  expect(headers['x-total-count']).toBe(String(expected.length));
});

test('a job takes the warm ones by the same filter', async () => {
  const { json } = await server.call<DryRun>('POST', '/api/jobs', {
    verb: 'suspend',
    filter: { thermal: 'warm' },
    dry_run: true,
  });
  expect(json).toMatchObject({ matched: 2, will: 2 });
});

test('the metrics count hot, warm and cold, and looking changes none of them', async () => {
  await server.call('GET', '/api/instances/idle/volumes');
  expect([await gauge('hot'), await gauge('warm'), await gauge('cold')]).toEqual([3, 2, 1]);
});

test('a request continues it, and the answer, the row and the list say so', async () => {
  const exec = await server.call<{ woke: string }>('POST', '/api/instances/idle/exec', { command: 'true' });
  expect(exec.json.woke).toBe('warm');
  expect(await see('idle')).toMatchObject({ state: 'active', thermal: 'hot', warm_since: null });
  expect(await ids('thermal=warm')).toEqual(['other']);
  await expect
    .poll(async () => (await server.call('GET', '/metrics')).text)
    .toMatch(/^winterdock_thermal_total\{move="wake"\} 1$/m);
});

test('a changed time to pause counts from the next round: of a tenant, and of one sandbox', async () => {
  await server.call('PATCH', '/api/tenants/acme', { hot_to_warm_s: 100 });
  server.clock.advance(99);
  await server.host.sandboxes.tick();
  expect((await see('idle')).thermal).toBe('hot');
  await server.call('PATCH', '/api/instances/idle', { hot_to_warm_s: 60 });
  await server.host.sandboxes.tick();
  expect((await see('idle')).thermal).toBe('warm');
  expect((await see('never')).thermal).toBe('hot');
});
