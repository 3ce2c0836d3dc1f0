import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifyLedger } from '../../ledger/verify.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import { programOf } from '../../testing/program.ts';
import { everyFileIn, FORMER, KNOWN, layLastState, makeOlder } from '../testing/last-state.ts';
import { fileDriver, openTestRegistry } from '../testing/open-test-registry.ts';

const FIRST = join(import.meta.dirname, '../../../db/migrations/0000_registry.sql');
const VICTIM = join(import.meta.dirname, '../testing/carry-victim.ts');

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-former-'));
  path = join(folder, 'registry.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => openTestRegistry(path);

/** What SQLite has of each table, index and trigger, without the white space, and the settings of the text index. */
function schemaOf(client: Database.Database): unknown {
  const rows = client
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE tbl_name <> '__drizzle_migrations' ORDER BY 1, 2",
    )
    .all() as { type: string; name: string; sql: string | null }[];
  const triggers = client.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid").pluck().all();
  const plain = (sql: string | null) =>
    sql
      ?.replace(/\s+/g, ' ')
      .replace(/\s*([(),])\s*/g, '$1')
      .trim();
  return {
    made: rows.map(({ sql, ...row }) => ({ ...row, sql: plain(sql) })),
    triggers,
    text: client.prepare('SELECT k, v FROM instance_text_config ORDER BY k').all(),
  };
}

/** Every row of every table, but for those of the text index, which only the rows that it is made of can tell. */
function rowsOf(file: string): Record<string, unknown[]> {
  const client = new Database(file);
  try {
    const tables = client
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'instance_text%' AND name <> '__drizzle_migrations'",
      )
      .pluck()
      .all() as string[];
    return Object.fromEntries(tables.map((name) => [name, client.prepare(`SELECT * FROM "${name}"`).raw().all()]));
  } finally {
    client.close();
  }
}

const journalOf = (file: string) => {
  const client = new Database(file);
  try {
    return client.prepare('SELECT created_at FROM __drizzle_migrations ORDER BY created_at').pluck().all();
  } finally {
    client.close();
  }
};

/** The rows of `before` in a file that may have got further tables and columns since. */
function expectKept(file: string, before: Record<string, unknown[]>): void {
  const after = rowsOf(file);
  for (const [name, rows] of Object.entries(before)) {
    const kept = (after[name] as unknown[][]).map((row, at) => row.slice(0, (rows[at] as unknown[]).length));
    expect([name, kept]).toEqual([name, rows]);
  }
}

test('the first migration makes the tables, indexes and triggers that the thirty before it made', () => {
  layLastState(folder);
  const former = new Database(path);
  const made = new Database(':memory:');
  made.exec(readFileSync(FIRST, 'utf8'));
  expect(schemaOf(made)).toEqual(schemaOf(former));
  former.close();
  made.close();
});

test('a registry of the last state is carried over with every row, and its ledger is proved', async () => {
  layLastState(folder);
  cpSync(path, join(folder, 'was.sqlite'));
  cpSync(`${path}-wal`, join(folder, 'was.sqlite-wal'));
  const before = rowsOf(join(folder, 'was.sqlite'));
  expect(before.instances).toHaveLength(10);
  const registry = await open();
  const view = await registry.ledger.view();
  expect(await verifyLedger(view, { heads: [], issuers: [] })).toMatchObject({ flaw: null });
  await view.close();
  await registry.close();
  expectKept(path, before);
  expect(journalOf(path)).toHaveLength(KNOWN);
});

test('it is startable after a kill before any effect of being carried over, and the registry from before is kept', () => {
  const laid = join(folder, 'laid');
  layLastState(laid);
  cpSync(join(laid, 'registry.sqlite'), join(folder, 'was.sqlite'));
  cpSync(join(laid, 'registry.sqlite-wal'), join(folder, 'was.sqlite-wal'));
  const before = rowsOf(join(folder, 'was.sqlite'));
  const effects: string[] = [];
  for (let effect = 1; ; effect += 1) {
    const at = join(folder, `killed-${effect}`);
    cpSync(laid, at, { recursive: true });
    const file = join(at, 'registry.sqlite');
    const killed = spawnSync(process.execPath, [programOf(VICTIM), file, `${effect}`], { encoding: 'utf8' });
    effects.push(killed.stdout.trim());
    if (killed.signal === null) break;
    const next = spawnSync(process.execPath, [programOf(VICTIM), file, '9999'], { encoding: 'utf8' });
    expect([effect, next.stdout, next.stderr]).toEqual([effect, 'opened\n', '']);
    expectKept(file, before);
    expect(journalOf(file)).toHaveLength(KNOWN);
    const copies = readdirSync(at).filter((name) => name.startsWith('registry.sqlite.before-'));
    expect([effect, copies.map((name) => journalOf(join(at, name)).length)]).toEqual([
      effect,
      copies.map(() => FORMER),
    ]);
    expectKept(join(at, copies[0] ?? 'none'), before);
    expect(readdirSync(at)).not.toContain('registry.sqlite.unfinished');
    rmSync(at, { recursive: true });
  }
  expect(effects.at(-1)).toBe('opened');
  expect(effects).toEqual(expect.arrayContaining(['create', 'sync', 'rename', 'sync_folder', 'commit']));
});

test.each(['closed', 'left with a log'])(
  'an older registry that was %s is refused by name, and not one byte of the folder changes',
  async (left) => {
    layLastState(folder);
    makeOlder(path);
    if (left !== 'closed') {
      // A second connection keeps the log when the first one has written.
      const client = new Database(path);
      client.exec("INSERT INTO settings(key, value, updated) VALUES ('later', '1', 1)");
      cpSync(path, join(folder, 'copy'));
      cpSync(`${path}-wal`, join(folder, 'copy-wal'));
      client.close();
      cpSync(join(folder, 'copy'), path);
      cpSync(join(folder, 'copy-wal'), `${path}-wal`);
    }
    const before = everyFileIn(folder);
    const refusal = `The registry ${path} is of an older version of Winterdock: its ${FORMER - 1} migrations are not the ${FORMER} that this version carries over.`;
    const driver = fileDriver(path);
    for (const opener of [open, () => driver.inspect(), () => driver.readLive(), () => driver.readLedger()]) {
      await expect(opener()).rejects.toThrow(refusal);
      await expect(opener()).rejects.toThrow('commit 49ff4dee');
    }
    expect(everyFileIn(folder)).toEqual(before);
  },
);

test('a journal of thirty others is refused too', async () => {
  layLastState(folder);
  const client = new Database(path);
  client.exec("UPDATE __drizzle_migrations SET hash = 'x' WHERE created_at = 1795730370258");
  client.close();
  await expect(open()).rejects.toThrow(`its ${FORMER} migrations are not the ${FORMER} that this version carries over`);
});

test('a registry of the last state can be read as it is', async () => {
  layLastState(folder);
  const file = await fileDriver(path).inspect();
  expect(file.chained).toBe(true);
  const asked = [file.isEmpty(), file.hasInstance('frozen'), file.hasInstance('gone'), file.tenantInLedger('frozen')];
  expect(await Promise.all(asked)).toEqual([false, true, false, 'acme']);
  expect(await Promise.all([file.integrity(), file.miscounted()])).toEqual(['ok', []]);
  await file.close();
  const rows = await fileDriver(path).readLive();
  expect(await Promise.all([rows.count(), rows.migrations()])).toEqual([10, FORMER]);
  expect(await rows.row(instanceId('frozen'))).toMatchObject({ state: 'frozen', labels: { kind: 'frozen' } });
  await rows.close();
});

test('a file without tables is empty, and is not a registry to copy rows from', async () => {
  const client = new Database(path);
  client.exec('CREATE TABLE theirs (x)');
  client.close();
  const driver = fileDriver(path);
  const file = await driver.inspect();
  expect(file.chained).toBe(false);
  const asked = [file.isEmpty(), file.hasInstance('a'), file.copies(), file.miscounted(), file.rows('', 5)];
  expect(await Promise.all(asked)).toEqual([true, false, [], [], []]);
  const told = [file.tenantInLedger('a'), file.marks(), file.segments.list()];
  expect(await Promise.all(told)).toEqual([null, new Set(), []]);
  await file.close();
  await expect(driver.readLive()).rejects.toThrow('is not the registry');
  await expect(driver.readLedger()).rejects.toThrow('is not the registry');
});
