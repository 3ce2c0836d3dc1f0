import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { FORMER, layLastState } from '../lib/registry/testing/last-state.ts';
import {
  everything,
  exchange,
  FILES,
  fill,
  folder,
  forgetFingerprints,
  keys,
  opens,
  refused,
  root,
  row,
  run,
  server,
  stageKeys,
  start,
  startWith,
  stop,
  wrote,
} from './key-folder.ts';

stageKeys();

test('the keys lie in their own folder, and the registry knows them by fingerprints that hold no part of one', async () => {
  await fill();
  expect(readdirSync(keys).sort()).toEqual(FILES);
  expect(FILES.map((name) => statSync(join(keys, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600, 0o600]);
  expect(readdirSync(folder).filter((name) => FILES.includes(name))).toEqual([]);
  expect(Object.keys(row()?.keys ?? {}).sort()).toEqual(['admin', 'auth', 'secrets', 'signing']);
  wrote(readFileSync(join(folder, 'registry.sqlite'), 'latin1'));
  await start();
  expect(await opens()).toEqual([true]);
  await stop();
  // Moved without the setting, and the setting without the move.
  expect(refused({ WB_KEYS: folder })).toMatch(/auth\.secret is missing[\s\S]*secrets\.key is missing/);
  for (const name of FILES) renameSync(join(keys, name), join(folder, name));
  expect(refused()).toContain(`There is ${join(folder, 'signing.key')}: move it.`);
});

test('key files that cannot be used are named at once, whatever is wrong, and nothing is changed', async () => {
  await fill();
  const whole = join(root, 'whole');
  cpSync(keys, whole, { recursive: true });
  const again = () => {
    rmSync(keys, { recursive: true });
    cpSync(whole, keys, { recursive: true });
    chmodSync(keys, 0o700);
    for (const name of FILES) chmodSync(join(keys, name), 0o600);
  };
  const at = (name: string) => join(keys, name);

  renameSync(at('auth.secret'), at('elsewhere'));
  symlinkSync(at('elsewhere'), at('auth.secret'));
  truncateSync(at('secrets.key'), 20);
  truncateSync(at('signing.key'), 60);
  chmodSync(at('admin.key'), 0o644);
  const first = refused();
  expect(first).toContain(`  ${at('auth.secret')} is a link.`);
  expect(first).toContain(`  ${at('secrets.key')} holds no key of 32 bytes.`);
  expect(first).toContain(`  ${at('signing.key')} holds no private key.`);
  expect(first).toContain(`  Others may use ${at('admin.key')} (its mode is 0644). Run chmod 600 ${at('admin.key')}.`);

  again();
  truncateSync(at('auth.secret'), 0);
  rmSync(at('secrets.key'));
  mkdirSync(at('secrets.key'));
  rmSync(at('signing.key'));
  spawnSync('mkfifo', ['-m', '600', at('signing.key')]);
  rmSync(at('admin.key'));
  const second = refused();
  expect(second).toContain(`  ${at('auth.secret')} is empty.`);
  expect(second).toContain(`  ${at('secrets.key')} is a folder and should be a file.`);
  expect(second).toContain(`  ${at('signing.key')} is not a plain file.`);
  expect(second).toContain(`  ${at('admin.key')} is missing: the registry knows `);

  again();
  truncateSync(at('auth.secret'), 30);
  expect(refused()).toMatch(/auth\.secret is another key: the registry knows hkdf:[0-9a-f]{32}, this one is scrypt:/);
  again();
  if (process.getuid?.() === 0) {
    chownSync(at('auth.secret'), 65_534, 65_534);
    expect(refused()).toContain(`  ${at('auth.secret')} belongs to the user 65534, and this server runs as 0.`);
    again();
  }

  chmodSync(keys, 0o777);
  expect(refused()).toContain(`  Others may write to ${keys} (its mode is 0777).`);
  renameSync(keys, `${keys}-moved`);
  expect(refused()).toContain(`  There is no folder ${keys}. Make it`);
  symlinkSync(`${keys}-moved`, keys);
  expect(refused()).toContain(`  ${keys} is a link. Set WB_KEYS to the folder itself.`);
  rmSync(keys);
  writeFileSync(keys, '');
  expect(refused()).toContain(`  WB_KEYS is ${keys}, and that is no folder.`);
  rmSync(keys);
  renameSync(`${keys}-moved`, keys);
  again();
  await start();
  expect(await opens()).toEqual([true]);
});

test('a server with the keys of another one says which differ, and starts again once they are back', async () => {
  await fill();
  const whole = join(root, 'whole');
  cpSync(keys, whole, { recursive: true });
  const known = row();
  for (const names of [['secrets.key'], ['auth.secret'], ['signing.key'], ['admin.key'], FILES]) {
    exchange(names);
    const said = refused();
    for (const name of FILES) expect(said.includes(`${join(keys, name)} is another key`)).toBe(names.includes(name));
    expect(run('keys', ['list']).status).toBe(3);
    for (const name of FILES) cpSync(join(whole, name), join(keys, name));
  }
  rmSync(join(keys, 'secrets.key'));
  expect(refused()).toMatch(/secrets\.key is missing: the registry knows hkdf:/);
  cpSync(join(whole, 'secrets.key'), join(keys, 'secrets.key'));
  expect(row()).toEqual(known);
  await start();
  expect(await opens()).toEqual([true]);
  await stop();
  // A key of the settings is no file: it may change at any time.
  await startWith({ WB_ADMIN_KEY: 'of-the-settings-and-no-file' });
  expect(row()).toEqual(known);
});

test('a registry without fingerprints takes only keys that open what is there', async () => {
  await fill();
  const whole = join(root, 'whole');
  cpSync(keys, whole, { recursive: true });
  const known = row();
  forgetFingerprints();
  exchange(['secrets.key']);
  expect(refused()).toContain('secrets.key is another key: it opens none of the 2 sealed secrets.');
  rmSync(join(keys, 'secrets.key'));
  exchange(['signing.key']);
  const said = refused();
  expect(said).toContain('secrets.key is missing: 2 sealed secrets are in the registry.');
  expect(said).toMatch(/signing\.key is another key: the signed head of the ledger is signed by did:key:z6Mk/);
  expect(row()).toBeNull();
  for (const name of FILES) cpSync(join(whole, name), join(keys, name));
  expect(run('keys', ['list']).text).toMatch(/^secrets\.key +not recorded yet: the next start does$/m);
  await start();
  await stop();
  expect(row()?.keys.signing?.makes).toBe(known?.keys.signing?.makes);
  exchange(['secrets.key']);
  expect(refused()).toMatch(/secrets\.key is another key: the registry knows /);
});

test('a list changes nothing, beside a server and on a registry of any version', async () => {
  await fill();
  const before = everything();
  const { status, text } = run('keys', ['list']);
  expect(status).toBe(0);
  expect(text).toMatch(/^auth\.secret +hkdf:[0-9a-f]{32} since \d{4}-\d{2}-\d{2}$/m);
  expect(text).toMatch(/^signing\.key +did:key:z6Mk\w+ since /m);
  expect(everything()).toEqual(before);
  const client = new Database(join(folder, 'registry.sqlite'));
  client.exec('DROP TABLE secrets; DELETE FROM __drizzle_migrations');
  client.close();
  const older = everything();
  expect(run('keys', ['list']).status).toBe(0);
  expect(everything()).toEqual(older);
  for (const args of [[], ['rotate'], ['rotate', 'users'], ['list', 'auth'], ['finish', 'auth', 'admin']]) {
    expect(run('keys', args)).toMatchObject({ status: 1, text: expect.stringContaining('Usage: npm run keys') });
  }
  expect(run('keys', ['rotate', 'auth'], { WB_DATA: join(root, 'nothing') }).text).toContain('There is no registry at');
  expect(existsSync(join(root, 'nothing'))).toBe(false);
});

test('a key of an older registry is rotated by no command that would bring the registry forward', () => {
  layLastState(folder);
  for (const verb of ['rotate', 'finish']) {
    const { status, text } = run('keys', [verb, 'secrets']);
    expect([status, text]).toEqual([1, expect.stringContaining('start the server once')]);
  }
  const client = new Database(join(folder, 'registry.sqlite'), { readonly: true });
  expect(client.prepare('SELECT count(*) FROM __drizzle_migrations').pluck().get()).toBe(FORMER);
  client.close();
  expect(readdirSync(folder).filter((name) => name.includes('.before-'))).toEqual([]);
});

test('a lost key is given up by a person: what it opened is named, and months that it sealed stay proved', async () => {
  await fill();
  for (const name of ['secrets.key', 'signing.key', 'auth.secret']) rmSync(join(keys, name));
  expect(refused()).toMatch(/auth\.secret is missing[\s\S]*secrets\.key is missing[\s\S]*signing\.key is missing/);
  const { status, text } = run('keys', ['accept', 'secrets']);
  expect(status).toBe(0);
  expect(text).toMatch(
    /secrets\.key is a new key\.\nDoes not open and has to be set again: TOKEN of acme, the webhook hook/,
  );
  expect(run('keys', ['accept', 'secrets'])).toMatchObject({
    status: 1,
    text: expect.stringContaining('secrets.key is the key that the registry knows.'),
  });
  expect(run('keys', ['accept', 'signing']).status).toBe(0);
  expect(run('keys', ['accept', 'auth']).status).toBe(0);
  await start();
  expect(server?.output()).not.toMatch(/^ledger:/m);
  expect(await opens()).toEqual([false]);
  expect((await server?.call('GET', '/api/events?type=keys.accepted'))?.json).toHaveLength(3);
  await stop();
  expect(run('ledger-verify', []).text).toContain('Proved: no line was changed, removed or reordered.');
});
