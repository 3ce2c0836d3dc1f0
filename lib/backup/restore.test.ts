import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyFolderOfTests, onPostgres, settingsOfTests } from '../registry/testing/registry-of-tests.ts';
import type { ServerProcess } from '../testing/process.ts';
import { commandOf, run, spawnServer } from './testing/server-content.ts';
import { filesIn } from './unfinished-restore.ts';

const PASSPHRASE = { WB_BACKUP_PASSPHRASE: 'a long enough passphrase' };
const KEYS = ['auth.secret', 'secrets.key', 'signing.key'];

let root: string;
let folder: string;
let tar: string;
const started: ServerProcess[] = [];

async function serve(on: string): Promise<ServerProcess> {
  const one = await spawnServer({ folder: on });
  started.push(one);
  return one;
}

/** Every file of the drawers with a hash of its bytes, without the indexes of logs: they are made anew from the log. */
const contents = (of: string) =>
  Object.fromEntries(
    filesIn(of)
      // Unpacked files and the draft of the marker are temporary.
      .filter((path) => !path.endsWith('-shm') && !/^(staging\/|restoring\.json\.)/.test(path))
      .sort()
      .map((path) => [path, hash('sha256', readFileSync(join(of, path)))]),
  );

/** A folder whose server was killed while `awake` was written to. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-restore-'));
  folder = join(root, 'data');
  tar = join(root, 'backup.tar');
  const server = await serve(folder);
  for (const id of ['awake', 'suspended', 'frozen', 'archived', 'deleted']) {
    await server.call('POST', '/api/instances', { id, tenant: 'acme', name: `n-${id}` });
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/what`, id);
  }
  for (const id of ['suspended', 'frozen']) await server.call('POST', `/api/instances/${id}/suspend`, {});
  await server.call('POST', '/api/instances/frozen/freeze', {});
  for (const id of ['archived', 'deleted']) await server.call('POST', `/api/instances/${id}/archive`, {});
  await server.call('DELETE', '/api/instances/deleted', {});
  for (const id of ['awake', 'archived']) {
    const schedule = { cron: '0 0 1 1 *', command: `echo ${id}`, missed: 'once' };
    await server.call('POST', `/api/instances/${id}/schedules`, schedule);
  }
  await server.call('PUT', '/api/instances/awake/volumes/workspace/last', 'answered');
  await server.end('SIGKILL');
});
afterAll(async () => {
  for (const one of started) if (one.child.exitCode === null) await one.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

const read = async (server: ServerProcess, id: string, path = 'what') =>
  (await server.call('GET', `/api/instances/${id}/volumes/workspace/${path}`)).text;

test('the folder of a killed server is backed up into one file with the contents of its logs, and stays unchanged', async () => {
  const before = contents(folder);
  expect(Object.keys(before)).toContain('live/awake/vfs.sqlite-wal');
  const short = run('backup', folder, [tar, '--with-keys'], { WB_BACKUP_PASSPHRASE: 'short' });
  expect([short.status, short.stderr]).toEqual([1, 'The passphrase must have at least 12 characters.\n']);
  const made = run('backup', folder, [tar, '--with-keys', '--json'], PASSPHRASE);
  expect([made.status, made.stderr]).toEqual([0, '']);
  expect(JSON.parse(made.stdout)).toMatchObject({ sandboxes: 4, keys: true, wrong: [], to: 'backup.tar' });
  expect(contents(folder)).toEqual(before);
  expect(readdirSync(root).sort()).toEqual(['backup.tar', 'data']);
  const verified = run('backup', folder, ['--verify', tar]);
  expect([verified.status, verified.stderr]).toEqual([0, '']);
  for (const name of KEYS) {
    const secret = readFileSync(join(folder, name), 'utf8').trim().split('\n').at(1) ?? '';
    expect(readFileSync(tar).includes(secret.slice(0, 40) || readFileSync(join(folder, name)))).toBe(false);
  }
});

test('with the passphrase the key files are restored, and signatures, sessions and schedules stay valid', async () => {
  const wrong = run('restore', join(root, 'wrong'), ['--from', tar], { WB_BACKUP_PASSPHRASE: 'not the passphrase' });
  expect([wrong.status, wrong.stderr]).toEqual([1, 'The key files in the backup do not open with this passphrase.\n']);
  const restored = join(root, 'with-keys');
  const done = run('restore', restored, ['--from', tar], PASSPHRASE);
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain('Key files from the backup: auth.secret, secrets.key, signing.key.');
  for (const name of KEYS) expect(readFileSync(join(restored, name))).toEqual(readFileSync(join(folder, name)));
  expect(readdirSync(restored)).not.toContain('restoring.json');
  const looked = run('doctor', restored, []);
  expect([looked.status, looked.stderr]).toEqual([0, '']);
  const server = await serve(restored);
  expect((await server.call('GET', '/api/events?type=keys.made')).json).toEqual([]);
  expect((await server.call('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
  for (const id of ['awake', 'suspended', 'frozen', 'archived']) expect(await read(server, id)).toBe(id);
  expect(await read(server, 'awake', 'last')).toBe('answered');
  for (const [id, resting] of [
    ['awake', false],
    ['archived', true],
  ] as const) {
    const { json } = await server.call('GET', `/api/instances/${id}/schedules`);
    expect(json).toMatchObject([
      { command: `echo ${id}`, missed: 'once', resting, next_at: resting ? null : expect.any(Number) },
    ]);
  }
  await server.end();
  expect(run('ledger-verify', restored, []).status).toBe(0);
});

test('a folder in use is refused, and with --force set aside completely', async () => {
  const living = join(root, 'living');
  await copyFolderOfTests(folder, living);
  const before = contents(living);
  const refused = run('restore', living, ['--from', tar]);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('There are sandboxes in')]);
  expect(contents(living)).toEqual(before);
  const done = run('restore', living, ['--from', tar, '--force']);
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain('Key files that are there and stay: auth.secret, secrets.key, signing.key.');
  const aside = join(living, readdirSync(living).find((name) => name.startsWith('replaced-')) ?? '');
  expect(contents(aside)).toEqual(before);
  if (!onPostgres()) expect(existsSync(join(aside, 'registry.sqlite'))).toBe(true);
  const server = await serve(living);
  for (const id of ['awake', 'suspended', 'frozen', 'archived']) expect(await read(server, id)).toBe(id);
  expect((await server.call('GET', '/api/events?type=orphan.set_aside')).json).toEqual([]);
  const busy = run('restore', living, ['--from', tar, '--force']);
  expect([busy.status, busy.stderr]).toEqual([1, expect.stringContaining('Another Winterdock uses')]);
  await server.end();
});

test('one sandbox is restored in place, as a new one, or as a plain file', async () => {
  const living = join(root, 'one');
  expect(run('restore', living, ['--from', tar], PASSPHRASE).status).toBe(0);
  let server = await serve(living);
  await server.call('PUT', '/api/instances/frozen/volumes/workspace/what', 'spoilt');
  await server.end();
  const one = (...args: string[]) => run('restore', living, ['--from', tar, '--instance', ...args]);
  expect(one('frozen').stderr).toContain('The sandbox "frozen" is there, suspended. Restore it under another id');
  expect(one('deleted').stderr).toContain('has no file of "deleted"');
  expect(one('archived', '--as', 'deleted').stderr).toContain('an id is never used again');
  expect(one('archived', '--as', 'awake').stderr).toContain('There is a sandbox "awake" already.');
  expect(one('nobody').stderr).toContain('There is no sandbox "nobody"');
  expect(one('frozen', '--dry-run').stdout).toContain('without --force, or --as, this is refused');
  expect(one('frozen', '--force').status).toBe(0);
  expect(one('archived', '--as', 'archived-before').status).toBe(0);
  const out = join(root, 'out.sqlite');
  expect(one('archived', '--to', out).status).toBe(0);
  expect(one('archived', '--to', out).stderr).toContain('is there already');

  server = await serve(living);
  expect(await read(server, 'frozen')).toBe('frozen');
  expect(await read(server, 'archived-before')).toBe('archived');
  expect((await server.call('GET', '/api/instances/archived-before')).json).toMatchObject({
    state: 'created',
    name: null,
    tenant: 'acme',
  });
  for (const id of ['frozen', 'archived-before', 'archived']) {
    if (id === 'archived') await server.call('POST', '/api/instances/archived/resume', {});
    expect((await server.call('POST', `/api/instances/${id}/exec`, { command: 'echo $(cat what)!' })).json.stdout).toBe(
      `${id === 'archived-before' ? 'archived' : id}!\n`,
    );
  }
  expect((await server.call('GET', '/api/events?type=orphan.set_aside')).json).toMatchObject([{ instance: 'frozen' }]);
  const upload = await server.call('POST', '/api/blueprints?name=of-file', readFileSync(out), {
    headers: { 'content-type': 'application/octet-stream' },
  });
  expect(upload.status).toBe(201);
  await server.end();
});

test('a killed restore is begun again, and until it is complete no server starts', async () => {
  const living = join(root, 'killed');
  await copyFolderOfTests(folder, living);
  const before = contents(living);
  const [command, args] = commandOf('restore', ['--from', tar, '--force']);
  const mark = join(living, 'restoring.json');
  let broken = 0;
  // The first is killed as soon as it has begun to change anything, the others at moments of their own, until one has
  // come to its end.
  for (const afterMs of [0, 300, 450, 600, 750]) {
    const env = { ...process.env, WB_DATA: living, INIT_CWD: root, ...settingsOfTests(living) };
    const child = spawn(command, args, { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    if (broken === 0) {
      expect(contents(living)).toEqual(before);
      while (!existsSync(mark) && child.exitCode === null) await setTimeout(1);
    } else await Promise.race([setTimeout(afterMs), ended]);
    child.kill('SIGKILL');
    await ended;
    // One that has come to its end may still be killed on its way out.
    if (!existsSync(mark)) break;
    broken += 1;
    if (broken === 1) await expect(spawnServer({ folder: living })).rejects.toThrow(/was broken off in .*Run it again/);
  }
  expect(broken).toBeGreaterThan(0);
  expect(run('restore', living, ['--from', tar, '--force']).status).toBe(0);
  const server = await serve(living);
  for (const id of ['awake', 'suspended', 'frozen', 'archived']) expect(await read(server, id)).toBe(id);
  expect((await server.call('GET', '/api/events?type=orphan.set_aside')).json).toEqual([]);
  await server.end();
  // What was there at first is in one folder or the other, however often it was begun.
  const kept = readdirSync(living).filter((name) => name.startsWith('replaced-'));
  expect(kept.map((name) => contents(join(living, name)))).toContainEqual(before);
});

test('damage in the store is named and kept, and becomes a fault of its sandbox after a restore', async () => {
  const ill = join(root, 'ill');
  await copyFolderOfTests(folder, ill);
  rmSync(join(ill, 'cold/frozen.sqlite'));
  const path = join(ill, 'live/suspended/vfs.sqlite');
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4096, 4200);
  writeFileSync(path, bytes);
  // Another sandbox's log, beside a file at rest.
  cpSync(join(folder, 'live/awake/vfs.sqlite-wal'), join(ill, 'live/suspended/vfs.sqlite-wal'));
  const to = join(root, 'of-ill');
  const made = run('backup', ill, [to]);
  expect(made.status).toBe(2);
  expect(made.stderr).toMatch(/^NOT SOUND: The sandbox "frozen": there was no file where its row says\.$/m);
  expect(made.stderr).toMatch(/^NOT SOUND: The sandbox "suspended": /m);
  expect(run('backup', ill, ['--verify', to]).status).toBe(0);
  const restored = join(root, 'restored-ill');
  expect(run('restore', restored, ['--from', to]).stdout).toContain('Not in the backup, and will be missing: frozen.');
  const server = await serve(restored);
  const rows = (await server.call<{ id: string; fault: string | null }[]>('GET', '/api/instances')).json;
  expect(Object.fromEntries(rows.map(({ id, fault }) => [id, fault]))).toEqual({
    awake: null,
    archived: null,
    frozen: 'missing',
    suspended: 'corrupt',
  });
  expect((await server.call('GET', '/api/events?type=orphan.set_aside')).json).toEqual([]);
  await server.end();
});

test('a truncated tar is no backup', () => {
  const cut = join(root, 'cut.tar');
  writeFileSync(cut, readFileSync(tar).subarray(0, 100_000));
  const verified = run('backup', folder, ['--verify', cut]);
  expect([verified.status, verified.stderr]).toEqual([1, expect.stringContaining('is not a whole backup')]);
  const refused = run('restore', join(root, 'of-cut'), ['--from', cut]);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('is not a whole backup')]);
});
