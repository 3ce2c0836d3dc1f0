/** Changing what a person may change, two at once, and saying why something goes. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Event, Instance } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
  expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
});
afterEach(() => server.stop());

const look = () => server.call<Instance>('GET', '/api/instances/a');
const patch = (body: object, etag?: string) =>
  server.call<Instance & { code?: string }>('PATCH', '/api/instances/a', body, {
    headers: etag === undefined ? {} : { 'if-match': etag },
  });

test('of two concurrent edits of one version the later one is refused, and nothing of it is written', async () => {
  const { etag = '' } = (await look()).headers;
  expect(etag).toMatch(/^"\w+"$/);
  const both = await Promise.all([patch({ name: 'first' }, etag), patch({ labels: { env: 'test' } }, etag)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  const refused = both.find(({ status }) => status === 412);
  expect(refused?.json.code).toBe('precondition_failed');
  const after = await look();
  expect([after.json.name !== null, Object.keys(after.json.labels).length > 0].filter(Boolean)).toHaveLength(1);
  expect(after.headers.etag).not.toBe(etag);
  expect((await patch({ name: 'second' }, after.headers.etag)).headers.etag).not.toBe(after.headers.etag);
  expect((await patch({ name: 'third' }, `"other", *`)).status).toBe(200);
  expect((await patch({ name: 'fourth' })).json.name).toBe('fourth');
  const lines = await server.call<Event[]>('GET', '/api/events?type=instance.changed');
  expect(lines.json.map(({ reason }) => reason)).toHaveLength(4);
  expect(lines.json[0]?.reason).toBe('name');
});

test('the tag covers manual settings: waking and work leave it unchanged', async () => {
  const before = (await look()).headers.etag;
  await server.call('POST', '/api/instances/a/exec', { command: 'echo hello > note' });
  expect((await look()).headers.etag).toBe(before);
  await patch({ keep_hot: true });
  expect((await look()).headers.etag).not.toBe(before);
  await patch({ keep_hot: false });
  expect((await look()).headers.etag).toBe(before);
});

test('why something was deleted is in the ledger, and a reason is not needed', async () => {
  expect((await server.call('POST', '/api/instances', { id: 'b', tenant: 'acme' })).status).toBe(201);
  for (const id of ['a', 'b'])
    expect((await server.call('POST', `/api/instances/${id}/plan`, { to: 'archived' })).status).toBe(200);
  expect((await server.call('DELETE', '/api/instances/a', { reason: 'x'.repeat(1001) })).status).toBe(422);
  expect((await server.call('DELETE', '/api/instances/a', { reason: 'the customer left' })).status).toBe(204);
  expect((await server.call('DELETE', '/api/instances/b')).status).toBe(204);
  const lines = await server.call<Event[]>('GET', '/api/events?type=transition&limit=10');
  const deleted = lines.json.filter(({ to }) => to === 'deleted').map(({ instance, reason }) => [instance, reason]);
  expect(deleted).toEqual([
    ['b', null],
    ['a', 'the customer left'],
  ]);
});
