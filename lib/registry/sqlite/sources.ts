/**
 * The indexes that a list can be read from, and which of them has the fewest rows to look at, known from the maintained counts.
 * Knows nothing of pages or text.
 */
import type { ListRequest } from '../registry.ts';
import { countOfLabel, countsByFault, countsByState } from './counts.ts';
import type { RegistryDatabase, Value } from './database.ts';
import { type Aspect, conditionsOf, type Wanted } from './filter.ts';

export type Sort = ListRequest['sort'];

const SORT_COLUMN: Readonly<Record<Sort, string>> = {
  updated: 'updated',
  created: 'created',
  name: 'name_key',
  bytes: 'bytes_key',
};

/** The column of `instances` that a sort goes by; the row number decides between equals. */
export function sortKey(sort: Sort): string {
  return `instances.${SORT_COLUMN[sort]}`;
}

/** One way to the rows: an index, what it is asked for, and how the rows come. */
export interface Source {
  /** What to select from; enough to walk the index alone. */
  index: string;
  /** What brings in `instances` when the index is of another table. */
  join: string;
  where: string[];
  params: Value[];
  /** The conditions that `where` answers already. */
  covers: readonly Aspect[];
  /** Sort key and row number as the source has them. */
  key: string;
  row: string;
  /** Whether the index gives them in the order of the sort. */
  ordered: boolean;
  /** Rows in it. */
  size: number;
}

/** The narrowest source for a filter, and the narrowest that comes in order; they may be the same. */
export function sourcesFor(
  database: RegistryDatabase,
  wanted: Wanted,
  sort: Sort,
): { narrow: Source; ordered: Source } {
  const { tenant, state, fault, name, label, deleted } = wanted;
  const counts = countsByState(database, tenant);
  const buried = equality('deleted', `instances.tombstone = ${deleted ? 1 : 0}`);
  const ofTenant = tenant === undefined ? [] : [equality('tenant', 'instances.tenant = ?', tenant)];
  const prefix = tenant === undefined ? 'instances_by' : 'instances_by_tenant';
  const living = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
  const every = ofInstances(`${prefix}_${sort}`, sort, [...ofTenant, buried]);
  const sources: Source[] = [{ ...every, size: deleted ? counts.deleted : living }];
  if (state !== undefined) {
    const asked = equality('state', 'instances.state = ?', state);
    const source = ofInstances(`${prefix}_state_updated`, sort, [...ofTenant, asked]);
    sources.push({ ...source, ordered: sort === 'updated', size: counts[state] });
  }
  if (fault !== undefined && !deleted) {
    const asked = equality('fault', 'instances.fault = ?', fault);
    const source = ofInstances(`instances_by_fault_${sort}`, sort, [asked, buried]);
    sources.push({ ...source, size: countsByFault(database)[fault] });
  }
  if (label !== undefined && !deleted) {
    sources.push({ ...ofLabels(sort, label), size: countOfLabel(database, label) });
  }
  if (name !== undefined) {
    // How many there are is not kept: a name is unique within a tenant, so they are few.
    const asked = equality('name', 'instances.name_key = ?', name);
    sources.push({
      ...ofInstances(`${prefix}_name`, sort, [...ofTenant, buried, asked]),
      ordered: sort === 'name',
      size: 0,
    });
  }
  // What is under way, and what falls due in a span, is asked for because it is little: it is gathered.
  for (const { aspect, sql, params } of conditionsOf(wanted)) {
    if (aspect !== 'pending' && aspect !== 'due') continue;
    const source = ofInstances(`instances_${aspect}`, sort, [equality(aspect, sql, ...params)]);
    sources.push({ ...source, ordered: false, size: 0 });
  }
  return { narrow: narrowest(sources), ordered: narrowest(sources.filter((source) => source.ordered)) };
}

function narrowest(sources: Source[]): Source {
  return sources.reduce((best, source) => (source.size <= best.size ? source : best));
}

interface Equality {
  aspect: Aspect;
  sql: string;
  params: Value[];
}

function equality(aspect: Aspect, sql: string, ...params: Value[]): Equality {
  return { aspect, sql, params };
}

function ofInstances(index: string, sort: Sort, equalities: Equality[]): Source {
  return {
    index: `instances INDEXED BY ${index}`,
    join: '',
    where: equalities.map(({ sql }) => sql),
    params: equalities.flatMap(({ params }) => params),
    covers: equalities.map(({ aspect }) => aspect),
    key: sortKey(sort),
    row: 'instances.rowid',
    ordered: true,
    size: 0,
  };
}

function ofLabels(sort: Sort, { key, value }: { key: string; value: string }): Source {
  return {
    index: `labels INDEXED BY labels_by_${sort}`,
    join: 'CROSS JOIN instances ON instances.rowid = labels.instance_row',
    where: ['labels.key = ?', 'labels.value = ?'],
    params: [key, value],
    covers: ['label', 'deleted'],
    key: `labels.${SORT_COLUMN[sort]}`,
    row: 'labels.instance_row',
    ordered: true,
    size: 0,
  };
}
