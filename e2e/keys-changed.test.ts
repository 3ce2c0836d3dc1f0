import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { caller } from '../lib/testing/call.ts';
import {
  everything,
  exchange,
  FILES,
  fill,
  folder,
  keys,
  opens,
  refused,
  root,
  row,
  run,
  server,
  stageKeys,
  start,
  stop,
} from './key-folder.ts';

stageKeys();

test('a restore says which secrets do not open with the keys that are there, before anything is changed', async () => {
  await fill();
  const backups = join(root, 'backups');
  mkdirSync(backups);
  const passphrase = { WB_BACKUP_PASSPHRASE: 'a long passphrase' };
  expect(run('backup', [backups, '--with-keys'], passphrase).status).toBe(0);
  const tar = join(root, 'one.tar');
  expect(run('backup', [tar, '--with-keys'], passphrase).status).toBe(0);
  rmSync(folder, { recursive: true });
  cpSync(keys, join(root, 'whole'), { recursive: true });
  for (const name of FILES) rmSync(join(keys, name));

  const closed = /Secrets that do not open .*: TOKEN of acme, the webhook hook \(hook-\w+\)\.\n/;
  for (const from of [backups, tar]) {
    const before = everything();
    const { status, text } = run('restore', ['--from', from, '--dry-run']);
    expect([status, text]).toEqual([0, expect.stringMatching(closed)]);
    expect(run('restore', ['--from', from, '--dry-run'], passphrase).text).not.toContain('do not open');
    expect(everything()).toEqual(before);
  }
  exchange(['secrets.key']);
  expect(run('restore', ['--from', backups], passphrase).text).toMatch(closed);
  expect(run('keys', ['list']).status).toBe(0);
  await start();
  expect(await opens()).toEqual([false]);
  await stop();

  rmSync(folder, { recursive: true });
  for (const name of FILES) rmSync(join(keys, name));
  expect(run('restore', ['--from', tar], passphrase).text).not.toContain('do not open');
  expect(readdirSync(keys).sort()).toEqual(FILES);
  await start();
  expect(await opens()).toEqual([true]);
});

test('every key is rotated under a server: both are taken meanwhile, the new one alone afterwards, and no backup is lost', async () => {
  await fill();
  const first = readFileSync(join(keys, 'admin.key'), 'utf8').trim();
  const issuer = row()?.keys.signing?.makes;
  for (const name of ['auth', 'secrets', 'signing', 'admin']) {
    const { status, text } = run('keys', ['rotate', name]);
    expect([status, text]).toEqual([0, expect.stringContaining('is a new key, and makes everything from now on.')]);
  }
  expect(run('keys', ['list']).text.match(/being rotated/g)).toHaveLength(4);
  await start();
  expect(server?.output()).not.toMatch(/^ledger:/m);
  expect(await opens()).toEqual([true]);
  const askedBy = async (key: string) => (await caller(server?.url ?? '', key)('GET', '/api/instances')).status;
  expect(await askedBy(first)).toBe(200);
  expect(run('keys', ['finish', 'admin'])).toMatchObject({
    status: 1,
    text: expect.stringContaining('Another Winterdock uses the data folder'),
  });
  const hook = await server?.call('POST', '/api/webhooks', { name: 'two', url: 'https://hooks.example.com/two' });
  expect(hook?.status).toBe(201);
  await stop();
  const backups = join(root, 'backups');
  mkdirSync(backups);
  const passphrase = { WB_BACKUP_PASSPHRASE: 'a long passphrase' };
  expect(run('backup', [backups, '--with-keys'], passphrase).status).toBe(0);

  // As a kill leaves it between the row and the name of the key.
  renameSync(join(keys, 'secrets.key'), join(keys, 'secrets-new.key'));
  cpSync(join(keys, 'secrets-old.key'), join(keys, 'secrets.key'));
  expect(refused()).toContain(
    `The change of ${join(keys, 'secrets.key')} was interrupted: npm run keys -- rotate secrets goes on with it.`,
  );
  expect(run('keys', ['rotate', 'secrets']).status).toBe(0);

  expect(run('keys', ['finish', 'secrets']).text).toContain('2 secrets were sealed again.');
  for (const name of ['auth', 'signing', 'admin']) expect(run('keys', ['finish', name]).status).toBe(0);
  expect(readdirSync(keys).sort()).toEqual(FILES);
  await start();
  expect(await opens()).toEqual([true]);
  expect(await askedBy(first)).toBe(401);
  await stop();
  expect(readFileSync(join(keys, 'signing.key'), 'utf8')).toContain(`predecessor: ${issuer}\n`);
  expect(run('ledger-verify', []).text).toContain('Proved: no line was changed, removed or reordered.');

  // The backup was made in the middle of the rotation: its keys come back with it, and so does what they had not ended.
  rmSync(folder, { recursive: true });
  for (const name of FILES) rmSync(join(keys, name));
  expect(run('restore', ['--from', backups], passphrase).text).not.toContain('do not open');
  await start();
  expect(await opens()).toEqual([true]);
  await stop();
  expect(run('keys', ['list']).text.match(/being rotated/g)).toHaveLength(4);
});
