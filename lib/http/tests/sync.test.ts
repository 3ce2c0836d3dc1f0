import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Blueprint, Instance } from '../../contract/schema.ts';
import { findMoment } from '../../replication/moments/replica-reader.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let root: string;
let bucket: string;
let server: TestServer;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-sync-'));
  bucket = join(root, 'bucket');
  server = await startServer({ folder: join(root, 'data'), settings: { WB_REPLICA_URL: `file://${bucket}` } });
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const segments = (id: string) => filesIn(bucket).filter((name) => name.startsWith(`replica/${id}/`));
const put = (id: string, text: string) => server.call('PUT', `/api/instances/${id}/volumes/workspace/f`, text);
/** Newest moment of the registry in the replica, in milliseconds. */
async function registryMoment(): Promise<number> {
  const store = await openObjectStore(`file://${bucket}`, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  try {
    return (await findMoment(store, '_registry', null, null))?.timeMs ?? 0;
  } finally {
    await store.close();
  }
}

test('creation, change, moves and deletion are answered once the registry’s segment is there', async () => {
  const made = await server.call<Instance>('POST', '/api/instances', { id: 'a', tenant: 'acme', replicate: 'sync' });
  expect([made.status, made.json]).toMatchObject([201, { replicate: 'sync', replicate_from_next_wake: false }]);
  let last = await registryMoment();
  expect(last).toBeGreaterThan(0);
  expect((await put('a', 'one')).status).toBe(201);
  const later = async () => {
    const now = await registryMoment();
    const isLater = now > last;
    last = now;
    return isLater;
  };
  await server.call('POST', '/instances/a/suspend');
  expect(await later()).toBe(true);
  await server.call('PATCH', '/api/instances/a', { name: 'named' });
  expect(await later()).toBe(true);
  const shown = await server.call<Instance>('GET', '/api/instances/a');
  expect(shown.json.recovery_point).toMatchObject({ behind_s: 0, as: 'filed' });
  await server.call('POST', '/api/instances', { id: 'b', tenant: 'acme', replicate: 'sync' });
  expect(await later()).toBe(true);
  expect((await server.call('POST', '/api/instances/b/plan', { to: 'archived' })).status).toBe(200);
  expect(await later()).toBe(true);
  // A clone is answered once the file that it begins with is there.
  await server.call('POST', '/api/instances/a/snapshots', { tag: 'kept' });
  const blueprint = await server.call<Blueprint>('POST', '/api/blueprints', {
    name: 'base',
    from_instance: 'a',
    replicate: 'sync',
  });
  await server.call('POST', '/api/blueprints/base/clone', { tenant: 'acme', count: 1 });
  expect(filesIn(bucket)).toContain(`replica/_copies/blueprint/${blueprint.json.hash.replace('sha256:', '')}`);
  expect(await later()).toBe(true);
  const deleted = await server.call('DELETE', '/api/instances/b');
  expect([deleted.status, await later()]).toEqual([204, true]);
});

test('a sandbox that is made from a file is answered once that file is there, though it was never awake', async () => {
  await server.call('PATCH', '/api/tenants/acme', { replicate: 'sync' });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await put('a', 'one');
  await server.call('POST', '/api/instances/a/suspend');
  const { json } = await server.call<Instance>('GET', '/api/instances/a');
  const time = Math.floor(json.recovery_point.at ?? 0);
  const made = await server.call<Instance>('POST', '/api/instances/a/from-moment', { time });
  expect([made.status, made.json]).toMatchObject([201, { state: 'created', replicate: 'sync' }]);
  const [base = ''] = segments(made.json.id);
  expect(base).toContain('/ltx/9/');
  const shown = await server.call<Instance>('GET', `/api/instances/${made.json.id}`);
  expect(shown.json.recovery_point).toMatchObject({ behind_s: 0, as: 'filed' });
});

test('while its store is away a sandbox refuses what could write, says so, and goes on afterwards', async () => {
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme', replicate: 'sync' });
  await put('a', 'one');
  expect(segments('a').length).toBeGreaterThan(1);
  renameSync(bucket, `${bucket}-away`);
  const lost = await put('a', 'two');
  expect([lost.status, lost.json]).toMatchObject([503, { code: 'not_replicated', committed: 'local' }]);
  const refused = await put('a', 'three');
  expect([refused.status, refused.json, refused.headers['retry-after']]).toMatchObject([
    503,
    { code: 'not_replicated' },
    '2',
  ]);
  expect(refused.json).not.toHaveProperty('committed');
  const made = await server.call('POST', '/api/instances', { id: 'b', tenant: 'acme', replicate: 'sync' });
  expect([made.status, (await server.call('GET', '/api/instances/b')).status]).toEqual([503, 404]);
  // One whose answers wait for nobody goes on.
  await server.call('POST', '/api/instances', { id: 'c', tenant: 'acme', replicate: '1s' });
  expect((await put('c', 'one')).status).toBe(201);
  renameSync(`${bucket}-away`, bucket);
  await vi.waitFor(
    async () => {
      const read = await server.call('GET', '/api/instances/a/volumes/workspace/f');
      expect([read.status, read.text]).toEqual([200, 'two']);
    },
    { timeout: 240_000, interval: 500 },
  );
  expect((await put('a', 'four')).status).toBe(204);
});
