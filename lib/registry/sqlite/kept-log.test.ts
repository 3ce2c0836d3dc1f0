import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OpenLog, RegistryLogKeeper } from '../log-keeper.ts';
import type { Registry } from '../registry.ts';
import { makeInstance } from '../testing/fixtures.ts';
import { openTestRegistry } from '../testing/open-test-registry.ts';

/** Lets the log go when it was told to, and notes what it is told. */
class Keeper implements RegistryLogKeeper {
  letsGo = false;
  told: string[] = [];
  log: OpenLog | null = null;
  opening = (file: string) => this.note(`opening ${existsSync(file)}`);
  opened(log: OpenLog) {
    this.log = log;
    this.note('opened');
  }
  mayGo = () => this.letsGo;
  forgetting = () => this.note('forgetting');
  forgot = () => this.note('forgot');
  closing = () => this.note(`closing ${statSync(this.log?.path ?? '').size > 0}`);
  closed = () => this.note(`closed ${existsSync(this.log?.path ?? '')}`);
  private note(what: string) {
    this.told.push(what);
  }
}

let folder: string;
let path: string;
let keeper: Keeper;
let registry: Registry;

const inFile = () => readFileSync(path);
/** More pages than SQLite leaves in a log by itself. */
const BEYOND = 9000;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-kept-log-'));
  path = join(folder, 'registry.sqlite');
  keeper = new Keeper();
  registry = await openTestRegistry(path, { keeper });
});
afterEach(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

test('nothing of a kept log is written into the file, however long it grows, and all of it once it may go', async () => {
  const before = inFile();
  const labels = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`label-${n}`, 'x'.repeat(60)]));
  for (let n = 0; (keeper.log?.frames() ?? 0) < BEYOND; n += 1)
    await makeInstance(registry, `r-${n}`, 'active', { labels });
  expect(await registry.storage.checkpoint()).toBe(true);
  expect(inFile().equals(before)).toBe(true);
  const frames = keeper.log?.frames();
  expect(statSync(`${path}-wal`).size).toBe(32 + (frames ?? 0) * (24 + 2048));

  keeper.letsGo = true;
  expect(keeper.log?.checkpoint()).toBe(true);
  expect(inFile().equals(before)).toBe(false);
  await makeInstance(registry, 'next', 'active');
  // The next commit is written over the log.
  expect(keeper.log?.frames()).toBeLessThan(frames ?? 0);
});

test('readers beside it do not let a kept log go when they close', async () => {
  const before = inFile();
  await makeInstance(registry, 'a', 'active');
  const view = await registry.ledger.view();
  await view.close();
  expect(await registry.storage.check(new AbortController().signal)).toBe('ok');
  const other = new Database(path);
  other.exec('SELECT count(*) FROM instances');
  other.close();
  expect(inFile().equals(before)).toBe(true);
});

test('emptying the log tells its keeper before and afterwards, and does not ask', async () => {
  await makeInstance(registry, 'a', 'active');
  const reader = new Database(path, { readonly: true });
  reader.exec('BEGIN; SELECT count(*) FROM instances');
  await makeInstance(registry, 'b', 'active');
  expect(await registry.storage.emptyLog()).toBe(false);
  reader.close();
  expect(await registry.storage.emptyLog()).toBe(true);
  expect(statSync(`${path}-wal`).size).toBe(0);
  expect(keeper.told).toEqual(['opening false', 'opened', 'forgetting', 'forgetting', 'forgot']);
});

test('its keeper has the whole log before the close, and hears once that it is gone', async () => {
  await makeInstance(registry, 'a', 'active');
  await registry.close();
  await registry.close();
  expect(keeper.told).toEqual(['opening false', 'opened', 'closing true', 'closed false']);
  const again = await openTestRegistry(path);
  expect((await again.instances.countsByState()).active).toBe(1);
  await again.close();
});
