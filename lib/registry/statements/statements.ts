/**
 * Statements that both drivers share: what is asked and how its rows are read, never when. A file of statements takes
 * what makes them, so that each driver prepares and caches them in its own way: SQLite's answer at once, Postgres's
 * with promises.
 */
import type { Queries } from '../../../db/drizzle.ts';

/** What makes statements. */
export interface StatementMaker {
  /** A statement that is built on first use, and cached. */
  statement<T>(build: (queries: Queries) => T): () => T;
  /** The same for a statement with several shapes, identified by `key`. */
  shape<T>(key: string, build: (queries: Queries) => T): T;
}

/** A built, unprepared drizzle query, and the fields of its rows, in order. */
export interface Query<Row> {
  fields: { [K in keyof Row]: unknown };
  toSQL(): { sql: string; params: unknown[] };
}
