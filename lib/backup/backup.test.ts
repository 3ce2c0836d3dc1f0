import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { removeTreeNow } from '../base/effects.ts';
import { openSigner } from '../base/signing.ts';
import { createDrawers } from '../host/drawers.ts';
import { registryDriver } from '../registry/drivers.ts';
import { driverOfTests, settingsOfTests } from '../registry/testing/registry-of-tests.ts';
import { HASHED_AT_FILING_BYTES } from '../sandboxes/files/filed-hash.ts';
import type { ServerProcess } from '../testing/process.ts';
import { createReaders } from '../vfs/readers.ts';
import { makeBackup } from './backup.ts';
import { objectPath } from './folder-place.ts';
import { prune } from './prune.ts';
import { manifestsIn, openFolderTarget } from './store.ts';
import { commandOf, expectWhole, populate, run, type ServerContent, spawnServer } from './testing/server-content.ts';

let root: string;
let folder: string;
let store: string;
let server: ServerProcess;
let world: ServerContent;
const started: ServerProcess[] = [];

async function serve(on: string): Promise<ServerProcess> {
  const one = await spawnServer({ folder: on });
  started.push(one);
  return one;
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-backup-'));
  folder = join(root, 'data');
  store = join(root, 'backup');
  server = await serve(folder);
  world = await populate(server);
});
afterAll(async () => {
  for (const one of started) if (one.child.exitCode === null) await one.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

test('a backup made beside a running server is restored to an empty folder with every sandbox in its state', async () => {
  const made = run('backup', folder, [store]);
  expect([made.status, made.stderr]).toEqual([0, '']);
  expect(made.stdout).toMatch(/^Backup \S+: 9 sandboxes as of /);
  expect(made.stdout).toContain('Without the key files (auth.secret, secrets.key, signing.key)');
  const verified = run('backup', folder, ['--verify', store]);
  expect([verified.status, verified.stderr]).toEqual([0, '']);
  expect(verified.stdout).toMatch(/^Verified: 10 objects, /m);

  const restored = join(root, 'restored');
  const dry = run('restore', restored, ['--from', store, '--dry-run']);
  expect([dry.status, dry.stderr, existsSync(restored)]).toEqual([0, '', false]);
  expect(dry.stdout).toContain('1 archived, 3 suspended, 3 created, 1 deleted, 1 frozen');
  expect(dry.stdout).toContain('Lived in memory alone, and are gone: memory.');
  const done = run('restore', restored, ['--from', store]);
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain('auth.secret: everybody has to sign in again.');

  const looked = run('doctor', restored, ['--full']);
  expect([looked.status, looked.stderr], looked.stdout).toEqual([0, '']);

  const again = await serve(restored);
  expect((await again.call('GET', '/api/events?type=keys.made')).json).toMatchObject([
    { reason: expect.stringMatching(/^auth\.secret: everybody .+ signing\.key: /) },
  ]);
  await expectWhole(again, world);
  await again.end();
});

test('a second backup copies only changes, and --keep removes the first', async () => {
  // The registry, which has a line more, and the head of the ledger when it was signed anew by then.
  expect(run('backup', folder, [store]).stdout).toMatch(/^[12] objects new, /m);
  await server.call('POST', '/api/instances/suspended/exec', { command: 'echo more > more' });
  await server.call('POST', '/api/instances/suspended/suspend', {});
  const third = run('backup', folder, [store, '--keep', '2']);
  // And the sandbox.
  expect(third.stdout).toMatch(/^[23] objects new, /m);
  // What it alone named stays for a day: somebody may be reading it.
  expect(third.stdout).toMatch(/^1 older backups removed\. 0 objects, 0 B, that none names since a day\.$/m);
  const { manifests } = await manifestsIn(store);
  const [after, before] = manifests.map(({ rows }) => new Map(rows.map((row) => [row.id, row.object?.sha256])));
  const changed = [...(after ?? [])].filter(([id, sha256]) => sha256 !== before?.get(id)).map(([id]) => id);
  expect([manifests.length, changed]).toEqual([2, ['suspended']]);
  const at = (time: string) => run('restore', join(root, 'none'), ['--from', store, '--dry-run', '--at', time]);
  const [newest, older] = manifests;
  expect(at(new Date((newest?.begun_ms ?? 0) - 1).toISOString()).stdout).toContain(`Backup ${older?.id}, `);
  expect(at('2100-01-01').stdout).toContain(`Backup ${newest?.id}, `);
  expect(at('2020-01-01').stderr).toContain('There is no backup up to 2020-01-01');
  expect(at('yesterday').stderr).toContain('--at takes a time');
  expect(run('backup', folder, ['--verify', store]).status).toBe(0);
  expect(readdirSync(store).sort()).toEqual(['backups', 'lock.sqlite', 'objects', 'retired']);
});

test('after the clock was set back, --keep keeps what is made now, and what is dated ahead', async () => {
  const dated = join(root, 'dated');
  /** A backup as a server with this clock makes it. */
  const make = async (clock: FakeClock) => {
    const target = await openFolderTarget(dated);
    const config = readConfig({ WB_DATA: folder, ...settingsOfTests(folder) });
    const readers = createReaders({ maxFileBytes: config.maxFileBytes });
    try {
      const stores = { driver: registryDriver(config.registry), drawers: createDrawers(config) };
      const parts = { config, readers, ...stores, signer: openSigner(folder), passphrase: null };
      return (await makeBackup({ ...parts, target, clock })).manifest.id;
    } finally {
      await readers.stop();
      await target.close();
    }
  };
  const present = new FakeClock(Date.now() - 10_000);
  const ahead = new FakeClock(Date.now() + 5 * 365 * 86_400_000);
  const before = [await make(ahead), await make(ahead)];
  const made: string[] = [];
  for (let day = 0; day < 3; day += 1) {
    made.push(await make(present));
    present.advance(1);
  }
  const left = run('backup', folder, [dated, '--keep', '2']);
  expect(left.stdout).toMatch(/^2 older backups removed\. /m);
  expect(left.stdout).toContain('2 are dated ahead of this clock: they are kept until then, and not counted.');
  const ids = (await manifestsIn(dated)).manifests.map(({ id }) => id);
  expect(ids).toEqual([expect.any(String), made[2], ...before.toSorted().reverse()]);
  expect(run('backup', folder, ['--verify', dated]).status).toBe(0);

  // The newest is the one that was made last, and one that is dated ahead is had by its date.
  const newest = (...at: string[]) =>
    run('restore', join(root, 'none'), ['--from', dated, '--dry-run', ...at]).stdout.split('\n')[0];
  expect(newest()).toContain(`Backup ${ids[0]}, `);
  expect(newest('--at', '2100-01-01')).toContain(`Backup ${ids[2]}, `);
  // Once the clock has come to their date they are as any others.
  ahead.advance(1);
  expect(await prune(dated, 2, ahead)).toMatchObject({ backups: [expect.any(String), expect.any(String)], ahead: 0 });
  expect((await manifestsIn(dated, ahead)).manifests.map(({ id }) => id)).toEqual(before.toSorted().reverse());
});

test('writes that are answered before a backup begins are in it, whatever is written and moved meanwhile', async () => {
  const { call } = server;
  const ids = ['w-0', 'w-1', 'w-2', 'moving'];
  for (const id of ids) await call('POST', '/api/instances', { id, tenant: 'acme' });
  const answered = new Map<string, number>();
  let going = true;
  const writers = ids.map(async (id) => {
    for (let n = 0; going; n += 1) {
      const put = await call('PUT', `/api/instances/${id}/volumes/workspace/n`, String(n));
      if (put.status < 300) answered.set(id, n);
      if (id === 'moving') {
        await call('POST', `/api/instances/${id}/suspend`, {});
        if (n % 2 === 0) await call('POST', `/api/instances/${id}/freeze`, {});
      }
    }
  });
  const busy = join(root, 'busy');
  try {
    await expect.poll(() => Math.min(...ids.map((id) => answered.get(id) ?? 0))).toBeGreaterThan(2);
    const before = new Map(answered);
    const [command, args] = commandOf('backup', [busy]);
    const child = spawn(command, args, {
      env: { ...process.env, WB_DATA: folder, ...settingsOfTests(folder) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += String(chunk);
    });
    const [status] = await once(child, 'exit');
    expect([status, output]).toEqual([0, '']);
    going = false;
    await Promise.all(writers);

    const restored = join(root, 'of-busy');
    const done = run('restore', restored, ['--from', busy]);
    expect([done.status, done.stderr]).toEqual([0, '']);
    const again = await serve(restored);
    for (const id of ids) {
      const { text } = await again.call('GET', `/api/instances/${id}/volumes/workspace/n`);
      expect(Number(text), `${id}: ${text} of ${before.get(id)}`).toBeGreaterThanOrEqual(before.get(id) ?? 0);
      expect((await again.call('POST', `/api/instances/${id}/exec`, { command: 'cat n' })).json.stdout).toBe(text);
    }
    expect((await again.call('GET', '/api/events?type=orphan.set_aside')).json).toEqual([]);
    await again.end();
  } finally {
    going = false;
    await Promise.all(writers);
    for (const id of ids) await call('POST', `/api/instances/${id}/suspend`, {});
  }
});

test('a damaged object is named with its owner, and nothing is restored from it', async () => {
  const copy = join(root, 'damaged');
  cpSync(store, copy, { recursive: true });
  const row = (await manifestsIn(copy)).manifests[0]?.rows.find(({ id }) => id === 'frozen');
  const path = objectPath(copy, row?.object?.sha256 ?? '');
  const bytes = readFileSync(path);
  bytes[5000] = (bytes[5000] ?? 0) ^ 1;
  rmSync(path);
  writeFileSync(path, bytes);
  const verified = run('backup', folder, ['--verify', copy]);
  expect(verified.status).toBe(1);
  expect(verified.stderr).toContain(`objects/${row?.object?.sha256} is damaged: the sandbox "frozen"`);
  const target = join(root, 'not-restored');
  const refused = run('restore', target, ['--from', copy]);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('the sandbox "frozen"')]);
  expect(await driverOfTests(target).presence()).toEqual({ kind: 'missing' });

  const manifest = join(copy, 'backups', readdirSync(join(copy, 'backups')).sort().at(-1) ?? '');
  const text = readFileSync(manifest, 'utf8');
  rmSync(manifest);
  writeFileSync(manifest, text.replace('"frozen"', '"warmer"'));
  const passed = run('restore', target, ['--from', copy, '--dry-run']);
  expect([passed.status, passed.stderr]).toEqual([0, expect.stringMatching(/^PASSED OVER: .* not as it was signed/)]);
  const changed = run('backup', folder, ['--verify', copy]);
  expect([changed.status, changed.stderr]).toEqual([1, expect.stringContaining('it is not as it was signed')]);
});

test('a file without a hash of what was filed is in a backup as it is, and named', async () => {
  const other = join(root, 'killed');
  const { call, end } = await serve(other);
  await call('POST', '/api/instances', { id: 'large', tenant: 'acme' });
  await call('PUT', '/api/instances/large/volumes/workspace/large', Buffer.alloc(HASHED_AT_FILING_BYTES));
  expect((await call('POST', '/api/instances/large/suspend', {})).status).toBe(200);
  await end('SIGKILL');
  for (const place of [join(root, 'of-killed'), join(root, 'of-killed')]) {
    const made = run('backup', other, [place]);
    expect([made.status, made.stderr]).toEqual([0, '']);
    expect(made.stdout).toContain('Without a hash of what was filed, as found: large.');
    const { manifests } = await manifestsIn(place);
    expect(manifests[0]?.rows).toMatchObject([{ id: 'large', how: 'whole', unverified: true, wrong: null }]);
  }
});

test('a killed backup leaves earlier ones complete, and the next one continues', async () => {
  const before = (await manifestsIn(store)).manifests.map(({ id }) => id);
  for (const afterMs of [150, 300, 450]) {
    const [command, args] = commandOf('backup', [store]);
    const env = { ...process.env, WB_DATA: folder, ...settingsOfTests(folder) };
    const child = spawn(command, args, { env, stdio: 'ignore' });
    setTimeout(() => child.kill('SIGKILL'), afterMs);
    await once(child, 'exit');
  }
  expect((await manifestsIn(store)).manifests.map(({ id }) => id)).toEqual(expect.arrayContaining(before));
  expect(run('backup', folder, ['--verify', store]).status).toBe(0);
  expect(run('backup', folder, [store]).status).toBe(0);
  removeTreeNow(join(root, 'damaged'));
});
