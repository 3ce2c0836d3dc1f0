/**
 * The one import of drizzle. Loaded as CommonJS: 0.1 s once per process, where its hundreds of ES modules take 0.6 s.
 * Knows no table.
 */
import { createRequire } from 'node:module';
import type * as Orm from 'drizzle-orm';
import type * as Driver from 'drizzle-orm/better-sqlite3';
import type * as Migrator from 'drizzle-orm/better-sqlite3/migrator';
import type * as Sqlite from 'drizzle-orm/sqlite-core';

const load = createRequire(import.meta.url);
const orm = load('drizzle-orm') as typeof Orm;
const sqlite = load('drizzle-orm/sqlite-core') as typeof Sqlite;

export const {
  and,
  asc,
  count,
  desc,
  eq,
  exists,
  notExists,
  fillPlaceholders,
  getTableColumns,
  gt,
  gte,
  inArray,
  is,
  isNotNull,
  isNull,
  like,
  lt,
  lte,
  max,
  min,
  ne,
  noopDecoder,
  not,
  notInArray,
  or,
  sql,
  sum,
} = orm;
/** A value that is bound when a prepared statement runs. */
export const { placeholder } = sql;
export const Column: typeof Orm.Column = orm.Column;
export const SQL: typeof Orm.SQL = orm.SQL;
export const {
  alias,
  blob,
  customType,
  except,
  getTableConfig,
  index,
  integer,
  primaryKey,
  real,
  SQLiteTable,
  sqliteTable,
  text,
  union,
  uniqueIndex,
} = sqlite;

/** The queries of one connection. */
export type Queries = Driver.BetterSQLite3Database;

/** Queries over a connection of better-sqlite3. */
export function queriesOver(client: Parameters<typeof Driver.drizzle>[0] & object): Queries {
  const { drizzle } = load('drizzle-orm/better-sqlite3') as typeof Driver;
  return drizzle(client as never) as Queries;
}

/**
 * Queries that are not run: they say their text, with numbered parameters as Postgres has them, their values and how a
 * row is read.
 */
export function queriesAsText(): Queries {
  const prepare = () => ({
    raw() {
      throw new Error('A query as text is not run.');
    },
  });
  const queries = queriesOver({ prepare } as never);
  const { dialect } = queries as unknown as { dialect: { escapeParam: (at: number) => string } };
  dialect.escapeParam = (at) => `$${at + 1}`;
  return queries;
}

/** drizzle's own migrator, which is loaded only when something is missing. */
export function migrator(): typeof Migrator {
  return load('drizzle-orm/better-sqlite3/migrator') as typeof Migrator;
}
