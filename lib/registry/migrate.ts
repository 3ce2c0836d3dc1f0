/**
 * Brings the registry's tables up to date with db/migrations, as drizzle-kit writes them and with the record that drizzle's own migrator
 * keeps. That one needs the whole library, which takes a process longer to load than everything else here; only sessions need it.
 */
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { readMigrationFiles } from 'drizzle-orm/migrator';

const MIGRATIONS = join(import.meta.dirname, '../../db/migrations');

const RECORD =
  'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)';
const IS_RECORDED = "SELECT count(*) FROM sqlite_schema WHERE name = '__drizzle_migrations'";
const LAST = 'SELECT coalesce(max(created_at), 0) FROM __drizzle_migrations';
const ADD = 'INSERT INTO __drizzle_migrations(hash, created_at) VALUES (?, ?)';

const integer = (client: Database, sql: string) => Number(client.prepare(sql).pluck().get());

/** Does all that is missing, or nothing. Of processes that open a new file at once one does it; the others wait and find it done. */
export function migrate(client: Database): void {
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS });
  const missing = () => {
    const last = integer(client, IS_RECORDED) === 0 ? 0 : integer(client, LAST);
    return migrations.filter(({ folderMillis }) => folderMillis > last);
  };
  // A file that is up to date is opened without waiting for whoever writes to it.
  if (missing().length === 0) return;
  const run = client.transaction(() => {
    client.exec(RECORD);
    for (const { sql, hash, folderMillis } of missing()) {
      for (const statement of sql) client.exec(statement);
      client.prepare(ADD).run(hash, folderMillis);
    }
  });
  run.immediate();
}
