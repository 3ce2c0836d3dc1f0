/** How the open registry is stored: in a database whose server looks after pages, log and copies by itself. */
import { getTableConfig } from '../../../db/drizzle.ts';
import { schemaTables } from '../../../db/postgres/tables.ts';
import { isUnavailable, messageOf } from '../../base/errors.ts';
import type { RegistryStorage } from '../storage.ts';
import type { PostgresDatabase } from './database.ts';

const tables = () => schemaTables().map((table) => `"${getTableConfig(table).name}"`);

/** `name`: of the database, for people. */
export function openStorage(database: PostgresDatabase, name: string): RegistryStorage {
  return {
    async status() {
      // Others may have tables in the same database.
      const [[bytes] = []] = await database.ask(
        `select sum(pg_total_relation_size(oid)) from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
      );
      return { path: null, database: name, bytes: Number(bytes), freeBytes: 0, logBytes: 0, checkpointed: null };
    },
    // Postgres verifies the checksum of each page that it reads; this reads the rows of every table.
    async check(signal) {
      for (const table of tables()) {
        signal.throwIfAborted();
        try {
          await database.askForLong(`select count(*) from ${table} as one where one is not null`);
        } catch (error) {
          // What cannot be read now says nothing of what is there.
          if (isUnavailable(error)) throw error;
          return `${table}: ${messageOf(error)}`;
        }
      }
      return 'ok';
    },
    upgrade: async () => null,
    // The server's own, and in its own time.
    checkpoint: async () => true,
    /** Each table is written anew, without removed rows. Its log is the server's: how long that lies is set there. */
    async compact() {
      for (const table of tables()) await database.askForLong(`vacuum full ${table}`);
    },
    emptyLog: async () => true,
    keptCopies: async () => [],
    removeKeptCopies: async () => 0,
  };
}
