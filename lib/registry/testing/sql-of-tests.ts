/** For tests: what another program finds in the registry of an engine or server, and changes there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { connect } from '../postgres/connect.ts';
import { addressOfTests } from './registry-of-tests.ts';

export interface SqlOfTests {
  /** Sends one statement that either registry understands. Rows have the names of the columns. */
  ask(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const FILE = 'registry.sqlite';

/** Connects to the registry of a data folder (absolute path). */
export async function sqlOfTests(folder: string): Promise<SqlOfTests> {
  const address = addressOfTests(folder);
  if (address !== null) {
    const sql = await connect(address);
    return { ask: async (text) => [...(await sql.unsafe(text))], close: () => sql.end() };
  }
  const database = new Database(join(folder, FILE));
  return {
    async ask(text) {
      const statement = database.prepare<[], Record<string, unknown>>(text);
      if (statement.reader) return statement.all();
      statement.run();
      return [];
    },
    async close() {
      database.close();
    },
  };
}

async function using<T>(folder: string, work: (sql: SqlOfTests) => Promise<T>): Promise<T> {
  const sql = await sqlOfTests(folder);
  try {
    return await work(sql);
  } finally {
    await sql.close();
  }
}

/** Changes what the rows of sandboxes say of their files. `where`: which rows, in SQL. */
export async function changeFileRecords(
  folder: string,
  change: Readonly<Record<string, string | null>>,
  where = 'true',
): Promise<void> {
  await using(folder, async ({ ask }) => {
    for (const { id, file } of await ask(`SELECT id, file FROM instances WHERE file IS NOT NULL AND ${where}`)) {
      const changed = JSON.stringify({ ...JSON.parse(String(file)), ...change });
      await ask(`UPDATE instances SET file = '${changed.replaceAll("'", "''")}' WHERE id = '${id}'`);
    }
  });
}

/** Runs one statement on a table whose triggers would forbid it. */
export async function tamper(folder: string, table: string, statement: string): Promise<void> {
  await using(folder, async ({ ask }) => {
    if (addressOfTests(folder) !== null) {
      await ask(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
      await ask(statement);
      await ask(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
      return;
    }
    const triggers = await ask(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '${table}'`);
    for (const { name } of triggers) await ask(`DROP TRIGGER ${name}`);
    await ask(statement);
    for (const { sql } of triggers) await ask(String(sql));
  });
}

/** Whether a text is in a registry: among the bytes of its files, on Postgres in any row of any table. */
export async function registryHolds(folder: string, text: string): Promise<boolean> {
  if (addressOfTests(folder) !== null) return (await rowsWith(folder, text)).length > 0;
  const files = [FILE, `${FILE}-wal`].map((name) => join(folder, name)).filter((path) => existsSync(path));
  return files.some((path) => readFileSync(path).includes(text));
}

/** The rows of any table of a registry on Postgres that have a text, in whatever case. */
export function rowsWith(folder: string, text: string): Promise<unknown[]> {
  return using(folder, async ({ ask }) => {
    const tables = await ask(
      "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'winterdock'::regnamespace",
    );
    const found: unknown[] = [];
    for (const { relname } of tables) {
      const rows = await ask(
        `SELECT each.*::text AS row FROM "${relname}" AS each WHERE strpos(lower(each.*::text), lower('${text}')) > 0`,
      );
      found.push(...rows.map(({ row }) => [relname, row]));
    }
    return found;
  });
}
