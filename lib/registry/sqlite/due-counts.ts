/** Counts the sandboxes that fall due per span of time, from an index of due times alone. Read only. */
import type { SQL } from 'drizzle-orm';
import {
  and,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  not,
  placeholder,
  type Queries,
  sum,
} from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import type { DueTarget } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import { eachOrAll } from './instance-queries.ts';
import { selectBy } from './raw.ts';

/** One record per span, in order; see `InstanceStore.dueCounts`. */
export function dueCounts(
  database: RegistryDatabase,
  { from, seconds, slots, most }: { from: number; seconds: number; slots: number; most: number },
  tenants?: readonly string[],
): Record<DueTarget, number>[] {
  const statement = database.shape(`due counts: ${tenants === undefined}`, (queries) => {
    const due = dueWithin(queries, tenants !== undefined);
    const { state, ephemeral } = due;
    // As `nextMove` decides: an ephemeral sandbox moves to archived and deleted, any other down the ladder.
    return queries
      .select({
        suspended: sum(and(eq(state, 'active'), not(ephemeral)) as SQL),
        frozen: sum(and(eq(state, 'suspended'), not(ephemeral)) as SQL),
        archived: sum(and(ephemeral, inArray(state, ['active', 'suspended', 'frozen'])) as SQL),
        deleted: sum(and(ephemeral, eq(state, 'archived')) as SQL),
      } satisfies Record<DueTarget, SQL>)
      .from(due)
      .prepare();
  });
  return Array.from({ length: slots }, (_, slot) => {
    const since = slot === 0 ? 0 : from + slot * seconds;
    const until = from + (slot + 1) * seconds;
    const counts: Record<DueTarget, number> = { suspended: 0, frozen: 0, archived: 0, deleted: 0 };
    let left = most;
    for (const bound of eachOrAll(tenants)) {
      if (left <= 0) break;
      const sums = statement.get({ since, until, most: left, ...bound });
      // drizzle's sum is text, and null for no rows.
      for (const to of Object.keys(counts) as DueTarget[]) {
        const counted = Number(sums?.[to] ?? 0);
        counts[to] += counted;
        left -= counted;
      }
    }
    return counts;
  });
}

function dueWithin(queries: Queries, ofTenant: boolean) {
  const { state, ephemeral, dueAt, pending, tenant } = instances;
  return selectBy(queries, { state, ephemeral }, instances, ofTenant ? 'instances_by_tenant_due' : 'instances_due')
    .where(
      and(
        isNotNull(dueAt),
        isNull(pending),
        gte(dueAt, placeholder('since')),
        lt(dueAt, placeholder('until')),
        ofTenant ? eq(tenant, placeholder('tenant')) : undefined,
      ),
    )
    .limit(placeholder('most'))
    .as('due');
}
