/** What a list or a job asks for, as a filter of the registry. Pure. */

import type { InstanceId } from '../base/ids.ts';
import type { JobFilter } from '../contract/schema/jobs.ts';
import { STUCK_SECONDS } from '../lifecycle/words.ts';
import type { ListFilter } from '../registry/instances.ts';

/** What a filter refers to that is not in the query. */
interface FilterContext {
  /** The caller's tenants; null: all. */
  tenants: readonly string[] | null;
  /** Epoch seconds. */
  now: number;
  /** The sandboxes that are warm now. */
  warmIds: readonly InstanceId[];
}

/** The filter, narrowed to the caller's tenants, or null when nothing can match. */
export function listFilterOf(query: JobFilter, { tenants, now, warmIds }: FilterContext): ListFilter | null {
  const where = thermalFilter(query, warmIds);
  if (where === null) return null;
  const { tenant, fault, name, label, host, pending, due_since: dueSince, due_until: dueUntil, q } = query;
  const { since, until } = activeWithin(query, now);
  return {
    ...where,
    ...(tenant === undefined ? {} : { tenant }),
    ...(tenant !== undefined || tenants === null ? {} : { tenants }),
    ...(fault === undefined ? {} : { fault }),
    ...(name === undefined ? {} : { name }),
    ...(label === undefined ? {} : { label: labelFilter(label) }),
    ...(host === undefined ? {} : { host }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(pending === undefined ? {} : { pending: pending === 'stuck' ? { until: stuckSince(now) } : {} }),
    ...(dueSince === undefined && dueUntil === undefined ? {} : { due: { since: dueSince, until: dueUntil } }),
    ...(q === undefined || q.trim() === '' ? {} : { text: q }),
  };
}

/** Bounds of the last activity: those given as moments, and those given as idle seconds at `now`. */
function activeWithin(
  { since, until, idle_over: idleOver, idle_under: idleUnder }: JobFilter,
  now: number,
): Pick<ListFilter, 'since' | 'until'> {
  const bound = (choose: typeof Math.max, ...bounds: (number | undefined)[]) => {
    const given = bounds.filter((one) => one !== undefined);
    return given.length === 0 ? undefined : choose(...given);
  };
  return {
    since: bound(Math.max, since, idleUnder === undefined ? undefined : now - idleUnder),
    until: bound(Math.min, until, idleOver === undefined ? undefined : now - idleOver),
  };
}

/** Epoch milliseconds up to which an operation must have begun to be stuck at `now` (epoch seconds). */
export function stuckSince(now: number): number {
  return (now - STUCK_SECONDS) * 1000;
}

/**
 * A thermal state as a filter of the registry, or null when no row can match. The registry does not know which of the
 * active ones are warm: they are named by their ids.
 */
function thermalFilter(
  { state, thermal }: JobFilter,
  warmIds: readonly InstanceId[],
): Pick<ListFilter, 'state' | 'notState' | 'ids' | 'notIds'> | null {
  if (thermal === undefined) return state === undefined ? {} : { state };
  if (thermal === 'cold') {
    if (state === 'active') return null;
    return state === undefined ? { notState: 'active' } : { state };
  }
  if (state !== undefined && state !== 'active') return null;
  if (thermal === 'warm') return warmIds.length === 0 ? null : { state: 'active', ids: warmIds };
  return { state: 'active', ...(warmIds.length === 0 ? {} : { notIds: warmIds }) };
}

function labelFilter(label: string): { key: string; value: string } {
  const colon = label.indexOf(':');
  return { key: label.slice(0, colon), value: label.slice(colon + 1) };
}
