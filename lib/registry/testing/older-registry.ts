/** For tests: a registry as an older version made it, with only the first migrations. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';

const MIGRATIONS = join(import.meta.dirname, '../../../db/migrations');
const JOURNAL = 'meta/_journal.json';

/** Number of migrations in this version. */
export const KNOWN: number = JSON.parse(readFileSync(join(MIGRATIONS, JOURNAL), 'utf8')).entries.length;

/**
 * Makes it at `path` with the first `count` migrations and two sandboxes whose row numbers leave a gap, because other
 * tables refer to them by number.
 */
export function makeOlderRegistry(path: string, count: number): void {
  const older = mkdtempSync(join(tmpdir(), 'winterdock-older-'));
  cpSync(MIGRATIONS, older, { recursive: true });
  const journal = JSON.parse(readFileSync(join(older, JOURNAL), 'utf8'));
  writeFileSync(join(older, JOURNAL), JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }));
  const client = new Database(path);
  client.pragma('journal_mode = WAL');
  migrate(drizzle(client), { migrationsFolder: older });
  rmSync(older, { recursive: true });
  const add = client.prepare(
    `INSERT INTO instances(rowid, id, tenant, state, updated, created, state_since, labels, policy)
     VALUES (?, ?, 'acme', 'created', 5, 5, 5, ?, 'posix')`,
  );
  add.run(1, 'one', JSON.stringify({ who: 'one' }));
  add.run(7, 'two', JSON.stringify({ who: 'two' }));
  client.close();
}
