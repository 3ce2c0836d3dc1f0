/**
 * The indexes that a list can be read from, the number of rows to scan in each (from the maintained counts), and the
 * query over one. Knows nothing of pages.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { and, eq, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances, labels } from '../../../db/schema.ts';
import type { ListRequest } from '../instances.ts';
import { countOfLabel, readCountsByFault, readCountsByState } from './counts.ts';
import type { RegistryDatabase } from './database.ts';
import { type Criterion, conditionOf, type NormalFilter } from './list-filter.ts';
import { inBoundList, rowid, selectBy, selectUnindexed } from './raw.ts';
import { instanceText } from './text-index.ts';

export type ListSort = ListRequest['sort'];

const SORT_COLUMN = { updated: 'updated', created: 'created', name: 'nameKey', bytes: 'bytesKey' } as const;

/** One way to read the rows of a list. */
export interface AccessPath {
  kind: 'instances' | 'labels' | 'hits' | 'text';
  /** The index, when it belongs to a table. */
  index: string;
  /** Criteria that the index itself satisfies. */
  covers: readonly Criterion[];
  /** True when it yields rows in the order of the sort. */
  ordered: boolean;
  /** Number of rows in it. */
  size: number;
}

/** Row numbers that were found, bound as `hits`. The conditions decide whether they really match. */
export const BY_ROW_NUMBER: AccessPath = { kind: 'hits', index: '', covers: [], ordered: false, size: 0 };
/** Rows that have all the words, bound as `match`, directly from the text index. The conditions decide here too. */
export const BY_TEXT: AccessPath = { ...BY_ROW_NUMBER, kind: 'text' };

/** The narrowest source for a filter, and the narrowest one in the order of the sort; they may be the same. */
export function accessPathsFor(
  database: RegistryDatabase,
  wanted: NormalFilter,
  sort: ListSort,
): { narrow: AccessPath; ordered: AccessPath } {
  const { tenant, state, fault, name, label, pending, due, deleted } = wanted;
  const counts = readCountsByState(database, tenant);
  const living = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
  const [by, tenantCriteria]: [string, Criterion[]] =
    tenant === undefined ? ['instances_by', []] : ['instances_by_tenant', ['tenant']];
  const sources: AccessPath[] = [];
  const source = (index: string, leads: Criterion[], size: number, ordered = true) =>
    sources.push({ kind: index.startsWith('labels') ? 'labels' : 'instances', index, covers: leads, size, ordered });

  source(`${by}_${sort}`, [...tenantCriteria, 'deleted'], deleted ? counts.deleted : living);
  if (state !== undefined)
    source(`${by}_state_updated`, [...tenantCriteria, 'state'], counts[state], sort === 'updated');
  if (!deleted && fault !== undefined) {
    source(`instances_by_fault_${sort}`, ['fault', 'deleted'], readCountsByFault(database)[fault]);
  }
  if (!deleted && label !== undefined) source(`labels_by_${sort}`, ['label', 'deleted'], countOfLabel(database, label));
  // These have no maintained count. A name is unique within a tenant; pending operations and rows due in a span are
  // few.
  if (name !== undefined) source(`${by}_name`, [...tenantCriteria, 'deleted', 'name'], 0, sort === 'name');
  if (pending !== undefined) source('instances_pending', ['pending'], 0, false);
  if (due !== undefined) source('instances_due', ['due'], 0, false);
  return { narrow: narrowest(sources), ordered: narrowest(sources.filter(({ ordered }) => ordered)) };
}

function narrowest(sources: AccessPath[]): AccessPath {
  return sources.reduce((best, source) => (source.size <= best.size ? source : best));
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
  const rest = (Object.keys(wanted) as Criterion[]).filter((aspect) => !source.covers.includes(aspect));
  const conditions = [
    ...coveredConditions(queries, source, wanted),
    ...rest.map((aspect) => conditionOf(queries, wanted, aspect)),
    ...more,
  ];
  if (source.kind === 'hits') {
    return selectUnindexed(queries, fields, instances).where(and(inBoundList(rowid(instances), 'hits'), ...conditions));
  }
  const from = selectEntries(queries, source, fields);
  if (source.kind === 'instances') return from.where(and(...conditions));
  const number = source.kind === 'labels' ? labels.instanceRow : instanceText.rowid;
  // CROSS JOIN: otherwise SQLite begins with the table that it estimates to be smaller.
  from.crossJoin(instances);
  return from.where(and(eq(rowid(instances), number), ...conditions));
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

function selectEntries<F extends Record<string, SQLiteColumn | SQL>>(queries: Queries, source: AccessPath, fields: F) {
  if (source.kind === 'text') return selectUnindexed(queries, fields, instanceText);
  return selectBy(queries, fields, source.kind === 'labels' ? labels : instances, source.index);
}

function coveredConditions(queries: Queries, source: AccessPath, wanted: NormalFilter): (SQL | undefined)[] {
  if (source.kind === 'text') return [eq(instanceText.match, placeholder('match'))];
  if (source.kind === 'labels') {
    return [eq(labels.key, placeholder('labelKey')), eq(labels.value, placeholder('labelValue'))];
  }
  return source.covers.map((aspect) => conditionOf(queries, wanted, aspect));
}
