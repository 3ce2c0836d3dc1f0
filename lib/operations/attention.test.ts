/** What comes near a wall, and who sees it; until when an acknowledgement holds. The rest is in the API's own test. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import type { Role } from '../auth/roles.ts';
import { attentionMarks } from '../health/attention-marks.ts';
import { startServer, type TestServer } from '../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

function as(role: Role, tenants: readonly string[] | null): Caller {
  const actor = `user:${role}-${tenants?.join('-') ?? 'all'}`;
  return { actor, via: 'console', requestId: 'r1', role, tenants, address: null, session: null };
}

const all = as('admin', null);
const ofAcme = as('operator', ['acme']);
const ofGlobex = as('operator', ['globex']);

test('a tenant that has used four fifths of a quota is told of to those who see it', async () => {
  const { operations } = server.host;
  await server.call('PATCH', '/api/tenants/acme', { max_sandboxes: 5, max_active: 100 });
  await server.call('PATCH', '/api/tenants/globex', { max_sandboxes: 5 });
  for (const id of ['a1', 'a2', 'a3', 'a4']) await server.call('POST', '/api/instances', { id, tenant: 'acme' });
  for (const id of ['g1', 'g2', 'g3']) await server.call('POST', '/api/instances', { id, tenant: 'globex' });
  const near = { tenant: 'acme', quota: 'max_sandboxes', used: 4, limit: 5 };
  expect(await operations.nearQuotas(all, {})).toEqual([near]);
  expect(await operations.nearQuotas(ofAcme, {})).toEqual([near]);
  expect(await operations.nearQuotas(ofGlobex, {})).toEqual([]);
});

test('the room on the disk is for those who run the whole server', async () => {
  const { operations } = server.host;
  const { bytes, free_bytes: free } = await operations.diskRoom(all);
  expect(free).toBeGreaterThan(0);
  expect(bytes).toBeGreaterThan(free);
  await expect(operations.diskRoom(ofAcme)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(operations.diskRoom(as('viewer', null))).rejects.toMatchObject({ code: 'forbidden' });
});

test('an acknowledgement ends at its time, and goes with its tenant', async () => {
  const { registry, clock } = server.host;
  const [line] = (await registry.ledger.page({}, 1)).rows;
  if (line === undefined) throw new Error('The ledger is empty.');
  const { seq: _, ...entry } = line;
  let now = clock.now();
  const marks = attentionMarks(registry, { ...clock, now: () => now });
  const mark = { by: 'user:one', reason: null, until: Math.floor(now / 1000) + 60 };
  await marks.put({ ...mark, key: 'brief', tenant: 'acme' }, entry);
  await marks.put({ ...mark, key: 'lasting', tenant: 'acme', until: null }, entry);
  await marks.put({ ...mark, key: 'theirs', tenant: 'globex', until: null }, entry);
  const keys = async () => (await marks.list()).map(({ key }) => key);
  expect(await keys()).toEqual(['brief', 'lasting', 'theirs']);
  now += 61_000;
  expect(await keys()).toEqual(['lasting', 'theirs']);
  await marks.forget('acme');
  expect(await keys()).toEqual(['theirs']);
  now += 31 * 86_400_000;
  expect(await keys()).toEqual([]);
});

test('a schedule that failed twice one after another is told of, with why', async () => {
  const { operations } = server.host;
  await server.call('POST', '/api/instances', { id: 'tired', tenant: 'acme' });
  const schedule = { cron: '0 3 * * *', command: 'exit 3' };
  const made = await server.call<{ id: string }>('POST', '/api/instances/tired/schedules', schedule);
  expect(made.status).toBe(201);
  const at = `/api/instances/tired/schedules/${made.json.id}`;
  for (let failures = 1; failures <= 2; failures += 1) {
    await server.call('POST', `${at}/run`, {});
    const isDone = async () => (await server.host.registry.schedules.get(made.json.id))?.failures === failures;
    await expect.poll(isDone, { timeout: 60_000 }).toBe(true);
  }
  // What was read before is kept for half a minute: another server has read nothing yet.
  const [failing] = await server.host.registry.schedules.failing(2, 10);
  expect(failing).toMatchObject({ id: made.json.id, failures: 2 });
  expect(await operations.failingSchedules(ofAcme, {})).toMatchObject([
    { id: made.json.id, instance: 'tired', tenant: 'acme', action: 'exit 3', failures: 2 },
  ]);
  expect(await operations.failingSchedules(ofGlobex, {})).toEqual([]);
});
