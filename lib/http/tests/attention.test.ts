/** What needs a person, by the API: each warning before its wall, who sees it, and what is acknowledged of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import type { Attention, BackupSettingsAnswer, WebhookWithSecret } from '../../contract/schema.ts';
import { type HttpsReceiver, startHttpsReceiver } from '../../outgoing/testing/https-receiver.ts';
import { invited } from '../../testing/people.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const DAY = 86_400;

let receiver: HttpsReceiver;
let root: string;
let server: TestServer & { clock: FakeClock };

beforeEach(async () => {
  receiver = await startHttpsReceiver(['localhost']);
  root = mkdtempSync(join(tmpdir(), 'winterdock-attention-'));
  server = await startServer({
    folder: join(root, 'data'),
    clock: new FakeClock(Date.now()),
    settings: { WB_OUTGOING_ALLOWED: `https://localhost:${receiver.port}` },
  });
});
afterEach(async () => {
  await server.stop();
  await receiver.stop();
  rmSync(root, { recursive: true, force: true });
});

async function ok<T>(method: string, path: string, body?: object, key?: string): Promise<T> {
  const answer = await server.call<T>(method, `/api${path}`, body, key === undefined ? {} : { key });
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.json;
}
/** Those of a kind. The room on the machine's own disk is not the test's. */
async function rows(kind: Attention['kind'], path = '/attention', key?: string): Promise<Attention[]> {
  return (await ok<Attention[]>('GET', path, undefined, key)).filter((row) => row.kind === kind);
}
const keyOf = async (role: string, tenant?: string) =>
  (await ok<{ key: string }>('POST', '/keys', { name: `${role} ${tenant ?? ''}`, role, tenant })).key;

/** A tenant at four fifths of its quota, which is noticed half a minute later. */
async function nearWall(tenant: string): Promise<void> {
  await ok('PATCH', `/tenants/${tenant}`, { max_sandboxes: 5 });
  for (let n = 0; n < 4; n += 1) await ok('POST', '/instances', { id: `${tenant}-${n}`, tenant });
  server.clock.advance(31);
}

test('four fifths of a quota are a warning, all of it is wrong, and who sees it is whose it is', async () => {
  await nearWall('acme');
  await nearWall('globex');
  const [first, second, ...others] = await rows('quota');
  expect(others).toEqual([]);
  expect(first).toEqual({
    kind: 'quota',
    id: 'quota:acme:max_sandboxes',
    level: 'warning',
    tenant: 'acme',
    instance: null,
    name: 'acme',
    says: '4 of 5 sandboxes: 80 % of its quota.',
    page: '/tenants/acme#quotas',
    since: null,
    count: 1,
    acknowledged: null,
  });
  expect(await rows('quota', '/attention?tenant=globex')).toEqual([second]);
  const key = await keyOf('tenant', 'acme');
  expect(await rows('quota', '/attention', key)).toEqual([first]);
  expect((await server.call('GET', '/api/attention?tenant=globex', undefined, { key })).status).toBe(403);
  await ok('POST', '/instances', { id: 'acme-last', tenant: 'acme' });
  server.clock.advance(31);
  expect(await rows('quota', '/attention?tenant=acme')).toMatchObject([
    { id: 'quota:acme:max_sandboxes:full', level: 'wrong' },
  ]);
});

test('no backup is a warning once there is something to lose, an old one too, a failed one is wrong', async () => {
  expect(await rows('backup')).toEqual([]);
  await ok('POST', '/instances', { id: 'a', tenant: 'acme' });
  const none = { id: 'backup:none', level: 'warning', says: 'None was ever made, and none is planned.' };
  expect(await rows('backup')).toMatchObject([none]);
  expect(await rows('backup', '/attention', await keyOf('tenant', 'acme'))).toEqual([]);

  const settings = { target: join(root, 'place') };
  await ok<BackupSettingsAnswer>('PUT', '/settings/backups', settings);
  await ok('POST', '/backups', {});
  await server.host.backups.runner.tick();
  expect(await rows('backup')).toEqual([]);
  server.clock.advance(8 * DAY);
  expect(await rows('backup')).toMatchObject([
    { id: 'backup:none', level: 'warning', says: 'The last one is 1 week old, and none is planned.' },
  ]);

  await ok('PUT', '/settings/backups', { enabled: true, cron: '0 * * * *' });
  rmSync(join(root, 'place'), { recursive: true });
  server.clock.advance(2 * 3600);
  await server.host.backups.runner.tick();
  expect(await rows('backup')).toMatchObject([{ level: 'wrong', since: expect.any(Number) }]);
});

test('a webhook that does not get through is a warning, until it does', async () => {
  const url = `https://localhost:${receiver.port}/hook`;
  const hook = { name: 'pager', url, types: ['instance.*'] };
  const { id } = await ok<WebhookWithSecret>('POST', '/webhooks', hook);
  receiver.answer = (_request, response) => response.writeHead(503).end();
  await ok('POST', '/instances', { id: 'a', tenant: 'acme' });
  const settle = async () => {
    await server.host.courier.tick();
    await server.host.courier.tick();
    await server.host.courier.idle();
  };
  await settle();
  const warning = { id: `webhook:${id}`, level: 'warning', name: 'pager', page: `/settings/webhooks/${id}` };
  expect(await rows('webhook')).toMatchObject([warning]);
  expect(await rows('webhook', '/attention', await keyOf('tenant', 'acme'))).toEqual([]);
  receiver.answer = (_request, response) => response.writeHead(204).end();
  server.clock.advance(3600);
  await settle();
  expect(await rows('webhook')).toEqual([]);
});

test('a schedule that failed once is none, and one that failed twice is a warning with why', async () => {
  await ok('POST', '/instances', { id: 'tired', tenant: 'acme' });
  const { id } = await ok<{ id: string }>('POST', '/instances/tired/schedules', {
    cron: '0 3 * * *',
    command: 'exit 3',
  });
  for (let failures = 1; failures <= 2; failures += 1) {
    expect(await rows('schedule')).toEqual([]);
    await ok('POST', `/instances/tired/schedules/${id}/run`, {});
    const isDone = async () => (await server.host.registry.schedules.get(id))?.failures === failures;
    await expect.poll(isDone, { timeout: 60_000 }).toBe(true);
    server.clock.advance(31);
  }
  expect(await rows('schedule', '/attention', await keyOf('tenant', 'acme'))).toMatchObject([
    { id: `schedule:${id}`, level: 'warning', instance: 'tired', page: '/sandboxes/tired?tab=schedules#parts' },
  ]);
});

test('what is acknowledged stays so for everybody until its time, with a line of the ledger, and is taken back', async () => {
  await nearWall('acme');
  const at = '/attention/quota:acme:max_sandboxes/acknowledge';
  const until = Math.floor(server.clock.now() / 1000) + DAY;
  const support = await keyOf('support', 'acme');
  const done = await ok<Attention>('POST', at, { until, reason: 'more is ordered' }, support);
  const by = { actor: expect.stringMatching(/^key:/), actor_name: 'support acme', until, reason: 'more is ordered' };
  expect(done.acknowledged).toMatchObject(by);
  expect(await rows('quota')).toMatchObject([{ acknowledged: by }]);
  const [line] = await ok<object[]>('GET', '/events?type=attention.acknowledged');
  expect(line).toMatchObject({ tenant: 'acme', reason: 'quota:acme:max_sandboxes: more is ordered' });
  server.clock.advance(DAY);
  expect(await rows('quota')).toMatchObject([{ acknowledged: null }]);

  await ok('POST', at, {});
  expect(await rows('quota')).toMatchObject([{ acknowledged: { until: null } }]);
  await ok('DELETE', at);
  expect(await rows('quota')).toMatchObject([{ acknowledged: null }]);
  expect((await server.call('DELETE', `/api${at}`)).status).toBe(404);
});

test('who may not decide is refused, and what another tenant has is like what there is not', async () => {
  await nearWall('acme');
  const at = '/api/attention/quota:acme:max_sandboxes/acknowledge';
  for (const [role, tenant] of [
    ['viewer', undefined],
    ['tenant', 'acme'],
  ] as const) {
    const key = await keyOf(role, tenant);
    for (const method of ['POST', 'DELETE'])
      expect((await server.call(method, at, method === 'POST' ? {} : undefined, { key })).status).toBe(403);
  }
  const foreign = await keyOf('operator', 'globex');
  expect((await server.call('POST', at, {}, { key: foreign })).status).toBe(404);
  expect((await server.call('POST', '/api/attention/nothing/acknowledge', {})).status).toBe(404);
  expect((await server.call('POST', at, { until: 1 })).json).toMatchObject({
    code: 'validation',
    errors: [{ path: 'until' }],
  });
  await ok('POST', '/attention/quota:acme:max_sandboxes/acknowledge', {});
  expect((await server.call('DELETE', at, undefined, { key: foreign })).status).toBe(404);
  const own = await keyOf('operator', 'acme');
  expect((await server.call('DELETE', at, undefined, { key: own })).status).toBe(204);
});

test('more faults than are shown are one row, which whoever is of one tenant may acknowledge, and of two not', async () => {
  const { registry } = server.host;
  for (let n = 0; n < 22; n += 1) {
    const id = `broken-${n}`;
    await ok('POST', '/instances', { id, tenant: 'acme' });
    await ok('POST', `/instances/${id}/resume`, {});
    await ok('POST', `/instances/${id}/suspend`, {});
    rmSync(join(root, 'data', 'live', id, 'vfs.sqlite'));
    await server.call('POST', `/api/instances/${id}/resume`, {});
  }
  expect(
    (await registry.instances.list({ fault: 'missing', sort: 'updated', reverse: false, limit: 50 })).rows,
  ).toHaveLength(22);
  const all = await rows('fault');
  expect(all).toHaveLength(21);
  const more = { level: 'wrong', count: 2, says: '22 are missing.' };
  expect(all.at(-1)).toMatchObject({ ...more, id: 'more:missing:2', tenant: null });
  const own = await keyOf('operator', 'acme');
  expect((await rows('fault', '/attention', own)).at(-1)).toMatchObject({ ...more, id: 'more:missing:acme:2' });
  await ok('POST', '/attention/more:missing:acme:2/acknowledge', {}, own);
  const cookie = await invited(server.host.auth, 'operator', { tenants: ['acme', 'globex'] });
  const refused = await server.call(
    'POST',
    '/api/attention/more:missing:2/acknowledge',
    {},
    {
      key: null,
      headers: { cookie, origin: server.url },
    },
  );
  expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
});
