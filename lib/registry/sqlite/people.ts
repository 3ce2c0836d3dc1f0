/** The auth library's records as rows of its four tables. Knows nothing of what is in them. */
import type { SQL } from 'drizzle-orm';
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
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  not,
  or,
  placeholder,
} from '../../../db/drizzle.ts';
import { account, session, user, verification } from '../../../db/schema/access.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { PeopleCondition, PeopleKind, PeopleQuery, PeopleRecord, PeopleStore } from '../people.ts';
import { boundColumns } from './bound-values.ts';
import { type RegistryDatabase, sqliteCode } from './database.ts';
import { inBoundList } from './raw.ts';

type Where = readonly PeopleCondition[];
type Bound = Record<string, unknown>;

const TABLES = { user, session, account, verification };
const COMPARED = { eq, ne, lt, lte, gt, gte };

export class PeopleTables implements PeopleStore {
  readonly #database: RegistryDatabase;

  constructor(database: RegistryDatabase) {
    this.#database = database;
  }

  async create(kind: PeopleKind, record: PeopleRecord): Promise<PeopleRecord> {
    const table = tableOf(kind);
    const whole = { ...stamps(kind, 'create'), ...known(kind, record) };
    const statement = this.#database.shape(`${kind}: create ${Object.keys(whole).join()}`, (queries) =>
      queries
        .insert(table)
        .values(boundColumns(whole) as never)
        .returning()
        .prepare(),
    );
    return this.#writing(() => statement.get(whole) as PeopleRecord);
  }

  async find(kind: PeopleKind, where: Where): Promise<PeopleRecord | null> {
    return this.#all(kind, { where, limit: 1 })[0] ?? null;
  }

  async findAll(kind: PeopleKind, query: PeopleQuery): Promise<PeopleRecord[]> {
    return this.#all(kind, query);
  }

  async count(kind: PeopleKind, where: Where): Promise<number> {
    const statement = this.#database.shape(`${kind}: count ${shapeOf(where)}`, (queries) =>
      queries.select({ n: count() }).from(tableOf(kind)).where(conditionOf(kind, where)).prepare(),
    );
    return statement.get(boundIn(kind, where))?.n ?? 0;
  }

  async change(kind: PeopleKind, where: Where, patch: PeopleRecord): Promise<PeopleRecord | null> {
    const changes = known(kind, patch);
    return this.#writing(() => {
      const [found] = this.#all(kind, { where, limit: 1 });
      return found === undefined ? null : (this.#change(kind, isId(found), changes)[0] ?? null);
    });
  }

  async changeAll(kind: PeopleKind, where: Where, patch: PeopleRecord): Promise<number> {
    const changes = known(kind, patch);
    return this.#writing(() => this.#change(kind, where, changes).length);
  }

  async take(kind: PeopleKind, where: Where): Promise<PeopleRecord | null> {
    return this.#writing(() => {
      const [found] = this.#all(kind, { where, limit: 1 });
      if (found !== undefined) this.#remove(kind, isId(found));
      return found ?? null;
    });
  }

  async removeAll(kind: PeopleKind, where: Where): Promise<number> {
    return this.#writing(() => this.#remove(kind, where));
  }

  #all(kind: PeopleKind, { where, limit, offset = 0, sort }: PeopleQuery): PeopleRecord[] {
    const order = sort === undefined ? [] : [sort.descending ? desc : asc].map((by) => by(columnOf(kind, sort.field)));
    const statement = this.#database.shape(`${kind}: find ${shapeOf(where)} ${JSON.stringify(sort)}`, (queries) =>
      queries
        .select()
        .from(tableOf(kind))
        .where(conditionOf(kind, where))
        .orderBy(...order)
        .limit(placeholder('limit'))
        .offset(placeholder('offset'))
        .prepare(),
    );
    return statement.all({ ...boundIn(kind, where), limit, offset }) as PeopleRecord[];
  }

  #change(kind: PeopleKind, where: Where, patch: PeopleRecord): PeopleRecord[] {
    const whole = { ...stamps(kind, 'change'), ...patch };
    const statement = this.#database.shape(
      `${kind}: change ${Object.keys(whole).join()} ${shapeOf(where)}`,
      (queries) =>
        queries
          .update(tableOf(kind))
          .set(boundColumns(whole) as never)
          .where(conditionOf(kind, where))
          .returning()
          .prepare(),
    );
    return statement.all({ ...whole, ...boundIn(kind, where) }) as PeopleRecord[];
  }

  #remove(kind: PeopleKind, where: Where): number {
    const statement = this.#database.shape(`${kind}: remove ${shapeOf(where)}`, (queries) =>
      queries.delete(tableOf(kind)).where(conditionOf(kind, where)).prepare(),
    );
    return statement.run(boundIn(kind, where)).changes;
  }

  #writing<T>(work: () => T): T {
    try {
      return this.#database.write(work);
    } catch (error) {
      const code = sqliteCode(error);
      if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') {
        throw new WinterdockError('conflict', 'There is no such person.', { cause: error });
      }
      if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') {
        throw new WinterdockError('conflict', 'Another record has that id, address or token.', { cause: error });
      }
      throw error;
    }
  }
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
function known(kind: PeopleKind, record: PeopleRecord): PeopleRecord {
  for (const field of Object.keys(record)) columnOf(kind, field);
  return record;
}

function isId({ id = null }: PeopleRecord): Where {
  return [{ field: 'id', operator: 'eq', value: id, connector: 'and' }];
}

/** Default times: drizzle sets them when a statement is built, and built statements are cached. */
function stamps(kind: PeopleKind, when: 'create' | 'change'): PeopleRecord {
  const columns: [string, SQLiteColumn][] = Object.entries(getTableColumns(tableOf(kind)));
  const stamped = columns.filter(([, { onUpdateFn, hasDefault }]) => onUpdateFn && (when === 'change' || !hasDefault));
  return Object.fromEntries(stamped.map(([field, column]) => [field, column.onUpdateFn?.() as Date]));
}

/** Everything that the SQL of conditions depends on. */
function shapeOf(where: Where): string {
  return JSON.stringify(
    where.map(({ field, operator, value, connector }) => [field, operator, value === null, connector]),
  );
}

function conditionOf(kind: PeopleKind, where: Where): SQL | undefined {
  const of = (wanted: PeopleCondition['connector']) =>
    where.flatMap((condition, at) => (condition.connector === wanted ? comparison(kind, condition, `value${at}`) : []));
  return and(...of('and'), or(...of('or')));
}

function comparison(kind: PeopleKind, { field, operator, value }: PeopleCondition, name: string): SQL {
  const column = columnOf(kind, field);
  if (operator === 'in') return inBoundList(column, name);
  if (operator === 'not_in') return not(inBoundList(column, name));
  if (value === null && operator === 'eq') return isNull(column);
  if (value === null && operator === 'ne') return isNotNull(column);
  return COMPARED[operator](column, placeholder(name));
}

/** The values of conditions in the form of their columns. */
function boundIn(kind: PeopleKind, where: Where): Bound {
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
