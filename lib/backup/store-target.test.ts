import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Backup, BackupRestore } from '../contract/schema.ts';
import { startS3Server, TEST_KEYS } from '../storage/object-store/testing/s3-server.ts';
import type { ServerProcess } from '../testing/process.ts';
import { expectWhole, populate, run, spawnServer } from './testing/server-content.ts';

let root: string;
let store: string;
let url: string;
const started: ServerProcess[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-store-target-'));
  store = join(root, 'store');
  mkdirSync(store);
  url = pathToFileURL(store).href;
});
afterEach(async () => {
  for (const one of started) if (one.child.exitCode === null) await one.end('SIGKILL');
  started.length = 0;
  rmSync(root, { recursive: true, force: true });
});

async function serve(name: string, settings: Record<string, string> = {}): Promise<ServerProcess> {
  const one = await spawnServer({ folder: join(root, name), settings: { WB_TICK_MS: '200', ...settings } });
  started.push(one);
  return one;
}

async function ok<T>(server: ServerProcess, method: string, path: string, body?: object): Promise<T> {
  const answer = await server.call<T>(method, `/api${path}`, body);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.json;
}
async function make(server: ServerProcess): Promise<Backup> {
  const { id } = await ok<Backup>(server, 'POST', '/backups', {});
  return ended(server, id);
}
async function ended(server: ServerProcess, id: string): Promise<Backup> {
  const look = () => ok<Backup>(server, 'GET', `/backups/${id}`);
  await expect.poll(async () => (await look()).state, { timeout: 240_000 }).toMatch(/^(made|failed)$/);
  return look();
}
const namesIn = (part: string) =>
  !existsSync(join(store, 'backups', part))
    ? []
    : readdirSync(join(store, 'backups', part), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name);

test('a backup in a store is restored by one command on an empty machine, with every sandbox in its state', async () => {
  const server = await serve('data');
  const world = await populate(server);
  await ok(server, 'PUT', '/settings/backups', { target: url });
  const first = await make(server);
  expect(first).toMatchObject({ state: 'made', target: url, wrong: 0 });
  expect(first.added_objects).toBeGreaterThan(5);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const second = await make(server);
  // The registry, and at most the head of the ledger.
  expect(second.added_objects).toBeLessThanOrEqual(2);
  expect(namesIn('manifests').sort()).toEqual([`${first.id}.json`, `${second.id}.json`]);
  expect(namesIn('running')).toEqual([]);
  // Every name ends in a token.
  expect(namesIn('objects').every((name) => /^[0-9a-f]{64}-[\w-]{8,}$/.test(name))).toBe(true);
  expect((await ok<Backup>(server, 'POST', `/backups/${second.id}/verify`)).verified?.error).toBeNull();
  await ok(server, 'POST', `/backups/${first.id}/restore`, { instance: 'frozen', as: 'thawed', reason: 'to compare' });
  expect((await server.call('GET', '/api/instances/thawed/volumes/workspace/what')).text).toBe('frozen');
  await server.end();

  const empty = join(root, 'restored');
  const dry = run('restore', empty, ['--all', '--from', url, '--dry-run']);
  expect([dry.status, dry.stderr], dry.stdout).toEqual([0, '']);
  const done = run('restore', empty, [
    '--all',
    '--from',
    url,
    '--at',
    new Date((second.asked ?? 0) * 1000).toISOString(),
  ]);
  expect([done.status, done.stderr], done.stdout).toEqual([0, '']);
  expect(done.stdout).toContain(`Backup ${first.id}`);
  expect(run('doctor', empty, ['--full']).status).toBe(0);
  const again = await serve('restored');
  await expectWhole(again, world);
  // It goes on with the backups of before, which are its own now; the server of before does not.
  const third = await make(again);
  expect(third).toMatchObject({ state: 'made', target: url });
  expect((await ok<Backup[]>(again, 'GET', '/backups')).map(({ id, state }) => [id, state])).toEqual(
    expect.arrayContaining([
      [third.id, 'made'],
      [first.id, 'made'],
    ]),
  );
  await again.end();
  const old = await serve('data');
  expect((await make(old)).error).toContain('is used by a later restore of this installation');
});

test('a server that is killed while it makes a backup makes it again, and what was written is used', async () => {
  const server = await serve('data');
  await populate(server);
  await ok(server, 'PUT', '/settings/backups', { target: url });
  let before = 0;
  let current = server;
  for (const afterMs of [300, 700, 1200, 1800]) {
    const asked = await current.call<Backup>('POST', '/api/backups', {});
    expect([202, 409]).toContain(asked.status);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await current.end('SIGKILL');
    const { length } = readdirSync(store, { recursive: true });
    expect(length).toBeGreaterThanOrEqual(before);
    before = length;
    current = await serve('data');
  }
  const look = () => ok<Backup[]>(current, 'GET', '/backups');
  const isOpen = ({ state }: Backup) => state === 'asked' || state === 'running';
  await expect.poll(async () => (await look()).some(isOpen), { timeout: 240_000 }).toBe(false);
  // A server that ends twice within one backup pauses: on a slow machine the last one is asked for again.
  if ((await look())[0]?.state !== 'made') await make(current);
  const all = await look();
  const [newest] = all;
  expect(newest?.state).toBe('made');
  expect((await ok<Backup>(current, 'POST', `/backups/${newest?.id}/verify`)).verified?.error).toBeNull();
  const restored = run('restore', join(root, 'restored'), ['--all', '--from', url]);
  expect([restored.status, restored.stderr]).toEqual([0, '']);
  expect(readdirSync(join(root, 'data', 'staging'))).toEqual([]);
});

test('what only the store below the drawers has is copied within it, and comes back', async () => {
  const settings = { WB_COLD_URL: url, WB_STORE_CACHE: '0' };
  const server = await serve('data', settings);
  for (const id of ['cold', 'packed']) {
    await ok(server, 'POST', '/instances', { id, tenant: 'acme' });
    await ok(server, 'PUT', `/instances/${id}/volumes/workspace/what`, id as unknown as object);
    await ok(server, 'POST', `/instances/${id}/suspend`, {});
    await ok(server, 'POST', `/instances/${id}/freeze`, {});
  }
  await ok(server, 'POST', '/instances/packed/archive', {});
  await ok(server, 'POST', '/instances/cold/snapshots', { tag: 'kept' });
  const pathOf = async (id: string) => (await ok<{ vfs_path: string }>(server, 'GET', `/instances/${id}`)).vfs_path;
  await expect.poll(() => pathOf('cold'), { timeout: 240_000 }).toMatch(/^cloud:cold/);
  await expect.poll(() => pathOf('packed'), { timeout: 240_000 }).toMatch(/^cloud:archive/);
  const copies = () =>
    readdirSync(join(store, 'drawers'), { recursive: true, encoding: 'utf8' }).filter((name) => /snapshot/.test(name));
  await expect.poll(() => copies().length, { timeout: 240_000 }).toBeGreaterThan(1);
  for (const drawer of ['cold', 'archive', 'snapshots'])
    rmSync(join(root, 'data', drawer), { recursive: true, force: true });
  for (const drawer of ['cold', 'archive', 'snapshots']) mkdirSync(join(root, 'data', drawer));
  await ok(server, 'PUT', '/settings/backups', { target: url });
  const first = await make(server);
  expect(first).toMatchObject({ state: 'made', sandboxes: 2, wrong: 0 });
  const second = await make(server);
  expect(second).toMatchObject({ state: 'made', wrong: 0 });
  expect(second.added_objects).toBeLessThanOrEqual(2);
  await server.end();
  // Nothing in it refers to a drawer of the store.
  rmSync(join(store, 'drawers'), { recursive: true });
  const restored = run('restore', join(root, 'restored'), ['--all', '--from', url]);
  expect([restored.status, restored.stderr]).toEqual([0, '']);
  const again = await serve('restored', settings);
  for (const id of ['cold', 'packed']) {
    expect((await again.call('GET', `/api/instances/${id}/volumes/workspace/what`)).text).toBe(id);
  }
});

test('a store whose objects are damaged, forgotten or foreign is named, and nothing is restored from it', async () => {
  const server = await serve('data');
  await ok(server, 'POST', '/instances', { id: 'a', tenant: 'acme' });
  await ok(server, 'PUT', '/instances/a/volumes/workspace/what', 'a' as unknown as object);
  await ok(server, 'POST', '/instances/a/suspend', {});
  await ok(server, 'PUT', '/settings/backups', { target: url });
  const { id } = await make(server);
  const files = readdirSync(join(store, 'backups', 'objects'), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    const bytes = readFileSync(path);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
    rmSync(path);
    writeFileSync(path, bytes);
  }
  const tried = await ok<Backup>(server, 'POST', `/backups/${id}/verify`);
  expect(tried.verified?.error).toMatch(/damaged|not what was stored/);
  const restore = { instance: 'a', as: 'b', reason: 'x' };
  expect((await server.call('POST', `/api/backups/${id}/restore`, restore)).json.code).toBe('corrupt');
  for (const { parentPath, name } of files) rmSync(join(parentPath, name));
  expect((await server.call('POST', `/api/backups/${id}/restore`, restore)).json.code).toBe('missing_file');
  expect((await server.call('GET', '/api/instances/b')).status).toBe(404);
  // The next one asks for what it would reuse, and copies it.
  const after = await make(server);
  expect(after.added_objects).toBeGreaterThanOrEqual(2);
  expect((await ok<BackupRestore>(server, 'POST', `/backups/${after.id}/restore`, restore)).one?.now).toBe('created');
  expect((await server.call('GET', '/api/instances/b/volumes/workspace/what')).text).toBe('a');
});

test('a store that speaks S3 takes backups, pages of lists included, and gives everything back', async () => {
  const s3 = await startS3Server({ pageSize: 3 });
  try {
    const { accessKey, secretKey } = TEST_KEYS;
    const settings = {
      WB_STORE_ENDPOINT: s3.endpoint,
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: secretKey,
    };
    const target = 's3://bucket/winterdock';
    const server = await serve('data', settings);
    const world = await populate(server);
    await ok(server, 'PUT', '/settings/backups', { target });
    const first = await make(server);
    expect([first.state, first.error]).toEqual(['made', null]);
    const second = await make(server);
    expect(second.added_objects).toBeLessThanOrEqual(2);
    expect((await ok<Backup>(server, 'POST', `/backups/${second.id}/verify`)).verified?.error).toBeNull();
    const text = JSON.stringify([await ok(server, 'GET', '/backups'), await ok(server, 'GET', '/events?limit=100')]);
    expect(text).not.toContain(secretKey);
    await server.end();
    const done = run('restore', join(root, 'restored'), ['--all', '--from', target], settings);
    expect([done.status, done.stderr], done.stdout).toEqual([0, '']);
    const again = await serve('restored', settings);
    await expectWhole(again, world);
    await again.end();

    // A store that does not answer is away: nothing is concluded from it.
    const third = await serve('data', settings);
    await s3.stop();
    const away = await make(third);
    expect(away).toMatchObject({ state: 'failed', error: expect.stringContaining('away') });
    const rows = await ok<Backup[]>(third, 'GET', '/backups?state=made');
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining([first.id, second.id]));
  } finally {
    await s3.stop();
  }
});
