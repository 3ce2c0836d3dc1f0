/**
 * What the console's pages ask and note beside sandboxes, of whichever registry the server has: tombstones that a text
 * finds, tenants near their quotas, schedules that fail, what was acknowledged, and the zone that somebody chose. All
 * of it is there for the server that comes after.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../../auth/caller.ts';
import type { FakeClock } from '../../base/clock.ts';
import type { Attention, Instance } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let folder: string;
let server: TestServer & { clock: FakeClock };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-console-reads-'));
  server = await startServer({ folder });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The server ends, and another one begins on what it left. */
async function restart(): Promise<void> {
  const { clock } = server;
  await server.stop();
  server = await startServer({ folder, clock });
}

function person(name: string, tenants: readonly string[] | null = null): Caller {
  const own = { role: 'admin', via: 'console', requestId: name, address: null, session: null } as const;
  return { ...own, actor: `user:${name}`, tenants };
}

/** The ids of a page, how many there are in all, and where the next page is. */
async function found(query: string, path = `/api/instances?${query}`) {
  const { status, json, headers } = await server.call<Instance[]>('GET', path);
  expect([path, status]).toEqual([path, 200]);
  const next = /^<(.+)>; rel="next"$/.exec(headers.link ?? '')?.[1];
  return { ids: json.map(({ id }) => id), total: headers['x-total-count'], next };
}

test('a text finds what was deleted, page by page, and never beside what lives', async () => {
  for (const n of [1, 2, 3, 4, 5]) {
    const own = { id: `lamp-${n}`, tenant: n === 5 ? 'globex' : 'acme', name: `Lamp of Ørsted ${n}%_` };
    const made = await server.call('POST', '/api/instances', {
      ...own,
      labels: { hall: n % 2 === 0 ? 'even' : 'odd' },
    });
    expect(made.status).toBe(201);
    server.clock.advance(1000);
  }
  for (const n of [1, 2, 3]) {
    expect((await server.call('POST', `/api/instances/lamp-${n}/plan`, { to: 'archived' })).status).toBe(200);
    expect((await server.call('DELETE', `/api/instances/lamp-${n}`)).status).toBe(204);
    server.clock.advance(1000);
  }
  await restart();
  const text = 'state=deleted&q=';
  expect((await found(`${text}lamp`)).ids).toEqual(['lamp-3', 'lamp-2', 'lamp-1']);
  expect((await found(`${text}${encodeURIComponent('ØRST')}`)).ids).toEqual(['lamp-3', 'lamp-2', 'lamp-1']);
  expect((await found(`${text}amp-2`)).ids).toEqual(['lamp-2']);
  expect((await found(`${text}lamp-4`)).ids).toEqual([]);
  expect((await found(`${text}lamp&label=hall:odd`)).ids).toEqual(['lamp-3', 'lamp-1']);
  expect((await found(`${text}lamp&tenant=globex`)).ids).toEqual([]);
  expect((await found('q=lamp')).ids).toEqual(['lamp-5', 'lamp-4']);
  const first = await found(`${text}lamp&limit=2`);
  expect(first).toMatchObject({ ids: ['lamp-3', 'lamp-2'], total: '3' });
  expect(await found('', first.next)).toMatchObject({ ids: ['lamp-1'], next: undefined });
});

test('tenants near their quotas and schedules that fail are found after a restart as before', async () => {
  await server.call('PATCH', '/api/tenants/globex', { max_sandboxes: 1 });
  await server.call('PATCH', '/api/tenants/acme', { max_sandboxes: 100 });
  expect((await server.host.registry.quotas.limited()).sort()).toEqual(['acme', 'globex']);
  await server.call('PATCH', '/api/tenants/acme', { max_sandboxes: null });
  expect(await server.host.registry.quotas.limited()).toEqual(['globex']);
  const at = '/api/instances/lamp-4/schedules';
  const { json: schedule } = await server.call<{ id: string }>('POST', at, { cron: '0 3 * * *', command: 'exit 3' });
  for (let failures = 1; failures <= 2; failures += 1) {
    await server.call('POST', `${at}/${schedule.id}/run`, {});
    await expect
      .poll(async () => (await server.host.registry.schedules.get(schedule.id))?.failures, { timeout: 240_000 })
      .toBe(failures);
  }
  await restart();
  const { operations, registry } = server.host;
  expect(await registry.quotas.limited()).toEqual(['globex']);
  expect(await operations.nearQuotas(person('ada'), {})).toEqual([
    { tenant: 'globex', quota: 'max_sandboxes', used: 1, limit: 1 },
  ]);
  expect(await registry.schedules.failing(3, 10)).toEqual([]);
  expect(await operations.failingSchedules(person('ada', ['acme']), {})).toMatchObject([
    { id: schedule.id, instance: 'lamp-4', failures: 2 },
  ]);
});

test('what was acknowledged holds after a restart with its line in the chain, and goes with its tenant', async () => {
  const rows = async () => {
    const all = (await server.call<Attention[]>('GET', '/api/attention')).json;
    return all.filter(({ kind }) => kind === 'quota' || kind === 'schedule');
  };
  const [quota, schedule] = (await rows()).sort((one, other) => (one.kind < other.kind ? -1 : 1));
  expect([quota?.tenant, schedule?.tenant]).toEqual(['globex', 'acme']);
  const at = (row: Attention | undefined) => `/api/attention/${encodeURIComponent(row?.id ?? '')}/acknowledge`;
  // Postgres stores no U+0000 in a text: it comes back all the same.
  const reason = 'theirs \u0000 \ud83d\udca1';
  expect((await server.call('POST', at(quota), { reason })).status).toBe(200);
  expect((await server.call('POST', at(schedule), { until: 4_000_000_000 })).status).toBe(200);
  expect((await server.call('DELETE', at(schedule))).status).toBe(204);
  await restart();
  const marks = async () => (await rows()).map(({ kind, acknowledged }) => [kind, acknowledged?.reason ?? null]).sort();
  expect(await marks()).toEqual([
    ['quota', reason],
    ['schedule', null],
  ]);
  const { items } = await server.host.operations.events(person('ada'), { type: 'attention.acknowledged', limit: 10 });
  expect(items.map((line) => line.reason)).toEqual([schedule?.id, `${quota?.id}: ${reason}`]);
  expect((await server.call('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
  const forgetting = await server.call<{ id: string }>('DELETE', '/api/tenants/globex', { confirm: 'globex' });
  await expect
    .poll(async () => (await server.call<{ state: string }>('GET', `/api/jobs/${forgetting.json.id}`)).json.state, {
      timeout: 240_000,
    })
    .toBe('done');
  await restart();
  expect(await marks()).toEqual([['schedule', null]]);
});

test('each person has the zone that they chose, after a restart too, and a key has none', async () => {
  const { operations } = server.host;
  await operations.setOwnZone(person('ada'), 'Europe/Berlin');
  await operations.setOwnZone(person('gil'), 'UTC');
  await operations.setOwnZone(person('gil'), null);
  await restart();
  const zoneOf = (caller: Caller) => server.host.operations.ownZone(caller);
  expect([await zoneOf(person('ada')), await zoneOf(person('gil'))]).toEqual(['Europe/Berlin', null]);
  expect(await zoneOf({ ...person('ada'), actor: 'key:ada' })).toBeNull();
});
