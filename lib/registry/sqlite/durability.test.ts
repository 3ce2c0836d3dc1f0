import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyLedger } from '../../ledger/verify.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import { intent, makeInstance, START, THRESHOLDS, transitionTo } from '../testing/fixtures.ts';
import { openTestRegistry } from '../testing/open-test-registry.ts';
import { RegistryDatabase } from './database.ts';

const WRITER = join(import.meta.dirname, '../testing/writer.ts');

let folder: string;
let path: string;
let opened: Registry[];
let children: ChildProcess[];

const open = async (thresholds = THRESHOLDS): Promise<Registry> => {
  const registry = await openTestRegistry(path, { thresholds });
  opened.push(registry);
  return registry;
};

/** Runs SQL on the file as another program would. */
function beside<T>(act: (client: Database.Database) => T): T {
  const client = new Database(path);
  try {
    return act(client);
  } finally {
    client.close();
  }
}

/** The registry's own write connection. */
function connection<T>(act: (database: RegistryDatabase) => T, options?: { durable: boolean }): T {
  const database = new RegistryDatabase(path, options);
  try {
    return act(database);
  } finally {
    database.close();
  }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-rows-'));
  path = join(folder, 'deep', 'registry.sqlite');
  opened = [];
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const registry of opened) await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a writer on the file. Its messages come one line at a time. */
function writer(...args: string[]): { child: ChildProcess; lines: AsyncIterator<string>; ended: Promise<unknown> } {
  const child = spawn(process.execPath, [WRITER, path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, ended: once(child, 'close') };
}

async function linesOf(lines: AsyncIterator<string>): Promise<Record<string, string>[]> {
  const all: Record<string, string>[] = [];
  for (let next = await lines.next(); !next.done; next = await lines.next()) all.push(JSON.parse(next.value));
  return all;
}

describe('the file', () => {
  test('is in WAL mode and fully synced, even right after an intent; a file that nobody uses yet is not synced', () => {
    const settingsOf = (database: RegistryDatabase) => {
      const pragma = (name: string) => database.client.pragma(name, { simple: true });
      const soon = database.writeWithoutSync(() => pragma('synchronous'));
      return [pragma('journal_mode'), pragma('foreign_keys'), soon, pragma('synchronous')];
    };
    expect(connection(settingsOf)).toEqual(['wal', 1, 1, 2]);
    expect(connection(settingsOf, { durable: false })).toEqual(['wal', 1, 0, 0]);
  });

  test('has its tables without its log from the start, its rows after a checkpoint beside a reader, and everything after the close', async () => {
    const rowsInFile = () => {
      copyFileSync(path, `${path}.copy`);
      const copy = new Database(`${path}.copy`);
      try {
        return copy.prepare('SELECT count(*) FROM instances').pluck().get();
      } finally {
        copy.close();
      }
    };
    const registry = await open();
    expect(rowsInFile()).toBe(0);
    await makeInstance(registry, 'a', 'suspended');
    expect(rowsInFile()).toBe(0);
    const reader = new Database(path);
    reader.exec('BEGIN; SELECT count(*) FROM instances');
    expect(await registry.storage.checkpoint()).toBe(true);
    expect(rowsInFile()).toBe(1);
    await makeInstance(registry, 'b', 'suspended');
    reader.close();
    await registry.close();
    expect(rowsInFile()).toBe(2);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test('begins with the five original columns, and reopening migrates nothing twice', async () => {
    const first = await open();
    const migrations = () =>
      beside((client) => client.prepare('SELECT * FROM __drizzle_migrations ORDER BY created_at').all());
    const before = migrations();
    expect(before.length).toBeGreaterThan(0);
    const columns = beside((client) => client.pragma('table_info(instances)')) as {
      name: string;
      type: string;
      pk: number;
    }[];
    expect(columns.slice(0, 5).map(({ name, type, pk }) => `${name} ${type}${pk === 1 ? ' key' : ''}`)).toEqual([
      'id TEXT key',
      'tenant TEXT',
      'state TEXT',
      'vfs_path TEXT',
      'updated INTEGER',
    ]);
    const row = await makeInstance(first, 'a', 'frozen', { name: 'kept', labels: { a: 'b' } });
    await first.close();
    const second = await open();
    expect(await second.instances.get(instanceId('a'))).toEqual(row);
    expect(migrations()).toEqual(before);
    expect(await second.instances.count({ text: 'kept', label: { key: 'a', value: 'b' } }, 5)).toBe(1);
  });

  test('several processes that open a new file at once all find it complete', async () => {
    const writers = [1, 2, 3, 4].map(() => writer('open'));
    for (const { ended } of writers) expect(await ended).toEqual([0, null]);
    expect(await (await open()).instances.countsByState()).toMatchObject({ created: 0 });
  });

  test('neither a line of the ledger nor a row can be removed, nor a line changed', async () => {
    const registry = await open();
    await makeInstance(registry, 'a', 'active');
    for (const sql of ['DELETE FROM events', "UPDATE events SET actor = 'nobody'", 'DELETE FROM instances']) {
      expect(() => beside((client) => client.exec(sql))).toThrow(/append-only|never removed/);
    }
    expect(await registry.ledger.lastSeq()).toBe(2);
  });

  test('a VACUUM changes no labels and no text', async () => {
    const registry = await open();
    for (let n = 0; n < 50; n += 1) {
      await makeInstance(registry, `r-${n}`, n % 3 === 0 ? 'deleted' : 'active', {
        name: `word${n}x`,
        labels: { n: `${n}` },
      });
    }
    beside((client) => client.exec('VACUUM'));
    for (let n = 0; n < 50; n += 1) {
      const expected = n % 3 === 0 ? [] : [`r-${n}`];
      for (const filter of [{ label: { key: 'n', value: `${n}` } }, { text: `word${n}x` }]) {
        const { rows } = await registry.instances.list({ ...filter, sort: 'name', reverse: false, limit: 100 });
        expect(rows.map((row) => row.id)).toEqual(expected);
      }
    }
  });

  test('a file that another process has locked is unavailable, not broken', async () => {
    const write = (database: RegistryDatabase) => database.write(() => 'written');
    connection((database) => {
      database.client.pragma('busy_timeout = 20');
      beside((other) => {
        other.exec('BEGIN IMMEDIATE');
        expect(() => write(database)).toThrow(expect.objectContaining({ code: 'storage_unavailable' }));
      });
      expect(write(database)).toBe('written');
    });
  });

  test('a transaction that other code has open on the connection is neither joined nor undone', () => {
    connection((database) => {
      const { client } = database;
      client.exec("BEGIN; INSERT INTO settings(key, value, updated) VALUES ('theirs', '1', 1)");
      expect(() => database.write(() => client.exec('DELETE FROM settings'))).toThrow(/transaction/);
      client.exec('COMMIT');
      expect(client.prepare("SELECT count(*) FROM settings WHERE key = 'theirs'").pluck().get()).toBe(1);
    });
  });

  test('in memory it is the same registry', async () => {
    const registry = await openTestRegistry(null);
    opened.push(registry);
    const row = await makeInstance(registry, 'a', 'suspended', { labels: { a: 'b' } });
    expect(await registry.instances.begin(instanceId('a'), intent(row))).toBe(true);
    expect(await registry.instances.commit(transitionTo(row, 'frozen'))).toMatchObject({
      state: 'frozen',
      pending: null,
    });
    expect(await registry.instances.count({ text: 'acme' }, 5)).toBe(1);
  });
});

describe('other processes', () => {
  test('a confirmed write survives SIGKILL, and an unconfirmed one is complete or absent', async () => {
    const { child, lines, ended } = writer('write');
    let begun = '';
    let committed = '';
    for (let n = 0; n < 41; n += 1) {
      const written = JSON.parse((await lines.next()).value);
      begun = written.begun ?? begun;
      committed = written.committed ?? committed;
    }
    child.kill('SIGKILL');
    await ended;
    const registry = await open();
    expect(await registry.instances.get(instanceId(committed))).toMatchObject({
      state: 'suspended',
      generation: 2,
      pending: null,
    });
    const last = await registry.instances.get(instanceId(begun));
    expect(last?.state === 'suspended' ? last.pending : last?.pending?.verb).toBe(
      last?.state === 'suspended' ? null : 'suspend',
    );
    const { created, active, suspended } = await registry.instances.countsByState();
    expect(await registry.ledger.lastSeq()).toBe(created + active * 2 + suspended * 3);
    expect(suspended).toBeGreaterThanOrEqual(20);
    expect(beside((client) => client.pragma('integrity_check', { simple: true }))).toBe('ok');
    await makeInstance(registry, 'afterwards', 'active');
  });

  test('when two processes commit the same generations, each row has exactly one winner', async () => {
    const rows = 60;
    const registry = await open();
    for (let n = 0; n < rows; n += 1) await makeInstance(registry, `r-${n}`, 'active', {}, START);
    const writers = [writer('race', `${rows}`, 'suspended'), writer('race', `${rows}`, 'archived')];
    for (const { lines } of writers) expect((await lines.next()).value).toBe('"ready"');
    for (const { child } of writers) child.stdin?.write('go\n');
    const messages = (await Promise.all(writers.map(({ lines }) => linesOf(lines)))).flat();
    const won = messages.flatMap((line) => (line.won === undefined ? [] : [line.won]));
    expect(new Set(won).size).toBe(rows);
    expect(won).toHaveLength(rows);
    expect(messages.filter((line) => line.lost !== undefined).map((line) => line.code)).toEqual(
      Array(rows).fill('conflict'),
    );
    for (let n = 0; n < rows; n += 1) expect((await registry.instances.get(instanceId(`r-${n}`)))?.generation).toBe(2);
    const proof = await verifyLedger(
      { segments: () => [], lines: (seq, limit) => registry.ledger.chain(seq, limit) },
      { heads: [], issuers: [] },
    );
    expect(proof).toMatchObject({ flaw: null, lines: rows * 3 });
    expect((await registry.ledger.page({ type: 'transition', since: START, until: START }, 500)).rows.length).toBe(
      rows * 2,
    );
  });
});
