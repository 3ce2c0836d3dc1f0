/** The statement that counts the sandboxes that fall due within a span, from an index of due times alone. */
import type { SQL } from 'drizzle-orm';
import { and, eq, gte, inArray, isNotNull, isNull, lt, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import type { DueTarget } from '../types.ts';
import { countWhere, selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function dueCountStatements(database: StatementMaker) {
  return {
    within: (ofTenant: boolean) =>
      database.shape(`due counts: ${ofTenant}`, (queries) => {
        const due = dueWithin(queries, ofTenant);
        const { state } = due;
        // As SQLite stores a flag: the column is one of a subquery, which encodes nothing.
        const [ephemeral, lasting] = [1, 0].map((flag) => eq(due.ephemeral as unknown as SQL, flag)) as [SQL, SQL];
        // As `nextMove` decides: an ephemeral sandbox moves to archived and deleted, any other down the ladder.
        return queries
          .select({
            suspended: countWhere(and(eq(state, 'active'), lasting)),
            frozen: countWhere(and(eq(state, 'suspended'), lasting)),
            archived: countWhere(and(ephemeral, inArray(state, ['active', 'suspended', 'frozen']))),
            deleted: countWhere(and(ephemeral, eq(state, 'archived'))),
          } satisfies Record<DueTarget, ReturnType<typeof countWhere>>)
          .from(due)
          .prepare();
      }),
  };
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
