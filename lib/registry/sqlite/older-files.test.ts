import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instanceId } from '../../testing/plain-ids.ts';
import { KNOWN, makeOlderRegistry } from '../testing/older-registry.ts';
import { openLedgerFile } from './ledger-file.ts';
import { openLiveRegistryReader } from './live-reader.ts';
import { openRegistryFile } from './registry-file.ts';

const HASH = 'ab'.repeat(32);

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-older-files-'));
  path = join(folder, 'registry.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Inserts a line into a ledger that has hashes. */
function addLine(): void {
  const client = new Database(path);
  client
    .prepare(
      `INSERT INTO events(seq, time_ms, instance, tenant, type, "trigger", actor, via, hash)
       VALUES (1, 5, 'gone', 'globex', 'instance.created', 'request', 'key:admin', 'api', ?)`,
    )
    .run(HASH);
  client.close();
}

test.each([8, 9, 10, 11, 12])('a file of an older version with %i migrations can be read', (count) => {
  expect(count).toBeLessThan(KNOWN);
  makeOlderRegistry(path, count);
  addLine();
  const file = openRegistryFile(path);
  expect(file.chained).toBe(true);
  expect(file.chainHead()).toEqual({ seq: 1, hash: HASH });
  expect(file.chain(0, 10)).toMatchObject([{ seq: 1, tenant: 'globex', from: null, hash: HASH, blanked: null }]);
  expect(file.segments.list()).toEqual([]);
  expect([file.isEmpty(), file.hasInstance('two'), file.hasInstance('gone')]).toEqual([false, true, false]);
  expect([file.hasCopy('a', HASH), file.needsCopy('a', HASH), file.copies(), file.marks()]).toEqual([
    false,
    false,
    [],
    new Set(),
  ]);
  expect([file.tenantInLedger('gone'), file.tenantInLedger('two')]).toEqual(['globex', null]);
  expect([file.integrity(), file.miscounted()]).toEqual(['ok', []]);
  file.close();
  const ledger = openLedgerFile(path);
  expect(ledger.lines(0, 10)).toMatchObject([{ seq: 1, hash: HASH, blanked: null }]);
  expect([ledger.lines(1, 10), ledger.segments()]).toEqual([[], []]);
  ledger.close();
  const rows = openLiveRegistryReader(path);
  expect([rows.count(), rows.migrations(), rows.copies()]).toEqual([2, count, []]);
  expect(rows.chainHead()).toEqual({ seq: 1, hash: HASH });
  expect(rows.rows('one', 10)).toEqual([rows.row(instanceId('two'))]);
  expect(rows.row(instanceId('two'))).toMatchObject({
    id: 'two',
    labels: { who: 'two' },
    keepHot: false,
    hotToWarmSeconds: null,
    pending: null,
  });
  rows.close();
});

test('a file from before the ledger was chained is recognised as one, and is not empty', () => {
  makeOlderRegistry(path, 2);
  const file = openRegistryFile(path);
  expect([file.chained, file.chain(0, 10), file.chainHead().seq, file.isEmpty()]).toEqual([false, [], 0, false]);
  file.close();
  expect(() => openLedgerFile(path)).toThrow('start the server on it once');
});

test('a file without tables is empty, and is not a registry to copy rows from', () => {
  const client = new Database(path);
  client.exec('CREATE TABLE theirs (x)');
  client.close();
  const file = openRegistryFile(path);
  expect([file.chained, file.isEmpty(), file.hasInstance('a'), file.copies(), file.miscounted()]).toEqual([
    false,
    true,
    false,
    [],
    [],
  ]);
  expect([file.rows('', 5), file.tenantInLedger('a'), file.marks(), file.segments.list()]).toEqual([
    [],
    null,
    new Set(),
    [],
  ]);
  file.close();
  expect(() => openLiveRegistryReader(path)).toThrow('is not the registry');
});
