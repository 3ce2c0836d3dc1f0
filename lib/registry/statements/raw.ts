/**
 * Every piece of SQL that drizzle cannot express, with the reason and measurements, and in Postgres's form where that
 * is another one. Nowhere else in what both drivers share is SQL written by hand, which raw.test.ts checks; PRAGMA,
 * VACUUM, and the begin and end of transactions are better-sqlite3's and are in sqlite/database.ts.
 */
import type { GetColumnData, SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { Column, is, type Queries, sql } from '../../../db/drizzle.ts';
import { instances, tenants } from '../../../db/schema.ts';
import { perDialect } from './dialect.ts';

type Fields = Record<string, SQLiteColumn | SQL | SQL.Aliased>;
type Written<F extends Fields> = {
  [K in keyof F]: F[K] extends SQLiteColumn ? SQL.Aliased<GetColumnData<F[K]>> : F[K];
};

/**
 * Selects from a table by one given index. SQLite's planner has no statistics here (an ANALYZE of a million rows is out
 * of date an hour later) and chooses the wrong one of two similar indexes: a page of 50 of a million rows takes 0.3 ms
 * by the right one, 400 ms by another. Postgres keeps statistics, and has no words for this.
 */
export function selectBy<F extends Fields>(queries: Queries, fields: F, table: SQLiteTable, index: string) {
  const named = sql`${table} INDEXED BY ${sql.identifier(index)}`;
  return queries.select(selectedColumns(fields)).from(perDialect({ sqlite: named, postgres: sql`${table}` }));
}

/**
 * The same without an index: the table is scanned in rowid order (a month of a million lines takes 0.4 s; by the index
 * of its types and with a sort, 2.9 s).
 */
export function selectUnindexed<F extends Fields>(queries: Queries, fields: F, table: SQLiteTable) {
  const scanned = sql`${table} NOT INDEXED`;
  return queries.select(selectedColumns(fields)).from(perDialect({ sqlite: scanned, postgres: sql`${table}` }));
}

/** Columns of a source that drizzle does not recognise as their table; each value is still decoded by its column. */
function selectedColumns<F extends Fields>(fields: F): Written<F> {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    is(field, Column) ? sql`${field}`.mapWith(field).as(name) : field,
  ]);
  return Object.fromEntries(entries) as Written<F>;
}

/**
 * SQLite's own row number, which drizzle has no column for: labels, words and jobs refer to instances by it. Postgres's
 * tables have a column of that name.
 */
export function rowid(table: SQLiteTable) {
  return sql<number>`${table}.rowid`;
}

/** True when a column has a bound value, of which both may be null. */
export function isSame(column: SQLiteColumn, name: string): SQL {
  return sql`${column} is not distinct from ${sql.placeholder(name)}`;
}

/**
 * True when a column is one of the values in a bound JSON array. `inArray` writes one parameter per value, and so
 * another statement for every number of values; this one is built once (building takes 112 µs, a cached one 5 µs).
 */
export function inBoundList(column: SQLiteColumn | SQL, name: string): SQL {
  const list = sql.placeholder(name);
  return perDialect({
    sqlite: sql`${column} IN (SELECT value FROM json_each(${list}))`,
    postgres: isText(column) ? sql`${column} = ANY(listed(${list}))` : sql`${column} = ANY(listed_numbers(${list}))`,
  });
}

/** Row numbers have no column. */
function isText(column: SQLiteColumn | SQL): boolean {
  return is(column, Column) && column.getSQLType() === 'text';
}

/**
 * The begin or end of a page, as a row value comparison. `a < x or (a = x and b < y)` would read every row with an
 * equal `a` again, a million of them when all were made at once. SQLite seeks by both columns of such a comparison only
 * when both sides have the same collation.
 */
export function pastPosition(
  [a, b]: readonly [SQL | SQLiteColumn, SQL | SQLiteColumn],
  comparison: '<' | '<=' | '>' | '>=',
  names: readonly [string, string],
): SQL {
  const [compare, one, other] = [sql.raw(comparison), sql.placeholder(names[0]), sql.placeholder(names[1])];
  return perDialect({
    sqlite: sql`(${a}, ${b}) ${compare} (${one}, ${other} collate binary)`,
    postgres: sql`(${a}, ${b}) ${compare} (${one}, ${other})`,
  });
}

/**
 * A bound value that Postgres does not plan by. For any moment it expects a third of the rows to be due, and for the
 * moment that is asked for none: so it would plan each time anew, which takes longer than to look.
 */
export function unplanned(name: string, type: 'bigint' | 'text'): SQL {
  const bound = sql.placeholder(name);
  return perDialect({ sqlite: sql`${bound}`, postgres: sql`(select cast(${bound} as ${sql.raw(type)}))` });
}

/** A text column, or this constant where it is null. */
export function textOr(column: SQLiteColumn, constant: string): SQL<string> {
  return sql<string>`coalesce(${column}, ${constant})`.inlineParams();
}

/** True when a text contains the bound one, case-sensitive. `like` ignores case and has wildcards. */
export function contains(column: SQLiteColumn, name: string): SQL {
  return found(sql`${column}`, name);
}

function found(text: SQL, name: string): SQL {
  const part = sql.placeholder(name);
  return perDialect({ sqlite: sql`instr(${text}, ${part}) > 0`, postgres: sql`strpos(${text}, ${part}) > 0` });
}

/** The same in any case of ASCII letters; the bound text is lower-case already. */
export function containsAnyCase(column: SQLiteColumn, name: string): SQL {
  return found(sql`lower(${column})`, name);
}

/** A column plus the bound number; null counts as 0. One statement instead of a read and a write for each count. */
export function plusBound(column: SQLiteColumn, name: string): SQL {
  return sql`coalesce(${column}, 0) + ${sql.placeholder(name)}`;
}

/** The greater of a column and the bound number. */
export function greatestBound(column: SQLiteColumn, name: string): SQL {
  const bound = sql.placeholder(name);
  return perDialect({ sqlite: sql`max(${column}, ${bound})`, postgres: sql`greatest(${column}, ${bound})` });
}

/** A member of an object that is stored as JSON. */
export function jsonMember(json: SQLiteColumn, name: string): SQL {
  const member = sql`cast(plain_json(${json}) as json) ->> ${name}`;
  return perDialect({ sqlite: sql`${json} ->> ${name}`, postgres: member.inlineParams() });
}

/** The same of a number. */
export function jsonNumber(json: SQLiteColumn, name: string): SQL {
  const member = jsonMember(json, name);
  return perDialect({ sqlite: member, postgres: sql`cast(${member} as numeric)` });
}

/** True for the row with the bound name, by what its sort key is made of. */
export function isNamed(name: string): SQL {
  const bound = sql.placeholder(name);
  return perDialect({ sqlite: sql`${instances.nameKey} = ${bound}`, postgres: sql`${instances.name} = ${bound}` });
}

/** The sum of a member of objects that are stored as JSON, 0 for no rows. */
export function sumOfMember(json: SQLiteColumn, name: string) {
  return sql<number>`coalesce(sum(${jsonNumber(json, name)}), 0)`;
}

/** True when a deleted row had a label: the table of labels no longer has it, but the row does. */
export function hadLabel(names: { key: string; value: string }): SQL {
  const [key, value] = [sql.placeholder(names.key), sql.placeholder(names.value)];
  const matches = sql`one.key = ${key} and one.value = ${value}`;
  return perDialect({
    sqlite: sql`exists (select 1 from json_each(${instances.labels}) as one where ${matches})`,
    postgres: sql`exists (select 1 from json_each_text(cast(plain_json(${instances.labels}) as json)) as one where ${matches})`,
  });
}

/** In the place of a column that a table of an older version lacks. */
export const NULL: SQL<null> = sql`null`;

/** The sum of an integer column, 0 for no rows: drizzle's own is text, and null then. The triggers keep 0. */
export function sumOrZero(column: SQLiteColumn) {
  return sql<number>`coalesce(sum(${column}), 0)`;
}

/** How many rows of a selection meet a condition, 0 for none: several counts in one scan. */
export function countWhere(condition: SQL | undefined): SQL<number> {
  return perDialect<number>({
    sqlite: sql<number>`coalesce(sum(${condition}), 0)`,
    postgres: sql<number>`count(*) filter (where ${condition})`,
  });
}

/** The greatest of an integer column, 0 for no rows. */
export function maxOrZero(column: SQLiteColumn) {
  return sql<number>`coalesce(max(${column}), 0)`;
}

/**
 * The first hour of the step that an hour is in: bound are `from`, the first of all, and `step`, in hours. Ten years of
 * hours are 88 000 rows, of which an answer has a point for each hundred. Whole numbers are bound as real ones.
 */
export function stepOf(hour: SQLiteColumn): SQL<number> {
  const [from, step] = [sql.placeholder('from'), sql.placeholder('step')];
  return sql<number>`(cast(${from} as integer) + (${hour} - cast(${from} as integer)) / cast(${step} as integer) * cast(${step} as integer))`;
}

/**
 * Rows of a step together, in the order of the steps, where the step is the first thing that is selected. Postgres
 * takes two expressions with bound values for different ones.
 */
export function byStep(hour: SQLiteColumn): SQL {
  return perDialect({ sqlite: stepOf(hour), postgres: sql`1` });
}

/**
 * Of a group whose greatest hour is selected too: the column in that row. SQLite takes a column from the row of the
 * only maximum.
 */
export function inLastHour<T>(column: SQLiteColumn, hour: SQLiteColumn): SQL<T> {
  return perDialect<T>({
    sqlite: sql<T>`${column}`,
    postgres: sql<T>`(array_agg(${column} order by ${hour} desc))[1]`,
  });
}

/** The sum of what began within hours, each to the end of its hour, and goes on to the end of its step. */
export function sumToEndOfStep(column: SQLiteColumn, change: SQLiteColumn, hour: SQLiteColumn, hourMs: number) {
  const left = sql`${stepOf(hour)} + cast(${sql.placeholder('step')} as integer) - 1 - ${hour}`;
  return sql<number>`coalesce(sum(${column} + ${change} * (${left}) * ${hourMs}), 0)`;
}

/**
 * The time at which a row falls due, by the driver's own function, so that changed thresholds update every row in one
 * statement. Bound are `globalSuspend` and `globalFreeze`, in seconds.
 */
export function dueAtOfRow(): SQL<number | null> {
  const { state, updated, created, keepHot, holdUntil, ephemeral, fault } = instances;
  return sql`winterdock_due_at(${state}, ${updated}, ${created}, ${keepHot}, ${holdUntil}, ${ephemeral}, ${fault},
    coalesce(${instances.idleToSuspendSeconds}, ${tenants.idleToSuspendSeconds}, ${sql.placeholder('globalSuspend')}),
    coalesce(${instances.idleToFreezeSeconds}, ${tenants.idleToFreezeSeconds}, ${sql.placeholder('globalFreeze')}))`;
}

/** A row that rests in a drawer on disk that a store may be below: in the words of the index, or it is not used. */
export const IS_UPLOAD_DUE: SQL = perDialect({
  sqlite: sql`(${instances.vfsPath} glob 'cold/*' or ${instances.vfsPath} glob 'archive/*')`,
  postgres: sql`(${instances.vfsPath} like 'cold/%' or ${instances.vfsPath} like 'archive/%')`,
});

/** A row whose file is in the store; as above. */
export const IS_IN_STORE: SQL = perDialect({
  sqlite: sql`${instances.vfsPath} glob 'cloud:*'`,
  postgres: sql`${instances.vfsPath} like 'cloud:%'`,
});

/** The result of a subquery as the value of an update. */
export function selectedValue<T>(field: SQL.Aliased<T>): SQL<T> {
  return sql`${field}`;
}
