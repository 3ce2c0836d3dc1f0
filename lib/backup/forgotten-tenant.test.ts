import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { filesIn } from '../testing/files-in.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import { run } from './testing/server-content.ts';

let root: string;
let server: TestServer | null = null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-forgotten-'));
});
afterEach(async () => {
  await server?.stop();
  server = null;
  rmSync(root, { recursive: true, force: true });
});

const serve = async (name: string): Promise<TestServer> => {
  await server?.stop();
  const settings = { WB_COLD_URL: pathToFileURL(join(root, 'store')).href, WB_STORE_CACHE: '0', WB_POOL: '0' };
  server = await startServer({ folder: join(root, name), settings });
  return server;
};
const ok = async <T>({ call }: TestServer, method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await call<T>(method, `/api${path}`, body as object);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.json;
};
const objects = () => filesIn(join(root, 'store')).filter((path) => path.startsWith('drawers/'));

/** Waits until every file that rests is in the store, copies too. */
const allStored = async (of: TestServer, tenant: string, n: number) => {
  await expect
    .poll(
      async () =>
        (await of.host.registry.storeNames.ofTenant(tenant, '', 50)).filter(({ state }) => state === 'current').length,
      { timeout: 240_000 },
    )
    .toBe(n);
  await expect.poll(async () => (await of.host.registry.instances.uploadBacklog()).n, { timeout: 240_000 }).toBe(0);
};

test('a tenant that was forgotten and comes back by a backup is whole, in the store again, and what others have stays', async () => {
  const first = await serve('data');
  const tenants = { acme: ['cold', 'packed'], globex: ['other'] };
  for (const [tenant, ids] of Object.entries(tenants)) {
    for (const id of ids) {
      await ok(first, 'POST', '/instances', { id, tenant });
      await ok(first, 'PUT', `/instances/${id}/volumes/workspace/kept`, `of ${id}`);
      await ok(first, 'POST', `/instances/${id}/suspend`, {});
      await ok(first, 'POST', `/instances/${id}/freeze`, {});
    }
  }
  await ok(first, 'POST', '/instances/packed/archive', {});
  const snapshot = await ok<{ id: string }>(first, 'POST', '/instances/cold/snapshots', {});
  await allStored(first, 'acme', 3);
  await allStored(first, 'globex', 1);
  await first.stop();
  server = null;
  const kept = join(root, 'kept');
  const settings = { WB_COLD_URL: pathToFileURL(join(root, 'store')).href };
  const made = run('backup', join(root, 'data'), [kept], settings);
  expect([made.status, made.stderr], made.stdout).toEqual([0, '']);

  const again = await serve('data');
  const before = objects();
  const { id: job } = await ok<{ id: string }>(again, 'DELETE', '/tenants/acme', { confirm: 'acme' });
  await expect
    .poll(async () => (await ok<{ state: string }>(again, 'GET', `/jobs/${job}`)).state, { timeout: 240_000 })
    .toBe('done');
  const left = objects();
  expect(left.filter((path) => path.includes('/other/'))).toEqual(before.filter((path) => path.includes('/other/')));
  expect(left.filter((path) => !path.includes('/other/'))).toEqual([]);
  await again.stop();
  server = null;

  const restored = run('restore', join(root, 'restored'), ['--all', '--from', kept], settings);
  expect([restored.status, restored.stderr], restored.stdout).toEqual([0, '']);
  const back = await serve('restored');
  const read = async (id: string) => (await back.call('GET', `/api/instances/${id}/volumes/workspace/kept`)).text;
  for (const id of ['cold', 'packed', 'other']) expect(await read(id)).toBe(`of ${id}`);
  await allStored(back, 'acme', 3);
  await expect
    .poll(() => objects().filter((path) => !path.includes('/other/') && path.endsWith('.row.json')).length, {
      timeout: 240_000,
    })
    .toBe(3);
  rmSync(join(root, 'restored', 'cold'), { recursive: true });
  rmSync(join(root, 'restored', 'archive'), { recursive: true });
  rmSync(join(root, 'restored', 'snapshots'), { recursive: true });
  await serve('restored');
  const last = server as unknown as TestServer;
  for (const id of ['cold', 'packed', 'other']) {
    expect((await last.call('GET', `/api/instances/${id}/volumes/workspace/kept`)).text).toBe(`of ${id}`);
  }
  expect((await last.call('POST', '/instances/cold/resume')).json).toMatchObject({ instance: { state: 'active' } });
  const [clone] = await ok<{ id: string }[]>(last, 'POST', `/snapshots/${snapshot.id}/restore`, { count: 1 });
  expect((await last.call('GET', `/api/instances/${clone?.id}/volumes/workspace/kept`)).text).toBe('of cold');
});
