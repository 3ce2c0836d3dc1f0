/**
 * Every piece of SQL that drizzle has no words for, with the reason and what was measured. Nowhere else in the driver
 * is SQL written by hand, which raw.test.ts holds; PRAGMA, VACUUM and what begins and ends a transaction are
 * better-sqlite3's and are in database.ts.
 */
import type { GetColumnData, SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { Column, is, type Queries, sql } from '../../../db/drizzle.ts';
import { instances, tenants } from '../../../db/schema.ts';
import type { Thresholds } from '../types.ts';

type Fields = Record<string, SQLiteColumn | SQL>;
type Written<F extends Fields> = {
  [K in keyof F]: F[K] extends SQLiteColumn ? SQL.Aliased<GetColumnData<F[K]>> : F[K];
};

/**
 * Selects from a table by one of its indexes and no other. SQLite's planner has no statistics here (ANALYZE of a
 * million rows is out of date an hour later) and takes the wrong one of two indexes that look alike: a page of 50 of a
 * million rows takes 0.3 ms by the right one, 400 ms by another.
 */
export function selectBy<F extends Fields>(queries: Queries, fields: F, table: SQLiteTable, index: string) {
  return queries.select(selectedColumns(fields)).from(sql`${table} INDEXED BY ${sql.identifier(index)}`);
}

/**
 * The same by none: the table is scanned in rowid order (a month of a million lines 0.4 s, by the index of
 * its types and sorted 2.9 s).
 */
export function selectUnindexed<F extends Fields>(queries: Queries, fields: F, table: SQLiteTable) {
  return queries.select(selectedColumns(fields)).from(sql`${table} NOT INDEXED`);
}

/**
 * Columns as drizzle selects them from what it does not know to be their table; each value is still read by its column.
 */
function selectedColumns<F extends Fields>(fields: F): Written<F> {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    is(field, Column) ? sql`${field}`.mapWith(field).as(name) : field,
  ]);
  return Object.fromEntries(entries) as Written<F>;
}

/** SQLite's own number of a row, which drizzle has no column for: labels, words and jobs point at instances by it. */
export function rowid(table: SQLiteTable) {
  return sql<number>`${table}.rowid`;
}

/**
 * That a column is one of the values in a bound JSON array. `inArray` writes one parameter for each value: another
 * statement for every number of them, where this is built once (anew 112 µs, kept 5 µs).
 */
export function inBoundList(column: SQLiteColumn | SQL, name: string): SQL {
  return sql`${column} IN (SELECT value FROM json_each(${sql.placeholder(name)}))`;
}

/**
 * Where a page goes on or ends. Written as `a < x or (a = x and b < y)` it reads every equal `a` again, a million of
 * them where all were made at once; and of rows so compared SQLite seeks by the first alone unless both sides agree on
 * a collation.
 */
export function pastPosition(
  [a, b]: readonly [SQL | SQLiteColumn, SQL | SQLiteColumn],
  comparison: '<' | '<=' | '>' | '>=',
  names: readonly [string, string],
): SQL {
  return sql`(${a}, ${b}) ${sql.raw(comparison)} (${sql.placeholder(names[0])}, ${sql.placeholder(names[1])} collate binary)`;
}

/**
 * That a text has the bound one in it, as it is written: `like` takes upper and lower case for the same and has signs
 * of its own.
 */
export function contains(column: SQLiteColumn, name: string): SQL {
  return sql`instr(${column}, ${sql.placeholder(name)}) > 0`;
}

/**
 * A column and the bound number more; nothing counts as 0. One statement instead of a read and a write for each count.
 */
export function plusBound(column: SQLiteColumn, name: string): SQL {
  return sql`coalesce(${column}, 0) + ${sql.placeholder(name)}`;
}

/** A member of an object that is kept as JSON. */
export function jsonMember(json: SQLiteColumn, name: string): SQL {
  return sql`${json} ->> ${name}`;
}

/** Whether what is deleted had a label: the table of labels has none of it any more, its row has. */
export function hadLabel(names: { key: string; value: string }): SQL {
  const { key, value } = names;
  return sql`exists (select 1 from json_each(${instances.labels}) as one where one.key = ${sql.placeholder(key)} and one.value = ${sql.placeholder(value)})`;
}

/** The sum of a column of integers, 0 of nothing: drizzle's own is text, and null then. The triggers keep 0. */
export function sumOrZero(column: SQLiteColumn) {
  return sql<number>`coalesce(sum(${column}), 0)`;
}

/** When a row falls due, by the driver's own function: thresholds that change do so for every row in one statement. */
export function dueAtOfRow(global: Thresholds): SQL<number | null> {
  const { state, updated, created, keepHot, holdUntil, ephemeral, fault } = instances;
  return sql`winterdock_due_at(${state}, ${updated}, ${created}, ${keepHot}, ${holdUntil}, ${ephemeral}, ${fault},
    coalesce(${instances.idleToSuspendSeconds}, ${tenants.idleToSuspendSeconds}, ${global.idleToSuspendSeconds}),
    coalesce(${instances.idleToFreezeSeconds}, ${tenants.idleToFreezeSeconds}, ${global.idleToFreezeSeconds}))`;
}

/** What a subquery selects, as the value that an update sets. */
export function selectedValue<T>(field: SQL.Aliased<T>): SQL<T> {
  return sql`${field}`;
}
