import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instanceId } from '../../testing/plain-ids.ts';
import { FORMER, KNOWN, layLastState } from '../testing/last-state.ts';
import { openTestRegistry } from '../testing/open-test-registry.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-migrate-'));
  path = join(folder, 'registry.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => openTestRegistry(path);
const migrationsOf = (file: string) => {
  const client = new Database(file, { readonly: true });
  try {
    return client.prepare('SELECT count(*) FROM __drizzle_migrations').pluck().get();
  } finally {
    client.close();
  }
};

test('a registry of an earlier version is brought forward, and a copy from before is kept beside it', async () => {
  layLastState(folder);
  const registry = await open();
  const copy = `${path}.before-${KNOWN}`;
  expect(await registry.storage.upgrade()).toEqual({ from: FORMER, to: KNOWN, copy });
  expect((await registry.instances.get(instanceId('frozen')))?.labels).toEqual({ kind: 'frozen' });
  const own = { label: { key: 'kind', value: 'frozen' }, tenant: 'acme', state: 'frozen' } as const;
  const byLabel = await registry.instances.list({ ...own, sort: 'updated', reverse: false, limit: 5 });
  expect(byLabel.rows.map(({ id }) => id)).toEqual(['frozen']);
  const found = await registry.instances.list({ text: 'n-fro', sort: 'name', reverse: false, limit: 5 });
  expect(found.rows.map(({ id }) => id)).toEqual(['frozen']);
  await registry.close();
  expect([migrationsOf(path), migrationsOf(copy)]).toEqual([KNOWN, FORMER]);
  expect(statSync(copy).mode & 0o077).toBe(0);
  const again = await open();
  expect(await again.storage.upgrade()).toBeNull();
  await again.close();
});

test('going back to the copy and forward again keeps both copies', async () => {
  layLastState(folder);
  await (await open()).close();
  const copy = `${path}.before-${KNOWN}`;
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  cpSync(copy, path);
  const registry = await open();
  expect((await registry.storage.upgrade())?.copy).toBe(`${copy}.2`);
  expect(await registry.instances.get(instanceId('frozen'))).not.toBeNull();
  await registry.close();
  expect(existsSync(copy)).toBe(true);
});

test('a new registry is created without a copy', async () => {
  const registry = await open();
  expect(await registry.storage.upgrade()).toBeNull();
  await registry.close();
  expect(readdirSync(folder)).toEqual(['registry.sqlite']);
});

test('a registry of a newer version is refused by name and left unchanged', async () => {
  await (await open()).close();
  const client = new Database(path);
  client.prepare("INSERT INTO __drizzle_migrations(hash, created_at) VALUES ('later', 9999999999999)").run();
  client.close();
  const before = readFileSync(path);
  await expect(open()).rejects.toThrow(
    `A newer version of Winterdock has written the registry ${path}: of its ${KNOWN + 1} migrations this version does not know 1.`,
  );
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(folder)).toEqual(['registry.sqlite']);
});

test.each([
  ['at rest', 'DELETE'],
  ['in use, with its newest rows in a log', 'WAL'],
])("another program's database %s is refused and left unchanged", async (_, mode) => {
  const owner = new Database(path);
  owner.pragma(`journal_mode = ${mode}`);
  owner.exec('CREATE TABLE entries(one TEXT); INSERT INTO entries VALUES (1)');
  const before = [readFileSync(path), readdirSync(folder)];
  await expect(open()).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('something else') });
  expect([readFileSync(path), readdirSync(folder)]).toEqual(before);
  expect(owner.pragma('journal_mode', { simple: true })).toBe(mode.toLowerCase());
  expect(owner.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()).toEqual(['entries']);
  owner.close();
});
