import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { Event, PreviewAnswer, Tenant } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let clock: FakeClock;
let server: TestServer;
beforeEach(async () => {
  const started = await startServer();
  server = started;
  clock = started.clock;
});
afterEach(() => server.stop());

test('what other thresholds would do within a minute is counted, and setting them does that', async () => {
  const input = (id: string, more: object = {}) =>
    server.call('POST', '/api/instances', { id, tenant: 'acme', ...more });
  await input('plain');
  await input('own', { idle_to_suspend_s: 7200 });
  await input('hot', { keep_hot: true });
  await input('brief', { ephemeral: true });
  await input('held');
  await input('asleep');
  await input('elsewhere', { tenant: 'globex' });
  for (const id of ['plain', 'own', 'hot', 'brief', 'held', 'asleep', 'elsewhere'])
    expect((await server.call('POST', `/api/instances/${id}/resume`, {})).status).toBe(200);
  const { hold_until: until } = (
    await server.call<{ hold_until: number }>('PATCH', '/api/instances/held', {
      hold_until: Math.floor(clock.now() / 1000) + 7200,
    })
  ).json;
  expect(until).toBeGreaterThan(0);
  await server.call('POST', '/api/instances/asleep/suspend', {});
  await server.call('PATCH', '/api/tenants/globex', { idle_to_suspend_s: 3600 });
  clock.advance(400);
  const look = async (body: object) => (await server.call<PreviewAnswer>('POST', '/api/settings/preview', body)).json;
  const none = { suspended: 0, frozen: 0, ended: 0 };
  expect(await look({})).toEqual({ within_s: 60, more: none, fewer: none, cut: false });
  expect(await look({ hot_to_warm_s: 1 })).toMatchObject({ more: none, fewer: none });
  expect(await look({ idle_to_suspend_s: 461 })).toMatchObject({ more: none });
  expect(await look({ idle_to_suspend_s: 460, idle_to_freeze_s: 460 })).toMatchObject({
    more: { suspended: 1, frozen: 1, ended: 1 },
    fewer: none,
  });
  expect(await look({ tenant: 'globex', idle_to_suspend_s: 300 })).toMatchObject({ more: { ...none, suspended: 1 } });
  expect(await look({ tenant: 'globex', idle_to_suspend_s: null })).toMatchObject({ more: none });
  expect((await server.call('POST', '/api/settings/preview', { idle_to_suspend_s: null })).status).toBe(422);

  await server.call('PATCH', '/api/settings', { idle_to_suspend_s: 460 });
  clock.advance(60);
  expect(await look({ idle_to_suspend_s: 900 })).toMatchObject({ more: none, fewer: { suspended: 1, ended: 1 } });
  await server.host.sandboxes.tick();
  const list = await server.call<{ id: string; state: string }[]>('GET', '/api/instances?limit=50');
  const asleep = list.json.filter(({ state }) => state !== 'active').map(({ id }) => id);
  expect(asleep.toSorted()).toEqual(['asleep', 'plain']);
  expect((await server.call('GET', '/api/instances/brief')).status).toBe(410);
  const [line] = (await server.call<Event[]>('GET', '/api/events?type=settings.changed')).json;
  expect(line?.reason).toBe('idle_to_suspend_s=460');
});

test('tenants are found by a part of their name, and those with thresholds of their own', async () => {
  for (const name of ['acme', 'acme-labs', 'globex'])
    await server.call('POST', '/api/instances', { id: `of-${name}`, tenant: name });
  await server.call('PATCH', '/api/tenants/globex', { idle_to_freeze_s: 60 });
  await server.call('PATCH', '/api/tenants/acme-labs', { hot_to_warm_s: 0 });
  const names = async (query: string) =>
    (await server.call<Tenant[]>('GET', `/api/tenants?${query}`)).json.map(({ tenant: name }) => name);
  expect(await names('q=LAB')).toEqual(['acme-labs']);
  expect(await names('q=acme')).toEqual(['acme', 'acme-labs']);
  expect(await names('own_thresholds=true')).toEqual(['acme-labs', 'globex']);
  expect(await names('q=glob&own_thresholds=true')).toEqual(['globex']);
});
