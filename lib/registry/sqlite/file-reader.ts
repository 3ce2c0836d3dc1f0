/**
 * Opens a registry file that another process may own: PRAGMA, VACUUM and the read transaction are here. The file may be
 * of an older version, which lacks columns or tables. Knows nothing of their meaning.
 */
import Database from 'better-sqlite3';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { getTableColumns, getTableConfig, type Queries, queriesOver } from '../../../db/drizzle.ts';

const BUSY_MS = 5000;

export class RegistryFileReader {
  readonly #client: Database.Database;
  readonly #queries: Queries;

  /**
   * Opens the file at `path`, which must be there. `oneMoment`: what is read is of the moment of the first read, and
   * nothing can be changed. Throws what SQLite throws.
   */
  constructor(path: string, { oneMoment }: { oneMoment: boolean }) {
    // A read-only connection would leave its -wal and -shm behind, owned by the user who ran it.
    this.#client = new Database(path, { fileMustExist: true, timeout: BUSY_MS });
    try {
      if (oneMoment) {
        this.#client.pragma('query_only = ON');
        this.#client.exec('BEGIN');
      }
      // The first read: a file that is none of SQLite's is found out here.
      this.#client.pragma('schema_version');
      this.#queries = queriesOver(this.#client);
    } catch (error) {
      this.#client.close();
      throw error;
    }
  }

  /** A statement that is built and prepared when it is first asked for, and kept. */
  statement<T>(build: (queries: Queries) => T): () => T {
    let made: T | undefined;
    return () => {
      made ??= build(this.#queries);
      return made;
    };
  }

  has(table: SQLiteTable): boolean {
    return this.#columnsOf(table).size > 0;
  }

  /** The columns of a table that the file has. */
  present<T extends SQLiteTable>(table: T): T['_']['columns'] {
    const there = this.#columnsOf(table);
    return Object.fromEntries(
      Object.entries(getTableColumns(table)).filter(([, column]) => there.has(column.name)),
    ) as T['_']['columns'];
  }

  #columnsOf(table: SQLiteTable): Set<string> {
    // That of `table_xinfo` has generated columns too.
    const columns = this.#client.pragma(`table_xinfo("${getTableConfig(table).name}")`) as { name: string }[];
    return new Set(columns.map(({ name }) => name));
  }

  /**
   * Writes what is committed now, as one moment left it, to a new file at `path` (absolute). Beside a writer that is
   * not waited for.
   */
  copyTo(path: string): void {
    this.#client.prepare('VACUUM INTO ?').run(path);
  }

  /** `ok`, or the first twenty things that SQLite finds wrong with the file. Reads all of it. */
  integrity(): string {
    const found = this.#client.pragma('integrity_check(20)') as { integrity_check: string }[];
    return found.map(({ integrity_check }) => integrity_check).join('\n');
  }

  close(): void {
    this.#client.close();
  }
}
