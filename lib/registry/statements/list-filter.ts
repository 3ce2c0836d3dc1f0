/** A list's filter as SQL: one condition for each criterion, whose values are bound later. Pure. */
import type { SQL } from 'drizzle-orm';
import {
  alias,
  and,
  eq,
  exists,
  gte,
  isNotNull,
  isNull,
  lte,
  ne,
  not,
  placeholder,
  type Queries,
} from '../../../db/drizzle.ts';
import { instances, labels } from '../../../db/schema.ts';
import type { ListFilter } from '../instances.ts';
import { searchPatterns } from '../search-words.ts';
import { contains, hadLabel, inBoundList, isNamed, jsonNumber, rowid } from './raw.ts';

/** A filter in normal form: deleted rows are never listed together with others, and absent criteria are left out. */
export interface NormalFilter
  extends Pick<ListFilter, 'tenant' | 'fault' | 'name' | 'label' | 'host' | 'since' | 'until'> {
  /** True: only deleted rows. False: only others. */
  deleted: boolean;
  /** Never `deleted`. */
  state?: ListFilter['state'];
  notState?: ListFilter['notState'];
  ids?: ListFilter['ids'];
  /** Never empty. */
  notIds?: ListFilter['notIds'];
  pending?: ListFilter['pending'];
  due?: ListFilter['due'];
  /** What the search text contains; never empty. */
  patterns?: string[];
}

export type Criterion = keyof NormalFilter;

/** The filter in normal form, or null when nothing can match it. */
export function normalizeFilter(filter: ListFilter): NormalFilter | null {
  const {
    state,
    notState,
    ids,
    notIds = [],
    tenant,
    fault,
    name,
    label,
    host,
    since,
    until,
    pending,
    due,
    text,
  } = filter;
  if ((state !== undefined && state === notState) || ids?.length === 0) return null;
  if (state === 'deleted' && host !== undefined) return null;
  const patterns = searchPatterns(text ?? '');
  // A text without a letter or a digit is in nobody's search text: it never widens the list to all.
  if (patterns.length === 0 && (text ?? '').trim() !== '') return null;
  return given({
    deleted: state === 'deleted',
    state: state === 'deleted' ? undefined : state,
    notState: state !== undefined || notState === 'deleted' ? undefined : notState,
    ids,
    notIds: notIds.length === 0 ? undefined : notIds,
    tenant,
    fault,
    name,
    label: label && { key: label.key.toWellFormed(), value: label.value.toWellFormed() },
    host,
    since,
    until,
    pending,
    due,
    patterns: patterns.length === 0 ? undefined : patterns,
  });
}

/** Splits a filter by several tenants into one filter each: every index begins with at most one tenant. */
export function eachTenant<F extends ListFilter>({ tenants, ...filter }: F): Omit<F, 'tenants'>[] {
  if (tenants === undefined) return [filter];
  const allowed = filter.tenant === undefined ? new Set(tenants) : tenants.filter((tenant) => tenant === filter.tenant);
  return [...allowed].map((tenant) => ({ ...filter, tenant }));
}

/** The patterns for the text index, which has no deleted rows. */
export function searched({ deleted, patterns }: NormalFilter): string[] {
  return deleted ? [] : (patterns ?? []);
}

/** Whether a filter has no other criteria. */
export function asksOnly(wanted: NormalFilter, ...aspects: Criterion[]): boolean {
  return Object.keys(wanted).every((aspect) => aspect === 'deleted' || aspects.includes(aspect as Criterion));
}

/** The values that `conditionOf` binds, by name. */
export function filterBindings({
  label,
  ids,
  notIds,
  pending,
  due,
  patterns = [],
  deleted: _,
  ...wanted
}: NormalFilter): Record<string, unknown> {
  return given({
    ...wanted,
    ids: ids && JSON.stringify(ids),
    notIds: notIds && JSON.stringify(notIds),
    labelKey: label?.key,
    labelValue: label?.value,
    startedUntil: pending?.until,
    dueSince: due?.since,
    dueUntil: due?.until,
    ...Object.fromEntries(patterns.map((pattern, n) => [`pattern${n}`, pattern])),
  });
}

/** Equal for filters that differ only in values, so that they share one prepared statement. */
export function filterShape(wanted: NormalFilter): string {
  return `${wanted.deleted} ${Object.keys(wanted)} ${Object.keys(filterBindings(wanted))}`;
}

/** The condition of one criterion on a row of `instances`. */
export function conditionOf(queries: Queries, wanted: NormalFilter, aspect: Criterion): SQL | undefined {
  switch (aspect) {
    case 'deleted':
      // As a literal: the partial indexes hold either deleted or other rows.
      return eq(instances.tombstone, wanted.deleted ? 1 : 0).inlineParams();
    case 'tenant':
    case 'state':
    case 'fault':
      return eq(instances[aspect], placeholder(aspect));
    case 'host':
      return eq(instances.ownerHost, placeholder('host'));
    case 'notState':
      return ne(instances.state, placeholder('notState'));
    case 'ids':
      return inBoundList(instances.id, 'ids');
    case 'notIds':
      return not(inBoundList(instances.id, 'notIds'));
    case 'name':
      return isNamed('name');
    case 'since':
      return gte(instances.updated, placeholder('since'));
    case 'until':
      return lte(instances.updated, placeholder('until'));
    case 'label':
      return wanted.deleted ? hadLabel({ key: 'labelKey', value: 'labelValue' }) : hasLabel(queries);
    case 'pending':
      // The start time of an operation is in its intent; pending operations are few.
      return and(
        isNotNull(instances.pending),
        wanted.pending?.until === undefined
          ? undefined
          : lte(jsonNumber(instances.pending, 'startedMs'), placeholder('startedUntil')),
      );
    case 'due':
      return and(
        isNotNull(instances.dueAt),
        isNull(instances.pending),
        wanted.due?.since === undefined ? undefined : gte(instances.dueAt, placeholder('dueSince')),
        wanted.due?.until === undefined ? undefined : lte(instances.dueAt, placeholder('dueUntil')),
      );
    case 'patterns':
      return and(...(wanted.patterns ?? []).map((_, n) => contains(instances.words, `pattern${n}`)));
  }
}

/** Uses the label's own key: looks up one label row per candidate, instead of all rows with the label. */
function hasLabel(queries: Queries): SQL {
  const one = alias(labels, 'one');
  return exists(
    queries
      .select({ key: one.key })
      .from(one)
      .where(
        and(
          eq(one.instanceRow, rowid(instances)),
          eq(one.key, placeholder('labelKey')),
          eq(one.value, placeholder('labelValue')),
        ),
      ),
  );
}

function given<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
