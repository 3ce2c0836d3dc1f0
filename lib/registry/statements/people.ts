/** Statements over the auth library's records: its conditions as SQL. Knows nothing of what is in them. */
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  is,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  not,
  or,
  placeholder,
  SQL,
} from '../../../db/drizzle.ts';
import { account, session, user, verification } from '../../../db/schema/access.ts';
import type { PeopleCondition, PeopleKind, PeopleQuery, PeopleRecord } from '../people.ts';
import { boundColumns } from './bound-values.ts';
import { inBoundList } from './raw.ts';
import type { StatementMaker } from './statements.ts';

type Condition = ReturnType<typeof inBoundList>;
type Where = readonly PeopleCondition[];
type Bound = Record<string, unknown>;

const TABLES = { user, session, account, verification };
const COMPARED = { eq, ne, lt, lte, gt, gte };

export function peopleStatements(database: StatementMaker) {
  return {
    create: (kind: PeopleKind, record: PeopleRecord) =>
      database.shape(`${kind}: create ${Object.keys(record).join()}`, (queries) =>
        queries
          .insert(tableOf(kind))
          .values(boundColumns(record) as never)
          .returning()
          .prepare(),
      ),
    count: (kind: PeopleKind, where: Where) =>
      database.shape(`${kind}: count ${shapeOf(where)}`, (queries) =>
        queries.select({ n: count() }).from(tableOf(kind)).where(conditionOf(kind, where)).prepare(),
      ),
    find(kind: PeopleKind, { where, sort }: PeopleQuery) {
      const order =
        sort === undefined ? [] : [sort.descending ? desc : asc].map((by) => by(columnOf(kind, sort.field)));
      return database.shape(`${kind}: find ${shapeOf(where)} ${JSON.stringify(sort)}`, (queries) =>
        queries
          .select()
          .from(tableOf(kind))
          .where(conditionOf(kind, where))
          .orderBy(...order)
          .limit(placeholder('limit'))
          .offset(placeholder('offset'))
          .prepare(),
      );
    },
    change: (kind: PeopleKind, where: Where, patch: PeopleRecord) =>
      database.shape(`${kind}: change ${Object.keys(patch).join()} ${shapeOf(where)}`, (queries) =>
        queries
          .update(tableOf(kind))
          .set(boundColumns(patch) as never)
          .where(conditionOf(kind, where))
          .returning()
          .prepare(),
      ),
    remove: (kind: PeopleKind, where: Where) =>
      database.shape(`${kind}: remove ${shapeOf(where)}`, (queries) =>
        queries.delete(tableOf(kind)).where(conditionOf(kind, where)).prepare(),
      ),
  };
}

/** The four tables are used in the same way, but drizzle's types allow only one. */
function tableOf(kind: PeopleKind): typeof verification {
  return TABLES[kind] as unknown as typeof verification;
}

function columnOf(kind: PeopleKind, field: string): SQLiteColumn {
  const columns: Record<string, SQLiteColumn> = getTableColumns(tableOf(kind));
  const column = Object.hasOwn(columns, field) ? columns[field] : undefined;
  if (column === undefined) throw new Error(`The records of ${kind} have no field "${field}".`);
  return column;
}

/** The record; each field is checked to be one of the kind's. */
export function known(kind: PeopleKind, record: PeopleRecord): PeopleRecord {
  for (const field of Object.keys(record)) columnOf(kind, field);
  return record;
}

export function isId({ id = null }: PeopleRecord): Where {
  return [{ field: 'id', operator: 'eq', value: id, connector: 'and' }];
}

/**
 * Default times: drizzle sets them when a statement is built, and built statements are cached. `whole`: those too that
 * the table has by itself, in SQLite's words.
 */
export function stamps(kind: PeopleKind, when: 'create' | 'change', whole = false): PeopleRecord {
  const columns: [string, SQLiteColumn][] = Object.entries(getTableColumns(tableOf(kind)));
  const isStamped = ({ onUpdateFn, hasDefault, default: given }: SQLiteColumn) =>
    (onUpdateFn !== undefined && (when === 'change' || !hasDefault)) || (whole && is(given, SQL));
  const now = new Date();
  return Object.fromEntries(columns.filter(([, column]) => isStamped(column)).map(([field]) => [field, now]));
}

/** Everything that the SQL of conditions depends on. */
function shapeOf(where: Where): string {
  return JSON.stringify(
    where.map(({ field, operator, value, connector }) => [field, operator, value === null, connector]),
  );
}

function conditionOf(kind: PeopleKind, where: Where): Condition | undefined {
  const of = (wanted: PeopleCondition['connector']) =>
    where.flatMap((condition, at) => (condition.connector === wanted ? comparison(kind, condition, `value${at}`) : []));
  return and(...of('and'), or(...of('or')));
}

function comparison(kind: PeopleKind, { field, operator, value }: PeopleCondition, name: string): Condition {
  const column = columnOf(kind, field);
  if (operator === 'in') return inBoundList(column, name);
  if (operator === 'not_in') return not(inBoundList(column, name));
  if (value === null && operator === 'eq') return isNull(column);
  if (value === null && operator === 'ne') return isNotNull(column);
  return COMPARED[operator](column, placeholder(name));
}

/** The values of conditions in the form of their columns. */
export function boundIn(kind: PeopleKind, where: Where): Bound {
  return Object.fromEntries(
    where.map(({ field, value }, at) => [
      `value${at}`,
      Array.isArray(value)
        ? JSON.stringify(value)
        : value === null
          ? null
          : columnOf(kind, field).mapToDriverValue(value),
    ]),
  );
}
