/** Schedules of workbooks over HTTP: taken over at docking and upgrade, and components that run at their times. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import type { Instance, Schedule, ScheduleRun } from '../contract/schema.ts';
import { readExamples } from '../host/examples.ts';
import { startServer, type TestServer } from '../testing/server.ts';

const MIDNIGHT = Date.UTC(2026, 10, 23) / 1000;
const HOUR = 3600;

/** A world whose `schedule` lines follow its heading, and a component whose own follow its. */
const sourceOf = (world: string, component: string) => `#+TITLE: Night
* main :workflow:
${world}
** write :component:
${component}
#+begin_src js :uses vfs :out wrote:boolean
export default () => { vfs.put('/wrote', 'by a component'); return { wrote: true }; };
#+end_src
** fail :component:
#+begin_src js
export default () => { throw new Error('a secret'); };
#+end_src
* quiet :workflow:
** count :component:
#+begin_src js :uses vfs
export default () => { vfs.put('/counted', 'x'); };
#+end_src
`;
const NIGHTLY = ':PROPERTIES:\n:SCHEDULE: 0 3 * * *\n:TIMEZONE: Europe/Berlin\n:END:';

let server: TestServer & { clock: FakeClock };
beforeEach(async () => {
  server = await startServer({
    clock: new FakeClock(MIDNIGHT * 1000),
    settings: { WB_TICK_MS: '60000', WB_SCHEDULES_PER_SANDBOX: '3', WB_SCHEDULES_PER_TENANT: '6' },
  });
});
afterEach(() => server.stop());

const put = async (source: string) => {
  const stored = await server.call('PUT', '/api/workbooks/night?tenant=acme', source);
  expect([stored.status < 300, stored.json.problems]).toEqual([true, 0]);
};
const create = async () => {
  const made = await server.call<Instance>('POST', '/api/instances', { id: 'sb', tenant: 'acme', workbook: 'night' });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
};
const list = async () => (await server.call<Schedule[]>('GET', '/api/instances/sb/schedules')).json;
const round = async () => {
  await server.host.scheduler.tick();
  await server.host.scheduler.idle();
};
const runsOf = async ({ id }: Schedule) =>
  (await server.call<ScheduleRun[]>('GET', `/api/instances/sb/schedules/${id}/runs`)).json;
const fileOf = async (path: string) => (await server.call('GET', `/api/instances/sb/volumes/workspace${path}`)).text;

test('a sandbox has the schedules of the version that it is docked to, from its creation to its undocking', async () => {
  await put(sourceOf(NIGHTLY, 'SCHEDULED: <2026-11-23 Mon 01:00 +1d>'));
  await create();
  await round();
  expect(await list()).toMatchObject([
    { component: 'main', cron: '0 3 * * *', timezone: 'Europe/Berlin', source: 'workbook', missed: 'skip' },
    { component: 'main/write', at: MIDNIGHT + HOUR, repeat: '+1d', source: 'workbook', missed: 'all' },
  ]);
  await put(sourceOf('', NIGHTLY));
  const upgraded = await server.call('PATCH', '/api/instances/sb', { workbook: 'night', accept_changes: true });
  expect([upgraded.status, upgraded.text]).toEqual([200, expect.any(String)]);
  await round();
  expect(await list()).toMatchObject([{ component: 'main/write', cron: '0 3 * * *', at: null }]);
  await server.call('PATCH', '/api/instances/sb', { workbook: null, accept_changes: true });
  await round();
  expect(await list()).toEqual([]);
  expect(await server.host.registry.schedules.unsynchronised(10)).toEqual([]);
});

test('a component and a world run at their times; what a component said of its failure stays in the sandbox', async () => {
  await put(sourceOf('', 'SCHEDULED: <2026-11-23 Mon 01:00 +1d>'));
  await create();
  const at = '/api/instances/sb/schedules';
  for (const [component, path] of [
    ['fail', 'main/fail'],
    ['quiet', 'quiet'],
  ]) {
    const made = await server.call<Schedule>('POST', at, { cron: '0 1 * * *', component });
    expect([made.status, made.json.component]).toEqual([201, path]);
  }
  expect((await server.call('POST', at, { cron: '0 1 * * *', component: 'nobody' })).status).toBe(404);
  await round();
  server.clock.advance(HOUR);
  await round();
  server.clock.advance(70);
  await round();
  expect(await fileOf('/wrote')).toBe('by a component');
  expect(await fileOf('/counted')).toBe('x');
  const all = await list();
  const [failing, world, declared] = ['main/fail', 'quiet', 'main/write'].map((path) =>
    all.find(({ component }) => component === path),
  ) as [Schedule, Schedule, Schedule];
  expect(failing).toMatchObject({ failures: 1, fault: 'The component "main/fail" failed: component.' });
  expect(world).toMatchObject({ last_result: 'done', fault: null });
  expect(declared).toMatchObject({ component: 'main/write', last_result: 'done', next_at: MIDNIGHT + 25 * HOUR });
  expect(await runsOf(failing)).toMatchObject([{ result: 'failed', exit_code: null }]);
  const told = await server.call('GET', '/api/events?type=schedule.failed');
  expect(told.text).not.toContain('a secret');
  await server.call('POST', '/api/instances/sb/suspend', {});
  const log = await fileOf('/events.org');
  expect(log).toContain('main/write');
  expect(log).toMatch(/:TRIGGER: schedule/i);
});

test('the nightly example cleans and packs at three in Berlin', async () => {
  const nightly = readExamples().find(({ id }) => id === 'nightly');
  if (nightly === undefined) throw new Error('There is no such example.');
  await put(nightly.source);
  await create();
  for (const { path, content } of nightly.files) {
    await server.call('PUT', `/api/instances/sb/volumes/workspace${path}`, content);
  }
  await server.call('PUT', '/api/instances/sb/volumes/workspace/cache/tiles.tmp', 'tiles');
  await server.call('POST', '/api/instances/sb/suspend', {});
  await round();
  const [schedule] = await list();
  if (schedule === undefined) throw new Error('It has no schedule.');
  expect(schedule.next_at).toBe(MIDNIGHT + 2 * HOUR);
  server.clock.advance(2 * HOUR - 1);
  await round();
  expect(await runsOf(schedule)).toEqual([]);
  server.clock.advance(1);
  await round();
  expect(await runsOf(schedule)).toMatchObject([{ planned_at: MIDNIGHT + 2 * HOUR, result: 'done', woke: 'cold' }]);
  const packed = JSON.parse(await fileOf('/outbox/work.json'));
  expect(packed.files.map(({ path }: { path: string }) => path)).toEqual(['/work/boats.json', '/work/minutes.md']);
  expect((await server.call('GET', '/api/instances/sb/volumes/workspace/cache/tiles.tmp')).status).toBe(404);
  expect((await list())[0]?.next_at).toBe(MIDNIGHT + 26 * HOUR);
});

test('a docking that brings more schedules than there may be is refused, and changes nothing', async () => {
  await put(sourceOf(NIGHTLY, NIGHTLY));
  const made = await server.call('POST', '/api/instances', { id: 'sb', tenant: 'acme' });
  expect(made.status).toBe(201);
  for (let n = 0; n < 2; n += 1) {
    await server.call('POST', '/api/instances/sb/schedules', { cron: '0 1 * * *', command: 'true' });
  }
  const refused = await server.call('PATCH', '/api/instances/sb', { workbook: 'night', name: 'other' });
  expect([refused.status, refused.json]).toMatchObject([
    429,
    { code: 'quota_exceeded', quota: 'schedules_per_sandbox', limit: 3, used: 2 },
  ]);
  await round();
  expect((await server.call<Instance>('GET', '/api/instances/sb')).json).toMatchObject({ workbook: null, name: null });
  expect(await list()).toHaveLength(2);
  expect((await server.call<unknown[]>('GET', '/api/events?type=instance.docked')).json).toEqual([]);

  // Each docking counts at once, although its schedules follow later.
  const dock = (id: string) => server.call('POST', '/api/instances', { id, tenant: 'acme', workbook: 'night' });
  expect((await dock('sb-2')).status).toBe(201);
  const docked = await Promise.all(['sb-3', 'sb-4'].map(async (id) => [(await dock(id)).status, id] as const));
  expect(docked.map(([status]) => status).toSorted()).toEqual([201, 429]);
  const [, fitting] = docked.find(([status]) => status === 201) ?? [];
  const [, none] = docked.find(([status]) => status === 429) ?? [];
  expect((await server.call('GET', `/api/instances/${none}`)).status).toBe(404);
  const full = await server.call('POST', '/api/instances/sb/schedules', { cron: '0 1 * * *', command: 'true' });
  expect([full.status, full.json]).toMatchObject([429, { quota: 'schedules_per_tenant', limit: 6, used: 6 }]);
  await round();
  expect((await server.call<unknown[]>('GET', `/api/instances/${fitting}/schedules`)).json).toHaveLength(2);
});

test('an import whose workbook brings too many schedules leaves neither a sandbox nor a workbook', async () => {
  await put(sourceOf(NIGHTLY, NIGHTLY));
  await create();
  const shipped = await server.call('POST', '/api/instances/sb/ship', {});
  expect(shipped.status).toBe(200);
  for (const id of ['one', 'two']) {
    await server.call('POST', '/api/instances', { id, tenant: 'globex' });
    for (let n = 0; n < 3; n += 1) {
      await server.call('POST', `/api/instances/${id}/schedules`, { cron: '0 1 * * *', command: 'true' });
    }
  }
  const refused = await server.call('POST', '/api/instances/import?tenant=globex', shipped.bytes);
  expect([refused.status, refused.json]).toMatchObject([
    429,
    { code: 'quota_exceeded', quota: 'schedules_per_tenant', limit: 6, used: 6 },
  ]);
  expect((await server.call<unknown[]>('GET', '/api/workbooks?tenant=globex')).json).toEqual([]);
  expect((await server.call<unknown[]>('GET', '/api/instances?tenant=globex')).json).toHaveLength(2);
  // A source that is known already is refused as well, in the transaction of the new row.
  await server.call('PUT', '/api/workbooks/here?tenant=globex', sourceOf(NIGHTLY, NIGHTLY));
  expect((await server.call('POST', '/api/instances/import?tenant=globex', shipped.bytes)).status).toBe(429);
  expect((await server.call<unknown[]>('GET', '/api/instances?tenant=globex')).json).toHaveLength(2);
});
