/**
 * The indexes that a list can be read from, how many rows each has to look at – known from the maintained counts – and
 * the query over one. Knows nothing of pages.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { and, eq, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances, labels } from '../../../db/schema.ts';
import type { ListRequest } from '../instances.ts';
import { countOfLabel, countsByFault, countsByState } from './counts.ts';
import type { RegistryDatabase } from './database.ts';
import { type Aspect, conditionOf, type Wanted } from './filter.ts';
import { among, rowid, selectBy, selectUnindexed } from './raw.ts';
import { instanceText } from './text-index.ts';

export type Sort = ListRequest['sort'];

const SORT_COLUMN = { updated: 'updated', created: 'created', name: 'nameKey', bytes: 'bytesKey' } as const;

/** One way to the rows. */
export interface Source {
  of: 'instances' | 'labels' | 'hits' | 'text';
  /** The index, when it is of a table. */
  index: string;
  /** What the index is asked for: enough to walk it alone. */
  leads: readonly Aspect[];
  /** Whether it gives the rows in the order of the sort. */
  ordered: boolean;
  /** Rows in it. */
  size: number;
}

/** Row numbers that were found, bound as `hits`. Whether they really match is left to the conditions. */
export const HITS: Source = { of: 'hits', index: '', leads: [], ordered: false, size: 0 };
/** What has all the words, bound as `match`, straight from the text index. The same is left to the conditions. */
export const TEXT: Source = { ...HITS, of: 'text' };

/** The narrowest source for a filter, and the narrowest that comes in order; they may be the same. */
export function sourcesFor(
  database: RegistryDatabase,
  wanted: Wanted,
  sort: Sort,
): { narrow: Source; ordered: Source } {
  const { tenant, state, fault, name, label, pending, due, deleted } = wanted;
  const counts = countsByState(database, tenant);
  const living = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
  const [by, whose]: [string, Aspect[]] =
    tenant === undefined ? ['instances_by', []] : ['instances_by_tenant', ['tenant']];
  const sources: Source[] = [];
  const source = (index: string, leads: Aspect[], size: number, ordered = true) =>
    sources.push({ of: index.startsWith('labels') ? 'labels' : 'instances', index, leads, size, ordered });

  source(`${by}_${sort}`, [...whose, 'deleted'], deleted ? counts.deleted : living);
  if (state !== undefined) source(`${by}_state_updated`, [...whose, 'state'], counts[state], sort === 'updated');
  if (!deleted && fault !== undefined) {
    source(`instances_by_fault_${sort}`, ['fault', 'deleted'], countsByFault(database)[fault]);
  }
  if (!deleted && label !== undefined) source(`labels_by_${sort}`, ['label', 'deleted'], countOfLabel(database, label));
  // How many there are of these is not kept. A name is unique within a tenant; what is under way, and what falls due in
  // a span, is asked for because it is little.
  if (name !== undefined) source(`${by}_name`, [...whose, 'deleted', 'name'], 0, sort === 'name');
  if (pending !== undefined) source('instances_pending', ['pending'], 0, false);
  if (due !== undefined) source('instances_due', ['due'], 0, false);
  return { narrow: narrowest(sources), ordered: narrowest(sources.filter(({ ordered }) => ordered)) };
}

function narrowest(sources: Source[]): Source {
  return sources.reduce((best, source) => (source.size <= best.size ? source : best));
}

/**
 * Sort key and row number as a source has them. The key is read as it is: a name's is text or, when there is none, a
 * blob.
 */
export function positionOf(source: Source, sort: Sort): { key: SQL<string | number | Uint8Array>; row: SQL<number> } {
  const column = SORT_COLUMN[sort];
  return source.of === 'labels'
    ? { key: labels[column].getSQL() as SQL<string>, row: labels.instanceRow.getSQL() as SQL<number> }
    : { key: instances[column].getSQL() as SQL<string>, row: rowid(instances) };
}

/** The rows of a source that match, with further conditions. */
export function matching<F extends Record<string, SQLiteColumn | SQL>>(
  queries: Queries,
  source: Source,
  wanted: Wanted,
  fields: F,
  ...more: SQL[]
) {
  const rest = (Object.keys(wanted) as Aspect[]).filter((aspect) => !source.leads.includes(aspect));
  const conditions = [
    ...led(queries, source, wanted),
    ...rest.map((aspect) => conditionOf(queries, wanted, aspect)),
    ...more,
  ];
  if (source.of === 'hits') {
    return selectUnindexed(queries, fields, instances).where(and(among(rowid(instances), 'hits'), ...conditions));
  }
  const from = entries(queries, source, fields);
  if (source.of === 'instances') return from.where(and(...conditions));
  const number = source.of === 'labels' ? labels.instanceRow : instanceText.rowid;
  // Across: SQLite would else begin with whichever table it believes to be smaller.
  from.crossJoin(instances);
  return from.where(and(eq(rowid(instances), number), ...conditions));
}

/** What an index itself holds of what it is asked for, matching or not. */
export function nearby<F extends Record<string, SQLiteColumn | SQL>>(
  queries: Queries,
  source: Source,
  wanted: Wanted,
  fields: F,
  ...more: SQL[]
) {
  return entries(queries, source, fields).where(and(...led(queries, source, wanted), ...more));
}

function entries<F extends Record<string, SQLiteColumn | SQL>>(queries: Queries, source: Source, fields: F) {
  if (source.of === 'text') return selectUnindexed(queries, fields, instanceText);
  return selectBy(queries, fields, source.of === 'labels' ? labels : instances, source.index);
}

function led(queries: Queries, source: Source, wanted: Wanted): (SQL | undefined)[] {
  if (source.of === 'text') return [eq(instanceText.match, placeholder('match'))];
  if (source.of === 'labels') {
    return [eq(labels.key, placeholder('labelKey')), eq(labels.value, placeholder('labelValue'))];
  }
  return source.leads.map((aspect) => conditionOf(queries, wanted, aspect));
}
