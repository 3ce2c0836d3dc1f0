/** What a list or a job asks for, as a filter of the registry. Pure. */

import type { JobFilter } from '../contract/schema/jobs.ts';
import { STUCK_SECONDS } from '../lifecycle/words.ts';
import type { ListFilter } from '../registry/instances.ts';

/** The filter, narrowed to a caller's tenants (null: all), or null when nothing can match. `now` in epoch seconds. */
export function listFilterOf(query: JobFilter, tenants: readonly string[] | null, now: number): ListFilter | null {
  const where = thermalFilter(query);
  if (where === null) return null;
  const { tenant, fault, name, label, since, until, pending, due_since: dueSince, due_until: dueUntil, q } = query;
  return {
    ...where,
    ...(tenant === undefined ? {} : { tenant }),
    ...(tenant !== undefined || tenants === null ? {} : { tenants }),
    ...(fault === undefined ? {} : { fault }),
    ...(name === undefined ? {} : { name }),
    ...(label === undefined ? {} : { label: labelFilter(label) }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(pending === undefined ? {} : { pending: pending === 'stuck' ? { until: stuckSince(now) } : {} }),
    ...(dueSince === undefined && dueUntil === undefined ? {} : { due: { since: dueSince, until: dueUntil } }),
    ...(q === undefined || q.trim() === '' ? {} : { text: q }),
  };
}

/** Epoch milliseconds up to which an operation must have begun to be stuck at `now` (epoch seconds). */
export function stuckSince(now: number): number {
  return (now - STUCK_SECONDS) * 1000;
}

/** A thermal state as a filter of the registry, or null when no row can match. Nothing is ever warm at rest. */
function thermalFilter({ state, thermal }: JobFilter): Pick<ListFilter, 'state' | 'notState'> | null {
  if (thermal === undefined) return state === undefined ? {} : { state };
  if (thermal === 'hot') return state === undefined || state === 'active' ? { state: 'active' } : null;
  if (thermal === 'warm' || state === 'active') return null;
  return state === undefined ? { notState: 'active' } : { state };
}

function labelFilter(label: string): { key: string; value: string } {
  const colon = label.indexOf(':');
  return { key: label.slice(0, colon), value: label.slice(colon + 1) };
}
