/** What a sign-in brings near, and what it does not: other tenants' files, processes, and waiting. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import { parseInstanceId } from '../../base/ids.ts';
import { createLogger } from '../../base/log.ts';
import type { Event, Instance } from '../../contract/schema.ts';
import { createObjectDrawers, type ObjectServer, startObjectServer } from '../../storage/testing/object-drawer.ts';
import { firstAdmin, invited, PASSWORD, visitor } from '../../testing/people.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { SignInPrefetch } from './sign-in-prefetch.ts';

let server: TestServer & { clock: FakeClock };
beforeAll(async () => {
  server = await startServer({ settings: { WB_PREFETCH_AT_SIGN_IN: '2' } });
});
afterAll(() => server.stop());

/** Makes frozen sandboxes, the last one last active. */
async function freeze(on: TestServer & { clock: FakeClock }, tenant: string, ...ids: string[]) {
  for (const id of ids) {
    on.clock.advance(60);
    await on.call('POST', '/api/instances', { id, tenant });
    await on.call('PUT', `/api/instances/${id}/volumes/workspace/note`, 'kept');
    for (const verb of ['suspend', 'freeze']) await on.call('POST', `/api/instances/${id}/${verb}`, {});
  }
}

/** The ids whose files are in the live drawer. */
async function near(on: TestServer = server): Promise<string[]> {
  const { json } = await on.call<Instance[]>('GET', '/api/instances?sort=name&limit=50');
  return json.flatMap(({ id, vfs_path: path }) => (path?.startsWith('live/') === true ? [id] : [])).toSorted();
}
const untilNear = (ids: string[], on?: TestServer) =>
  vi.waitFor(async () => expect(await near(on)).toEqual(ids), { timeout: 240_000, interval: 50 });

test('a sign-in brings the last frozen files of the tenant near, wakes nothing, and they go back unused', async () => {
  await freeze(server, 'acme', 'a-1', 'a-2', 'a-3');
  await freeze(server, 'globex', 'g-1');
  // Of all tenants nothing is likelier than the rest. Turns are in order: when the next one is over, this one is.
  await firstAdmin(server.host.auth);
  await invited(server.host.auth, 'support', { tenants: ['acme'] });
  await untilNear(['a-2', 'a-3']);
  for (const id of ['a-1', 'a-2', 'a-3', 'g-1']) {
    const { json } = await server.call<Instance>('GET', `/api/instances/${id}`);
    expect(json).toMatchObject({ state: 'frozen', thermal: 'cold', fault: null });
  }
  const { json: lines } = await server.call<Event[]>('GET', '/api/events?type=file.prefetched');
  expect(lines.map(({ instance, actor, via, reason }) => [instance, actor.slice(0, 5), via, reason])).toEqual([
    ['a-2', 'user:', 'system', 'sign-in'],
    ['a-3', 'user:', 'system', 'sign-in'],
  ]);
  server.clock.advance(301);
  await server.host.sandboxes.tick();
  expect(await near()).toEqual([]);
  // By a password too; what a person may not see stays where it is.
  const password = { email: 'support@example.com', password: PASSWORD };
  expect(await server.host.auth.signIns.signIn(password, visitor())).not.toBeNull();
  await untilNear(['a-2', 'a-3']);
  expect((await server.call('GET', '/api/instances/a-3/volumes/workspace/note')).text).toBe('kept');
});

test('after its time no further file is begun, and with 0 there is none', async () => {
  server.clock.advance(301);
  await server.host.sandboxes.tick();
  expect(await near()).toEqual([]);
  const { registry, sandboxes } = server.host as never as ConstructorParameters<typeof SignInPrefetch>[0];
  const parts = { log: createLogger('error'), registry, sandboxes };
  const who = { id: 'p-1', tenants: ['acme'] };
  await new SignInPrefetch({ ...parts, most: 5, longestMs: 0 }).begin(who);
  await new SignInPrefetch({ ...parts, most: 0 }).begin(who);
  await new SignInPrefetch({ ...parts, most: 5 }).begin({ id: 'p-1', tenants: null });
  await new SignInPrefetch({ ...parts, most: 5 }).begin({ id: 'p-1', tenants: [] });
  expect(await near()).toEqual([]);
  await new SignInPrefetch({ ...parts, most: 5 }).begin(who);
  expect(await near()).toEqual(['a-1', 'a-2', 'a-3']);
});

test('a store that does not answer delays no sign-in, and a crowd of them is not queued without end', async () => {
  const store: ObjectServer = await startObjectServer();
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-prefetch-'));
  const drawers = createObjectDrawers({ url: store.url, dataFolder: folder, bucket: 'prefetch' });
  const slow = await startServer({ folder, drawers });
  try {
    await freeze(slow, 'acme', 'a-1');
    const { registry, sandboxes } = slow.host as never as ConstructorParameters<typeof SignInPrefetch>[0];
    const crowded = new SignInPrefetch({ most: 5, log: createLogger('error'), registry, sandboxes });
    store.pause();
    await invited(slow.host.auth, 'support', { tenants: ['acme'] });
    expect(await near(slow)).toEqual([]);
    const turns = Array.from({ length: 8 }, () => crowded.begin({ id: 'p-1', tenants: ['acme'] }));
    // Nobody waits for this one: it is over at once.
    await crowded.begin({ id: 'p-2', tenants: ['acme'] });
    expect(await near(slow)).toEqual([]);
    store.goOn();
    await Promise.all(turns);
    await untilNear(['a-1'], slow);
    expect(await registry.instances.get(parseInstanceId('a-1'))).toMatchObject({ state: 'frozen', fault: null });
  } finally {
    store.goOn();
    await slow.stop();
    await store.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
