import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Blueprint, Event, Instance, Tenant } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let folder: string;
let server: TestServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-replicate-'));
  server = await startServer({ folder });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const NOTHING = { replicate: 'off', recovery_point: { at: null, behind_s: null, as: 'none' } };
const create = (body: object) => server.call<Instance>('POST', '/api/instances', { tenant: 'acme', ...body });
const reasons = async (type: string) =>
  (await server.call<Event[]>('GET', `/api/events?type=${type}`)).json.map(({ reason }) => reason);

test('what is promised of a replica is set for a sandbox, a tenant and clones, and is off without a replica', async () => {
  expect((await create({ id: 'plain' })).json).toMatchObject({ own_replicate: null, ...NOTHING });
  const made = await create({ id: 'own', replicate: '5s' });
  expect([made.status, made.json]).toMatchObject([201, { own_replicate: '5s', ...NOTHING }]);

  const patch = (body: object) => server.call<Instance>('PATCH', '/api/instances/own', body);
  const before = await server.call('GET', '/api/instances/own');
  expect((await patch({ replicate: 'filed' })).json).toMatchObject({ own_replicate: 'filed' });
  const headers = { 'if-match': String(before.headers.etag) };
  const late = await server.call('PATCH', '/api/instances/own', { replicate: 'off' }, { headers });
  expect(late.status).toBe(412);
  expect((await patch({ replicate: null })).json).toMatchObject({ own_replicate: null });
  expect(await reasons('instance.changed')).toEqual(['replicate', 'replicate']);

  const ofTenant = (replicate: string | null) => server.call<Tenant>('PATCH', '/api/tenants/acme', { replicate });
  expect((await ofTenant('1s')).json.replicate).toBe('1s');
  expect((await ofTenant(null)).json.replicate).toBeNull();
  expect(await reasons('tenant.changed')).toEqual(['replicate=none', 'replicate=1s']);

  await server.call('PUT', '/api/instances/plain/volumes/workspace/a', Buffer.from('a'));
  const body = { name: 'base', from_instance: 'plain', replicate: '30s' };
  expect((await server.call<Blueprint>('POST', '/api/blueprints', body)).json.replicate).toBe('30s');
  const clones = await server.call<Instance[]>('POST', '/api/blueprints/base/clone', { tenant: 'acme', count: 2 });
  expect(clones.json.map(({ own_replicate: own }) => own)).toEqual(['30s', '30s']);
});

test('a promise that is none is refused in a sentence', async () => {
  for (const replicate of ['on', '0s', '01s', '3601s', '1m', '1.5s', ' 1s', '']) {
    const { status, json } = await server.call<{ errors?: unknown }>('POST', '/api/instances', {
      tenant: 'acme',
      replicate,
    });
    expect([replicate, status, json.errors]).toEqual([
      replicate,
      422,
      [{ path: 'replicate', message: 'must be off, filed, seconds from 1s to 3600s, or sync' }],
    ]);
  }
  for (const replicate of ['off', 'filed', '1s', '999s', '3600s'])
    expect((await create({ replicate })).status).toBe(201);
});

test('an answer that waits for a replica is promised by nobody without one', async () => {
  await create({ id: 'plain' });
  await server.call('PUT', '/api/instances/plain/volumes/workspace/a', Buffer.from('a'));
  const refused = [
    await create({ id: 'own', replicate: 'sync' }),
    await server.call('PATCH', '/api/instances/plain', { replicate: 'sync' }),
    await server.call('PATCH', '/api/tenants/acme', { replicate: 'sync' }),
    await server.call('POST', '/api/blueprints', { name: 'base', from_instance: 'plain', replicate: 'sync' }),
  ];
  const words = 'This server has no replica, so no answer could wait for one.';
  for (const { status, json } of refused)
    expect([status, json]).toMatchObject([409, { code: 'conflict', detail: words }]);
  expect((await server.call('GET', '/api/instances/own')).status).toBe(404);
});
