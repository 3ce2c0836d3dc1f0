/**
 * Lists of instances, page by page, and their counts. Postgres has statistics of its tables and chooses the index
 * itself: what SQLite's driver does by hand (access paths, stretches, the text index) is one statement here. Rows
 * without a name sort last, as their key says (db/postgres/tables.ts).
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { and, asc, count, desc, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
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
import { inBoundList, pastPosition, rowid } from '../statements/raw.ts';
import type { InstanceRow, RowCount, RowPage } from '../types.ts';
import type { InstanceCounts } from './counts.ts';
import type { PostgresDatabase } from './database.ts';

type ListSort = ListRequest['sort'];

const KEYS = {
  updated: instances.updated,
  created: instances.created,
  name: instances.nameKey,
  bytes: instances.bytesKey,
} as const satisfies Record<ListSort, SQLiteColumn>;
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
    const statement = this.#database.with(
      (database) => () =>
        database.shape(`list ${shapeOf(wanted)} ${sort} ${descending} ${after === null}`, (queries) => {
          const at = [KEYS[sort], rowid(instances)] as const;
          const past = after === null ? [] : [pastPosition(at, descending ? '<' : '>', ['afterKey', 'afterRow'])];
          return select(queries, wanted, { row: INSTANCE_COLUMNS, number: rowid(instances) }, past)
            .orderBy(order(at[0]), order(at[1]))
            .limit(placeholder('limit'))
            .prepare();
        }),
    )();
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
    if (kept !== null) return Math.min(kept, cap + 1);
    const statement = this.#database.with(
      (database) => () =>
        database.shape(`list count ${shapeOf(wanted)}`, (queries) => {
          const some = select(queries, wanted, { id: instances.id }, []).limit(placeholder('limit'));
          return queries.select({ n: count() }).from(some.as('some')).prepare();
        }),
    )();
    return (await statement.get({ ...bindingsOf(wanted), limit: cap + 1 }))?.n ?? 0;
  }

  /** See `InstanceStore.total`. Postgres counts in a process of its own: nobody waits for it. */
  async total(filter: ListFilter, cap: number): Promise<RowCount> {
    const n = await this.count(filter, cap);
    return n > cap ? { n: cap, isExact: false } : { n, isExact: true };
  }

  /** Every matching row with these fields, in the order of their numbers, `piece` at a time, all of one moment. */
  everything<Row>(
    filter: ListFilter,
    fields: Record<string, SQLiteColumn | SQL>,
    piece: number,
  ): AsyncIterable<Row[]> | null {
    const wanted = wantedOf(filter);
    if (wanted === null) return null;
    const build = (queries: Queries) => select(queries, wanted, fields, []).orderBy(rowid(instances)).prepare();
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

function shapeOf({ filter, tenants }: Wanted): string {
  return `${filterShape(filter)} ${tenants === undefined}`;
}

function bindingsOf({ filter, tenants }: Wanted): Record<string, unknown> {
  return { ...filterBindings(filter), ...(tenants === undefined ? {} : { among: JSON.stringify(tenants) }) };
}

function select(
  queries: Queries,
  { filter, tenants }: Wanted,
  fields: Parameters<Queries['select']>[0] & object,
  also: readonly SQL[],
) {
  const aspects = Object.keys(filter) as Criterion[];
  return queries
    .select(fields)
    .from(instances)
    .where(
      and(
        ...aspects.map((aspect) => conditionOf(queries, filter, aspect)),
        tenants === undefined ? undefined : inBoundList(instances.tenant, 'among'),
        ...also,
      ),
    );
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
