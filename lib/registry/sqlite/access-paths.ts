/**
 * The indexes that a list can be read from, the number of rows to scan in each (from the maintained counts), and the
 * query over one. Knows nothing of pages.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { and, count, eq, gte, lte, ne, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances, labels } from '../../../db/schema.ts';
import type { ListRequest } from '../instances.ts';
import {
  type Criterion,
  conditionOf,
  filterBindings,
  filterShape,
  type NormalFilter,
} from '../statements/list-filter.ts';
import { inBoundList, rowid, selectBy, selectUnindexed } from '../statements/raw.ts';
import { countOfLabel, readCountsByFault, readCountsByState } from './counts.ts';
import type { RegistryDatabase } from './database.ts';
import { instanceText } from './text-index.ts';

export type ListSort = ListRequest['sort'];

/** What reading a row costs, in entries of an index. */
const ROW_COST = 10;

const SORT_COLUMN = { updated: 'updated', created: 'created', name: 'nameKey', bytes: 'bytesKey' } as const;

/** Rows of a host that are counted: of more there are too many to be sorted. */
const COUNTED_OF_HOST = 25_000;

/** One way to read the rows of a list. */
export interface AccessPath {
  kind: 'instances' | 'labels' | 'hits' | 'text';
  /** The index, when it belongs to a table. */
  index: string;
  /** Criteria that the index itself satisfies. */
  covers: readonly Criterion[];
  /** Criteria that follow from those: no row is checked for them. */
  implies?: readonly Criterion[];
  /** Criteria that each of its entries is checked for, without its row. */
  checks?: readonly Criterion[];
  /** True when it yields rows in the order of the sort. */
  ordered: boolean;
  /** Number of rows in it. */
  size: number;
}

/** Row numbers that were found, bound as `hits`. The conditions decide whether they really match. */
export const BY_ROW_NUMBER: AccessPath = { kind: 'hits', index: '', covers: [], ordered: false, size: 0 };
/** Rows that have all trigrams of a text, bound as `match`, from the text index. The conditions decide here too. */
export const BY_TEXT: AccessPath = { ...BY_ROW_NUMBER, kind: 'text' };

/**
 * The narrowest source for a filter, and the narrowest one in the order of the sort; they may be the same. `spans` are
 * sources of a span of time, whose rows no count knows.
 */
export function accessPathsFor(
  database: RegistryDatabase,
  wanted: NormalFilter,
  sort: ListSort,
): { narrow: AccessPath; ordered: AccessPath; spans: AccessPath[] } {
  const { tenant, state, fault, name, label, host, pending, due, deleted } = wanted;
  const counts = readCountsByState(database, tenant);
  const living = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
  const [by, tenantCriteria]: [string, Criterion[]] =
    tenant === undefined ? ['instances_by', []] : ['instances_by_tenant', ['tenant']];
  const sources: AccessPath[] = [];
  const source = (index: string, leads: Criterion[], size: number, ordered = true, implies: Criterion[] = []) => {
    const covers = index.endsWith('_updated') ? [...leads, ...within] : leads;
    sources.push({ kind: kindOf(index), index, covers, implies, checks: checksOf(index, wanted), size, ordered });
  };

  const within = (['since', 'until'] as const).filter((aspect) => wanted[aspect] !== undefined);
  source(`${by}_${sort}`, [...tenantCriteria, 'deleted'], deleted ? counts.deleted : living);
  const spans: AccessPath[] = [];
  const span = (index: string, covers: Criterion[], implies: Criterion[] = []) =>
    spans.push({
      kind: kindOf(index),
      index,
      covers,
      implies,
      checks: checksOf(index, wanted),
      size: Number.NaN,
      ordered: false,
    });
  if (state !== undefined) {
    source(`${by}_state_updated`, [...tenantCriteria, 'state'], counts[state], sort === 'updated', ['deleted']);
    if (within.length > 0) span(`${by}_state_updated`, [...tenantCriteria, 'state', ...within], ['deleted']);
  } else if (within.length > 0) span(`${by}_updated`, [...tenantCriteria, 'deleted', ...within]);
  if (!deleted && fault !== undefined) {
    source(`instances_by_fault_${sort}`, ['fault', 'deleted'], readCountsByFault(database)[fault]);
  }
  if (!deleted && label !== undefined) {
    source(`labels_by_${sort}`, ['label', 'deleted'], countOfLabel(database, label));
    if (within.length > 0) span('labels_by_updated', ['label', 'deleted', ...within]);
  }
  if (host !== undefined) {
    // No count of a host is maintained: its sandboxes come and go with every move.
    const index = 'instances_by_host_updated';
    const covers: Criterion[] = ['host', 'deleted', ...within];
    const entries = { kind: kindOf(index), index, covers, ordered: false, size: 0 };
    const size = countEntries(database, entries, wanted, COUNTED_OF_HOST);
    source(index, ['host', 'deleted'], size < COUNTED_OF_HOST ? size : living, sort === 'updated');
  }
  // These have no maintained count. A name is unique within a tenant, and pending operations are few.
  if (name !== undefined) source(`${by}_name`, [...tenantCriteria, 'deleted', 'name'], 0, sort === 'name');
  if (pending !== undefined) source('instances_pending', ['pending'], 0, false);
  if (due !== undefined) {
    const index = tenant === undefined ? 'instances_due' : 'instances_by_tenant_due';
    // A deleted row falls due no more.
    span(index, [...tenantCriteria, 'due'], deleted ? [] : ['deleted']);
  }
  const narrowest = (among: AccessPath[]) =>
    among.reduce((best, source) => (costOf(source, wanted) <= costOf(best, wanted) ? source : best));
  return { narrow: narrowest(sources), ordered: narrowest(sources.filter(({ ordered }) => ordered)), spans };
}

function kindOf(index: string): 'instances' | 'labels' {
  return index.startsWith('labels') ? 'labels' : 'instances';
}

/** The source of every matching row, in no order: a span of what falls due, or the narrowest that is counted. */
export function sourceOfAll({ narrow, spans }: ReturnType<typeof accessPathsFor>): AccessPath {
  const due = spans.find(({ covers }) => covers.includes('due'));
  return due === undefined ? narrow : { ...due, size: 0 };
}

/** The criteria that the entries of an index have columns for. */
function checksOf(index: string, wanted: NormalFilter): Criterion[] {
  if (index !== 'labels_by_updated') return [];
  return (['tenant', 'state', 'notState'] as const).filter((aspect) => wanted[aspect] !== undefined);
}

/** Whether the entries of a source say which of its rows match. */
export function isCovered(source: AccessPath, wanted: NormalFilter): boolean {
  return uncovered(source, wanted).length === 0;
}

/** The criteria that only a row itself is checked for. */
function uncovered({ covers, implies = [], checks = [] }: AccessPath, wanted: NormalFilter): Criterion[] {
  const satisfied = [...covers, ...implies, ...checks];
  return (Object.keys(wanted) as Criterion[]).filter((aspect) => !satisfied.includes(aspect));
}

/** The conditions that a source does not satisfy by itself: those of entries, then those of rows. */
function remainingConditions(queries: Queries, source: AccessPath, wanted: NormalFilter): (SQL | undefined)[] {
  return [
    ...(source.checks ?? []).map((aspect) => conditionOfLabel(aspect)),
    ...uncovered(source, wanted).map((aspect) => conditionOf(queries, wanted, aspect)),
  ];
}

function conditionOfLabel(aspect: Criterion): SQL | undefined {
  if (aspect === 'tenant') return eq(labels.tenant, placeholder('tenant'));
  return aspect === 'state' ? eq(labels.state, placeholder('state')) : ne(labels.state, placeholder('notState'));
}

/** Number of entries of an index that a filter reads, up to `limit`. */
export function countEntries(
  database: RegistryDatabase,
  source: AccessPath,
  wanted: NormalFilter,
  limit: number,
): number {
  const statement = database.shape(`list size ${source.index} ${filterShape(wanted)}`, (queries) => {
    const { row } = positionOf(source, 'updated');
    const some = selectCovered(queries, source, wanted, { row }).limit(placeholder('limit'));
    return queries.select({ n: count() }).from(some.as('some')).prepare();
  });
  return statement.get({ ...filterBindings(wanted), limit })?.n ?? 0;
}

/** What it costs to find all matches in a source, in entries of an index. */
function costOf(source: AccessPath, wanted: NormalFilter): number {
  return source.size * (isCovered(source, wanted) ? 1 : ROW_COST);
}

/** Sort key and row number as a source has them. The key is read raw: a name is text, or a blob when there is none. */
export function positionOf(
  source: AccessPath,
  sort: ListSort,
): { key: SQL<string | number | Uint8Array>; row: SQL<number> } {
  const column = SORT_COLUMN[sort];
  return source.kind === 'labels'
    ? { key: labels[column].getSQL() as SQL<string>, row: labels.instanceRow.getSQL() as SQL<number> }
    : { key: instances[column].getSQL() as SQL<string>, row: rowid(instances) };
}

/** The rows of a source that match, with further conditions. */
export function selectMatching<F extends Record<string, SQLiteColumn | SQL>>(
  queries: Queries,
  source: AccessPath,
  wanted: NormalFilter,
  fields: F,
  ...more: SQL[]
) {
  const rest = remainingConditions(queries, source, wanted);
  const conditions = and(...coveredConditions(queries, source, wanted), ...rest, ...more);
  if (source.kind === 'hits') {
    return selectUnindexed(queries, fields, instances).where(and(inBoundList(rowid(instances), 'hits'), conditions));
  }
  const [from, joined] = selectWithRows(queries, source, fields);
  return from.where(and(joined, conditions));
}

/** The positions of the rows of a source that match. A label's entries are enough when nothing else is asked for. */
export function selectPositions(
  queries: Queries,
  source: AccessPath,
  wanted: NormalFilter,
  sort: ListSort,
  ...more: SQL[]
) {
  const at = positionOf(source, sort);
  if (source.kind !== 'labels' || !isCovered(source, wanted))
    return selectMatching(queries, source, wanted, at, ...more);
  const checked = remainingConditions(queries, source, wanted).filter((condition) => condition !== undefined);
  return selectCovered(queries, source, wanted, at, ...checked, ...more);
}

/** The row numbers of the matches among the first rows of a source, as many as are bound as `first`. */
export function selectAmongFirst(queries: Queries, source: AccessPath, wanted: NormalFilter) {
  const matches = (and(...remainingConditions(queries, source, wanted)) as SQL<number>).as('matches');
  const entriesOnly = source.kind === 'labels' && isCovered(source, wanted);
  const fields = { matches, row: positionOf(source, 'updated').row.as('row') };
  const [from, joined] = entriesOnly
    ? ([selectEntries(queries, source, fields), undefined] as const)
    : selectWithRows(queries, source, fields);
  const first = from
    .where(and(joined, ...coveredConditions(queries, source, wanted)))
    .limit(placeholder('first'))
    .as('first');
  return queries.select({ row: first.row }).from(first).where(eq(first.matches, 1).inlineParams());
}

/** The entries of a source, each with its row of `instances`, and the condition that joins the two. */
function selectWithRows<F extends Record<string, SQLiteColumn | SQL | SQL.Aliased>>(
  queries: Queries,
  source: AccessPath,
  fields: F,
) {
  const from = selectEntries(queries, source, fields);
  if (source.kind === 'instances') return [from, undefined] as const;
  const number = source.kind === 'labels' ? labels.instanceRow : instanceText.rowid;
  // CROSS JOIN: otherwise SQLite begins with the table that it estimates to be smaller.
  from.crossJoin(instances);
  return [from, eq(rowid(instances), number)] as const;
}

/** The number of rows that an index scan reads, matching or not. */
export function selectCovered<F extends Record<string, SQLiteColumn | SQL>>(
  queries: Queries,
  source: AccessPath,
  wanted: NormalFilter,
  fields: F,
  ...more: SQL[]
) {
  return selectEntries(queries, source, fields).where(and(...coveredConditions(queries, source, wanted), ...more));
}

function selectEntries<F extends Record<string, SQLiteColumn | SQL | SQL.Aliased>>(
  queries: Queries,
  source: AccessPath,
  fields: F,
) {
  if (source.kind === 'text') return selectUnindexed(queries, fields, instanceText);
  return selectBy(queries, fields, source.kind === 'labels' ? labels : instances, source.index);
}

function coveredConditions(queries: Queries, source: AccessPath, wanted: NormalFilter): (SQL | undefined)[] {
  if (source.kind === 'text') return [eq(instanceText.match, placeholder('match'))];
  if (source.kind === 'hits') return [];
  // A page that begins or ends within a span of time has one of its bounds no more.
  const covers = source.covers.filter((aspect) => wanted[aspect] !== undefined);
  if (source.kind === 'instances') return covers.map((aspect) => conditionOf(queries, wanted, aspect));
  return [
    eq(labels.key, placeholder('labelKey')),
    eq(labels.value, placeholder('labelValue')),
    covers.includes('since') ? gte(labels.updated, placeholder('since')) : undefined,
    covers.includes('until') ? lte(labels.updated, placeholder('until')) : undefined,
  ];
}
