/**
 * Lists of instances, page by page, and their counts. Postgres has statistics of its tables and chooses the index
 * itself: what SQLite's driver does by hand (access paths, stretches) is one statement here. The rows of a label are
 * read by its own entries, which have the sort keys too, and those of a text are told by its runs of bytes
 * (db/postgres/texts.ts). Rows without a name sort last, as their key says (db/postgres/tables.ts).
 */
import type { Placeholder, SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { and, asc, count, desc, eq, gte, lte, ne, placeholder, type Queries, sql } from '../../../db/drizzle.ts';
import { instances, labels } from '../../../db/schema.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { ListFilter, ListRequest } from '../instances.ts';
import { INSTANCE_COLUMNS } from '../statements/instance-rows.ts';
import {
  asksOnly,
  type Criterion,
  conditionOf,
  filterBindings,
  filterShape,
  type NormalFilter,
  normalizeFilter,
} from '../statements/list-filter.ts';
import { inBoundList, pastPosition, rowid, unplanned } from '../statements/raw.ts';
import type { InstanceRow, RowCount, RowPage } from '../types.ts';
import type { InstanceCounts } from './counts.ts';
import type { PostgresDatabase } from './database.ts';

type ListSort = ListRequest['sort'];

/** The column of a sort, of sandboxes and of entries of labels. */
const KEYS = { updated: 'updated', created: 'created', name: 'nameKey', bytes: 'bytesKey' } as const satisfies Record<
  ListSort,
  string
>;
/** Rows that are counted for a total at most. */
const COUNTED = 500;
/** Lengths that are part of a statement: what is told only later how many rows to read is planned anew each time. */
const USUAL_LENGTHS = [51, 101, COUNTED + 1];
/** The sort key of a row without a name, and what a name's key begins with. */
const NAMELESS = '2';
const NAMED = '1';

/** The sort key of a row as a cursor has it, and its number. */
type Position = [key: string | number | null, row: number];

/** A filter in normal form; `tenants`: only those, without one any. */
interface Wanted {
  filter: NormalFilter;
  tenants: readonly string[] | undefined;
}

export class InstanceLists {
  readonly #database: PostgresDatabase;
  readonly #counts: InstanceCounts;

  constructor(database: PostgresDatabase, counts: InstanceCounts) {
    this.#database = database;
    this.#counts = counts;
  }

  async page(request: ListRequest): Promise<RowPage<InstanceRow>> {
    const { sort, reverse, limit } = request;
    const after = request.cursor === undefined ? null : positionIn(request.cursor, sort, reverse);
    const descending = (sort === 'name') === reverse;
    const wanted = wantedOf(request);
    if (wanted === null) return { rows: [], next: null };
    const order = descending ? desc : asc;
    const length = lengthOf(limit + 1);
    const statement = this.#statement(
      `list ${sort} ${descending} ${after === null} ${length.key}`,
      wanted,
      (queries) => {
        const at = [(hasLabel(wanted) ? labels : instances)[KEYS[sort]], numberIn(wanted)] as const;
        const past = after === null ? [] : [pastPosition(at, descending ? '<' : '>', ['afterKey', 'afterRow'])];
        return select(queries, wanted, { row: INSTANCE_COLUMNS, number: at[1] }, past)
          .orderBy(order(at[0]), order(at[1]))
          .limit(length.limit)
          .prepare();
      },
    );
    const [afterKey, afterRow] = after ?? [];
    const bound = { ...bindingsOf(wanted), afterKey: keyOf(sort, afterKey), afterRow, limit: limit + 1 };
    const found = (await statement.all(bound)) as { row: InstanceRow; number: number }[];
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const next = found.length > limit && last ? cursorAt(last, sort, reverse) : null;
    return { rows: rows.map(({ row }) => row), next };
  }

  /** Exact up to `cap`; above it `cap + 1`. */
  async count(filter: ListFilter, cap: number): Promise<number> {
    const wanted = wantedOf(filter);
    if (wanted === null) return 0;
    const kept = await this.#keptCount(wanted);
    return kept === null ? this.#countRows(wanted, cap) : Math.min(kept, cap + 1);
  }

  /** See `InstanceStore.total`. */
  async total(filter: ListFilter, cap: number): Promise<RowCount> {
    const wanted = wantedOf(filter);
    if (wanted === null) return { n: 0, isExact: true };
    const kept = await this.#keptCount(wanted);
    const most = kept === null ? Math.min(cap, COUNTED) : cap;
    const n = kept ?? (await this.#countRows(wanted, most));
    return n > most ? { n: most, isExact: false } : { n, isExact: true };
  }

  async #countRows(wanted: Wanted, cap: number): Promise<number> {
    const { key, limit } = lengthOf(cap + 1);
    const statement = this.#statement(`list count ${key}`, wanted, (queries) => {
      const some = select(queries, wanted, null, []).limit(limit);
      return queries.select({ n: count() }).from(some.as('some')).prepare();
    });
    return (await statement.get({ ...bindingsOf(wanted), limit: cap + 1 }))?.n ?? 0;
  }

  /** A statement of a filter. How many rows have a text decides how it is read, so that one is planned each time. */
  #statement<T>(key: string, wanted: Wanted, build: (queries: Queries) => T) {
    const replans = wanted.filter.patterns !== undefined;
    return this.#database.with(() => () => this.#database.shape(`${key} ${shapeOf(wanted)}`, build, replans))();
  }

  /** Every matching row with these fields, in the order of their numbers, `piece` at a time, all of one moment. */
  everything<Row>(
    filter: ListFilter,
    fields: Record<string, SQLiteColumn | SQL>,
    piece: number,
  ): AsyncIterable<Row[]> | null {
    const wanted = wantedOf(filter);
    if (wanted === null) return null;
    const build = (queries: Queries) => select(queries, wanted, fields, []).orderBy(numberIn(wanted)).prepare();
    return this.#database.pieces<Row>(build, bindingsOf(wanted), piece);
  }

  /** The count from the triggers, or null when they do not count what the filter asks for. */
  async #keptCount({ filter: wanted, tenants }: Wanted): Promise<number | null> {
    const { tenant, state, notState, fault, label, deleted } = wanted;
    if (asksOnly(wanted, 'tenant', 'state', 'notState')) {
      const counts = await this.#counts.byState(tenant === undefined ? tenants : [tenant]);
      if (deleted) return counts.deleted;
      if (state !== undefined) return counts[state];
      const living = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
      return notState === undefined ? living : living - counts[notState];
    }
    if (deleted || tenants !== undefined) return null;
    if (fault !== undefined && asksOnly(wanted, 'fault')) return (await this.#counts.byFault())[fault];
    return label !== undefined && asksOnly(wanted, 'label') ? this.#counts.ofLabel(label) : null;
  }
}

/** Null when nothing can match. */
function wantedOf({ tenants, ...filter }: ListFilter): Wanted | null {
  if (tenants?.length === 0) return null;
  if (tenants !== undefined && filter.tenant !== undefined && !tenants.includes(filter.tenant)) return null;
  const wanted = normalizeFilter(filter);
  return wanted === null ? null : { filter: wanted, tenants: filter.tenant === undefined ? tenants : undefined };
}

function lengthOf(rows: number) {
  if (!USUAL_LENGTHS.includes(rows)) return { key: 'any', limit: placeholder('limit') };
  return { key: rows, limit: sql.raw(String(rows)) as unknown as number };
}

function shapeOf({ filter, tenants }: Wanted): string {
  return `${filterShape(filter)} ${tenants === undefined}`;
}

function bindingsOf({ filter, tenants }: Wanted): Record<string, unknown> {
  return { ...filterBindings(filter), ...(tenants === undefined ? {} : { among: JSON.stringify(tenants) }) };
}

/** Whether the rows are found by the entries of a label, which deleted rows have none of. */
function hasLabel({ filter }: Wanted): boolean {
  return filter.label !== undefined && !filter.deleted;
}

function numberIn(wanted: Wanted): SQL<number> {
  return hasLabel(wanted) ? sql<number>`${labels.instanceRow}` : rowid(instances);
}

/** The rows of a filter. `fields`: null for their numbers alone. */
function select(queries: Queries, wanted: Wanted, fields: Record<string, unknown> | null, also: readonly SQL[]) {
  const { filter, tenants } = wanted;
  const criteria = Object.keys(filter) as Criterion[];
  const ofEntry = hasLabel(wanted) ? criteria.filter((criterion) => ENTRIES[criterion] !== undefined) : [];
  const ofRow = criteria.filter((criterion) => !ofEntry.includes(criterion));
  // What entries say by themselves is read in their order whatever is asked for.
  const bound = ofRow.length > 0 ? placeholder : unplanned;
  const conditions = and(
    ...ofEntry.map((criterion) => ENTRIES[criterion]?.(bound)),
    ...ofRow.map((criterion) => conditionOf(queries, filter, criterion)),
    filter.patterns === undefined || filter.deleted ? undefined : hasGrams(wanted, filter.patterns.length),
    tenants === undefined ? undefined : inBoundList((hasLabel(wanted) ? labels : instances).tenant, 'among'),
    ...also,
  );
  const selected = (fields ?? { row: numberIn(wanted).as('row') }) as Parameters<Queries['select']>[0] & object;
  if (!hasLabel(wanted)) return queries.select(selected).from(instances).where(conditions);
  const entries = queries.select(selected).from(labels).$dynamic();
  // Entries that say everything are enough to be counted.
  if (fields !== null || ofRow.length > 0) entries.innerJoin(instances, eq(rowid(instances), labels.instanceRow));
  return entries.where(conditions);
}

/** How the value of a criterion is bound. */
type Bound = (name: string, type: 'bigint' | 'text') => SQL | Placeholder;

/** What the entry of a label says of a criterion by itself. */
const ENTRIES: Partial<Record<Criterion, (bound: Bound) => SQL | undefined>> = {
  deleted: () => undefined,
  label: (bound) => and(eq(labels.key, bound('labelKey', 'text')), eq(labels.value, bound('labelValue', 'text'))),
  tenant: (bound) => eq(labels.tenant, bound('tenant', 'text')),
  state: (bound) => eq(labels.state, bound('state', 'text')),
  notState: (bound) => ne(labels.state, bound('notState', 'text')),
  since: (bound) => gte(labels.updated, bound('since', 'bigint')),
  until: (bound) => lte(labels.updated, bound('until', 'bigint')),
};

/** True for a row that has all runs of bytes of the bound patterns. */
function hasGrams(wanted: Wanted, patterns: number): SQL {
  const grams = Array.from({ length: patterns }, (_, n) => sql`text_grams(${placeholder(`pattern${n}`)})`);
  return sql`exists (select from instance_texts where instance_row = ${numberIn(wanted)}
    and grams @> (${sql.join(grams, sql` || `)}))`;
}

function keyOf(sort: ListSort, key: string | number | null | undefined): string | number | null | undefined {
  if (sort !== 'name') return key;
  return key === null ? NAMELESS : `${NAMED}${key}`;
}

function cursorAt({ row, number }: { row: InstanceRow; number: number }, sort: ListSort, reverse: boolean): string {
  const key = sort === 'bytes' ? (row.bytes ?? -1) : row[sort];
  return writeCursor([reverse ? `-${sort}` : sort, key, number]);
}

function positionIn(cursor: string, sort: ListSort, reverse: boolean): Position {
  const expected = reverse ? `-${sort}` : sort;
  const isPosition = (position: unknown[]): position is [string, ...Position] => {
    const [of, key, row] = position;
    const keyFits = sort === 'name' ? key === null || typeof key === 'string' : Number.isSafeInteger(key);
    return position.length === 3 && of === expected && keyFits && Number.isSafeInteger(row);
  };
  const [, key, row] = readCursor(cursor, isPosition);
  return [key, row];
}
