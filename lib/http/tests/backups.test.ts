import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import type { Backup, BackupRestore, BackupSettingsAnswer, Event } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

/** Each backup is a process of its own. */

let root: string;
let place: string;
let server: TestServer & { clock: FakeClock };

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-backups-'));
  place = join(root, 'place');
  server = await startServer({ folder: join(root, 'data'), clock: new FakeClock(Date.now()) });
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

async function ok<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await server.call<T>(method, `/api${path}`, body as object);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.json;
}
const refused = async (method: string, path: string, body: unknown) => {
  const { status, json } = await server.call<{ code: string; detail: string; hint?: string }>(
    method,
    `/api${path}`,
    body as object,
  );
  expect(status).toBeGreaterThanOrEqual(400);
  return json;
};
const put = (settings: object) => ok<BackupSettingsAnswer>('PUT', '/settings/backups', settings);
const lines = async () =>
  (await ok<Event[]>('GET', '/events?limit=200')).filter(({ type }) => type.startsWith('backup.'));
const types = async () => (await lines()).map(({ type }) => type).toReversed();
async function make(): Promise<Backup> {
  server.clock.advance(1);
  const asked = await ok<Backup>('POST', '/backups', { reason: 'before the move' });
  await server.host.backups.runner.tick();
  return ok<Backup>('GET', `/backups/${asked.id}`);
}
async function write(id: string, text: string): Promise<void> {
  const there = await server.call('GET', `/api/instances/${id}`);
  if (there.status === 404) await ok('POST', '/instances', { id, tenant: 'acme', name: `n-${id}` });
  await ok('PUT', `/instances/${id}/volumes/workspace/what`, text);
}
const read = async (id: string) => (await server.call('GET', `/api/instances/${id}/volumes/workspace/what`)).text;

test('a backup is made when somebody asks, incremental by content, with its ledger lines, and listed', async () => {
  expect((await refused('POST', '/backups', {})).hint).toBe('Name one in the settings.');
  await put({ target: place });
  await write('a', 'one');
  await write('b', 'two');
  for (const id of ['a', 'b']) await ok('POST', `/instances/${id}/suspend`, {});
  const first = await make();
  expect(first).toMatchObject({
    state: 'made',
    target: place,
    planned: null,
    reason: 'before the move',
    sandboxes: 2,
    wrong: 0,
    keys: false,
    error: null,
    verified: null,
    progress: null,
  });
  const second = await make();
  expect(second.added_objects).toBeLessThan(first.added_objects ?? 0);
  expect((await ok<Backup[]>('GET', '/backups')).map(({ id }) => id)).toEqual([second.id, first.id]);
  const page = await server.call<Backup[]>('GET', '/api/backups?limit=1');
  const next = /cursor=([^>&]+)/.exec(page.headers.link ?? '')?.[1];
  expect((await ok<Backup[]>('GET', `/backups?limit=1&cursor=${next}`)).map(({ id }) => id)).toEqual([first.id]);
  expect(await types()).toEqual([
    ...['backup.asked', 'backup.begun', 'backup.made'],
    ...['backup.asked', 'backup.begun', 'backup.made'],
  ]);
  expect(readdirSync(join(place, 'backups')).sort()).toEqual([`${first.id}.json`, `${second.id}.json`]);
  expect(existsSync(join(root, 'data', 'staging'))).toBe(false);
  server.clock.advance(90);
  const metrics = (await server.call('GET', '/metrics')).text;
  const age = Number(/^winterdock_backup_age_seconds (\S+)$/m.exec(metrics)?.[1]);
  // A backup begins when its process has started; the API says the whole second.
  const begun = Math.max(first.begun ?? 0, second.begun ?? 0);
  expect(Math.abs(server.clock.now() / 1000 - begun - age)).toBeLessThanOrEqual(1);
  const { backup } = await ok<{ backup: object }>('GET', '/settings/storage');
  expect(backup).toMatchObject({ sandboxes: 2, to: 'place', wrong: 0 });
  expect((await refused('GET', '/backups/none', undefined)).code).toBe('not_found');
});

test('the schedule makes one at its times, and the retention removes those that it does not keep', async () => {
  const settings = await put({
    enabled: true,
    target: place,
    cron: '0 * * * *',
    timezone: 'UTC',
    keep: { hourly: 2, daily: 0, weekly: 0, monthly: 0 },
    trial_cron: null,
  });
  const { clock, host } = server;
  expect(settings.next).toBeGreaterThan(clock.now() / 1000);
  await host.backups.runner.tick();
  expect(await ok('GET', '/backups')).toEqual([]);
  for (let hour = 0; hour < 3; hour += 1) {
    const next = (await ok<BackupSettingsAnswer>('GET', '/settings/backups')).next ?? 0;
    clock.advance(next - clock.now() / 1000 + 1);
    await host.backups.runner.tick();
  }
  const all = await ok<Backup[]>('GET', '/backups');
  expect(all.map(({ state }) => state)).toEqual(['made', 'made', 'removed']);
  expect(all.every(({ planned }) => planned !== null && planned % 3600 === 0)).toBe(true);
  expect(readdirSync(join(place, 'backups'))).toHaveLength(2);
  expect(readdirSync(join(place, 'retired'))).toHaveLength(1);
  expect(await types()).toContain('backup.removed');
  expect((await refused('POST', `/backups/${all[2]?.id}/verify`, undefined)).detail).toContain('is removed');
});

test('a place in the data folder, above it, of a link to it, relative, or with a password in it is refused', async () => {
  const data = join(root, 'data');
  symlinkSync(data, join(root, 'link'));
  for (const target of [data, join(data, 'b'), root, join(root, 'link', 'b'), 'backups', '/', 'https://a.b/c']) {
    expect([target, (await refused('PUT', '/settings/backups', { target })).code]).toEqual([target, 'validation']);
  }
  const secret = await refused('PUT', '/settings/backups', { target: 's3://me:hunter2@bucket/x' });
  expect([secret.code, JSON.stringify(secret)]).toEqual(['validation', expect.not.stringContaining('hunter2')]);
  expect((await refused('PUT', '/settings/backups', { cron: 'daily' })).code).toBe('validation');
  expect((await refused('PUT', '/settings/backups', { enabled: true })).code).toBe('validation');
  expect((await refused('PUT', '/settings/backups', { with_keys: true })).code).toBe('validation');
  expect(await ok('GET', '/settings/backups')).toMatchObject({ enabled: false, target: null, fault: null });
});

test('the folder of another installation, of a later restore and of foreign files is refused', async () => {
  await put({ target: place });
  await make();
  const other = await startServer({ folder: join(root, 'other'), clock: new FakeClock(Date.now()) });
  try {
    const answer = await other.call<{ code: string; detail: string }>('PUT', '/api/settings/backups', {
      target: place,
    } as object);
    expect([answer.status, answer.json.code]).toEqual([409, 'conflict']);
    expect(answer.json.detail).toContain('another installation');
  } finally {
    await other.stop();
  }
  rmSync(join(place, 'winterdock.json'));
  writeFileSync(join(place, 'winterdock.json'), '{"kind":"something else"}');
  expect((await make()).error).toContain('no mark of backups');
  expect((await ok<BackupSettingsAnswer>('GET', '/settings/backups')).fault).toMatchObject({ kind: 'failed' });
});

test('a folder that is away, or has a file in its place, is a fault with its reason, and the next good backup ends it', async () => {
  await put({ target: place });
  expect((await make()).state).toBe('made');
  // As of a disk that is not mounted: the folder below it is empty.
  const away = join(root, 'away');
  renameSync(place, away);
  mkdirSync(place);
  const failed = await make();
  expect(failed).toMatchObject({ state: 'failed', error: expect.stringContaining('no mark is there') });
  expect(readdirSync(place)).toEqual([]);
  const { fault } = await ok<BackupSettingsAnswer>('GET', '/settings/backups');
  expect(fault).toMatchObject({ kind: 'failed', reason: expect.stringContaining('no mark is there') });
  rmSync(place, { recursive: true });
  writeFileSync(place, 'a file');
  expect((await make()).state).toBe('failed');
  rmSync(place);
  renameSync(away, place);
  expect((await make()).state).toBe('made');
  expect((await ok<BackupSettingsAnswer>('GET', '/settings/backups')).fault).toBeNull();
  expect((await lines()).filter(({ type }) => type.startsWith('backup.fault')).map(({ type }) => type)).toEqual([
    'backup.fault_cleared',
    'backup.fault_raised',
  ]);
});

test('one sandbox comes back as a new one and as itself while the server runs, with a reason and a preview', async () => {
  await put({ target: place });
  await write('a', 'as it was');
  await ok('POST', '/instances/a/suspend', {});
  const { id } = await make();
  await write('a', 'changed');
  const restore = (body: object) => ok<BackupRestore>('POST', `/backups/${id}/restore`, body);
  expect((await restore({ dry_run: true })).holds).toMatchObject({ states: { suspended: 1 }, missing: 0, keys: false });
  expect((await restore({ dry_run: true })).command).toContain(`--all --from ${place}`);
  expect((await refused('POST', `/backups/${id}/restore`, { reason: 'x' })).hint).toContain('npm run restore');
  expect((await refused('POST', `/backups/${id}/restore`, { instance: 'a', as: 'b' })).code).toBe('validation');
  expect((await refused('POST', `/backups/${id}/restore`, { instance: 'none', dry_run: true })).code).toBe('not_found');

  // It is awake: nothing of it is touched.
  expect((await restore({ instance: 'a', dry_run: true })).one).toMatchObject({
    was: 'suspended',
    now: 'active',
    refusal: expect.stringContaining('Suspend it first'),
  });
  expect((await refused('POST', `/backups/${id}/restore`, { instance: 'a', reason: 'ticket 7' })).code).toBe(
    'conflict',
  );
  expect(await read('a')).toBe('changed');

  expect((await restore({ instance: 'a', as: 'a-before', reason: 'ticket 7' })).one).toMatchObject({ now: 'created' });
  expect([await read('a-before'), await read('a')]).toEqual(['as it was', 'changed']);
  expect((await refused('POST', `/backups/${id}/restore`, { instance: 'a', as: 'a-before', reason: 'x' })).code).toBe(
    'conflict',
  );
  await ok('POST', '/instances/a-before/exec', { command: 'cat what' });

  await ok('POST', '/instances/a/suspend', {});
  expect((await restore({ instance: 'a', reason: 'ticket 8' })).one).toMatchObject({ now: 'suspended', refusal: null });
  expect(await read('a')).toBe('as it was');
  expect((await ok<{ stdout: string }>('POST', '/instances/a/exec', { command: 'cat what' })).stdout).toBe('as it was');
  const own = await ok<Event[]>('GET', '/events?instance=a&limit=50');
  expect(own.find(({ type }) => type === 'file.restored')?.reason).toContain(`ticket 8 (backup ${id}; what was there`);
  expect(readdirSync(join(root, 'data', 'orphans')).some((name) => name.includes('-a-'))).toBe(true);
  expect(readdirSync(join(root, 'data', 'bundles'))).toEqual([]);
});

test('a backup is tried by restoring a drawn sandbox, by itself at its time, and a damaged one is a fault', async () => {
  await put({ enabled: true, target: place, cron: '0 3 1 1 *', timezone: 'UTC', trial_cron: '30 * * * *' });
  await write('a', 'one');
  await ok('POST', '/instances/a/suspend', {});
  const { id } = await make();
  const tried = await ok<Backup>('POST', `/backups/${id}/verify`);
  expect(tried.verified).toMatchObject({ error: null, took_ms: expect.any(Number) });
  const [line] = await ok<Event[]>('GET', '/events?type=backup.verified');
  expect(line).toMatchObject({ instance: 'a', tenant: 'acme', reason: `${id}: one sandbox came back as it was` });

  const objects = join(place, 'objects');
  for (const path of readdirSync(objects, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue;
    const file = join(path.parentPath, path.name);
    const bytes = readFileSync(file);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    rmSync(file);
    writeFileSync(file, bytes);
  }
  server.clock.advance(3600);
  await server.host.backups.runner.tick();
  const damaged = await ok<Backup>('GET', `/backups/${id}`);
  expect(damaged.verified?.error).toContain('is damaged');
  expect((await ok<BackupSettingsAnswer>('GET', '/settings/backups')).fault).toMatchObject({ kind: 'trial' });
  expect((await refused('POST', `/backups/${id}/restore`, { instance: 'a', as: 'b', reason: 'x' })).code).toBe(
    'corrupt',
  );
  expect((await server.call('GET', '/api/instances/b')).status).toBe(404);
});

test('who may see and make backups, and who may not', async () => {
  await put({ target: place });
  const key = async (role: string, tenant?: string) =>
    (await ok<{ key: string }>('POST', '/keys', { name: role, role, ...(tenant === undefined ? {} : { tenant }) })).key;
  const call = async (secret: string, method: string, path: string, body?: object) =>
    (
      await fetch(`${server.url}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    ).status;
  const operator = await key('operator');
  expect([
    await call(operator, 'GET', '/backups'),
    await call(operator, 'POST', '/backups', {}),
    await call(operator, 'PUT', '/settings/backups', { enabled: false }),
  ]).toEqual([200, 202, 403]);
  for (const secret of [await key('viewer'), await key('support'), await key('tenant', 'acme')]) {
    expect([await call(secret, 'GET', '/backups'), await call(secret, 'GET', '/settings/backups')]).toEqual([403, 403]);
  }
  await server.host.backups.runner.tick();
});
