/**
 * Opens a registry file that another process may own: PRAGMA, VACUUM and the read transaction are here. The file may be
 * of an earlier version, which lacks columns or tables. Knows nothing of their meaning.
 */
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { getTableColumns, getTableConfig, type Queries, queriesOver } from '../../../db/drizzle.ts';
import { holdFile, refuseFormerFile, releaseFile } from './former-history.ts';

const BUSY_MS = 5000;

export class RegistryFileReader {
  readonly #client: Database.Database;
  readonly #queries: Queries;

  /**
   * Opens the existing file at `path`. `oneMoment`: everything is read as of the first read, and nothing can be
   * changed. Throws SQLite's errors, and `conflict` for a file that is too old to be carried over.
   */
  constructor(path: string, { oneMoment }: { oneMoment: boolean }) {
    refuseFormerFile(path);
    // A read-only connection would leave a -wal and a -shm behind; but where there is a log, the last connection that
    // is not read-only writes it into the file.
    const readonly = oneMoment && (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    this.#client = new Database(path, { fileMustExist: true, timeout: BUSY_MS, readonly });
    holdFile(path);
    try {
      if (oneMoment) {
        this.#client.pragma('query_only = ON');
        this.#client.exec('BEGIN');
      }
      // The first read: it fails for a file that is not a database.
      this.#client.pragma('schema_version');
      this.#queries = queriesOver(this.#client);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** A statement that is built and prepared on first use, and cached. */
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

  /** The columns of a table in this file. */
  present<T extends SQLiteTable>(table: T): T['_']['columns'] {
    const there = this.#columnsOf(table);
    return Object.fromEntries(
      Object.entries(getTableColumns(table)).filter(([, column]) => there.has(column.name)),
    ) as T['_']['columns'];
  }

  #columnsOf(table: SQLiteTable): Set<string> {
    // `table_xinfo` also lists generated columns.
    const columns = this.#client.pragma(`table_xinfo("${getTableConfig(table).name}")`) as { name: string }[];
    return new Set(columns.map(({ name }) => name));
  }

  /**
   * Writes a consistent copy of the committed state to a new file at `path` (absolute), without waiting for a writer.
   */
  copyTo(path: string): void {
    this.#client.prepare('VACUUM INTO ?').run(path);
  }

  /** `ok`, or SQLite's first twenty findings. Reads the whole file. */
  integrity(): string {
    const found = this.#client.pragma('integrity_check(20)') as { integrity_check: string }[];
    return found.map(({ integrity_check }) => integrity_check).join('\n');
  }

  close(): void {
    if (!this.#client.open) return;
    this.#client.close();
    releaseFile(this.#client.name);
  }
}
