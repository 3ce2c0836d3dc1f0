/** Counts the sandboxes that fall due per span of time, from the index `instances_due` alone. Read only. */
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
import { inBoundList, selectBy } from './raw.ts';

/** Largest count of one span; a span with more shows this number. */
const COUNTED = 100_000;

/** One record per span, in order; see `InstanceStore.dueCounts`. */
export function dueCounts(
  database: RegistryDatabase,
  { from, seconds, slots }: { from: number; seconds: number; slots: number },
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
    const sums = statement.get({ since, until: from + (slot + 1) * seconds, tenants: JSON.stringify(tenants) });
    // drizzle's sum is text, and null for no rows.
    return Object.fromEntries(Object.entries(sums ?? {}).map(([to, n]) => [to, Number(n)])) as Record<
      DueTarget,
      number
    >;
  });
}

function dueWithin(queries: Queries, ofTenants: boolean) {
  const { state, ephemeral, dueAt, pending, tenant } = instances;
  return selectBy(queries, { state, ephemeral }, instances, 'instances_due')
    .where(
      and(
        isNotNull(dueAt),
        isNull(pending),
        gte(dueAt, placeholder('since')),
        lt(dueAt, placeholder('until')),
        ofTenants ? inBoundList(tenant, 'tenants') : undefined,
      ),
    )
    .limit(COUNTED)
    .as('due');
}
