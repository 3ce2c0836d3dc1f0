/** Statements over thresholds, and the one that computes the due times of many rows anew. */
import { and, eq, isNotNull, isNull, ne, or, placeholder } from '../../../db/drizzle.ts';
import { instances, tenants } from '../../../db/schema.ts';
import type { Thresholds } from '../types.ts';
import { boundColumns } from './bound-values.ts';
import { dueAtOfRow, rowid, selectedValue } from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** The setting that has the global thresholds, as far as they were set. */
export const GLOBAL_THRESHOLDS = 'thresholds';
/** The global thresholds from which the stored due times were last computed. */
export const COMPUTED_WITH = 'thresholds_computed_with';

export type TenantThresholds = { [K in keyof Thresholds]?: number | null };

/** True for a change that can move due times: when a process is paused moves no sandbox. */
export function isOfLadder(patch: { [K in keyof Thresholds]?: unknown }): boolean {
  return patch.idleToSuspendSeconds !== undefined || patch.idleToFreezeSeconds !== undefined;
}

/** What `recompute` binds of the global thresholds. */
export function recomputeBindings({ idleToSuspendSeconds, idleToFreezeSeconds }: Thresholds) {
  return { globalSuspend: idleToSuspendSeconds, globalFreeze: idleToFreezeSeconds };
}

export function thresholdStatements(database: StatementMaker) {
  const { tenant, hotToWarmSeconds, idleToSuspendSeconds, idleToFreezeSeconds } = tenants;
  return {
    own: database.statement((queries) =>
      queries
        .select({ hotToWarmSeconds, idleToSuspendSeconds, idleToFreezeSeconds })
        .from(tenants)
        .where(eq(tenant, placeholder('tenant')))
        .prepare(),
    ),
    /** Sets these columns of a tenant, whose row is made. */
    set: (names: readonly string[]) =>
      database.shape(`thresholds: set ${names.join()}`, (queries) => {
        const set = boundColumns(Object.fromEntries(names.map((name) => [name, true])));
        const insert = queries.insert(tenants).values({ ...boundColumns({ tenant }), ...set });
        return (
          names.length === 0 ? insert.onConflictDoNothing() : insert.onConflictDoUpdate({ target: tenant, set })
        ).prepare();
      }),
    /** Rows with thresholds of their own, and rows without automatic moves, are left unchanged. */
    recompute: (ofTenant: boolean) =>
      database.shape(`thresholds: recompute ${ofTenant}`, (queries) => {
        const fresh = queries
          .select({ hit: rowid(instances).as('hit'), dueAt: dueAtOfRow().as('fresh_due_at') })
          .from(instances)
          .leftJoin(tenants, eq(tenant, instances.tenant))
          .where(
            and(
              isNotNull(instances.dueAt),
              ofTenant ? eq(instances.tenant, placeholder('tenant')) : undefined,
              or(isNull(instances.idleToSuspendSeconds), isNull(instances.idleToFreezeSeconds)),
            ),
          )
          .as('fresh');
        return queries
          .update(instances)
          .set({ dueAt: selectedValue(fresh.dueAt) })
          .from(fresh)
          .where(and(eq(rowid(instances), fresh.hit), or(isNull(fresh.dueAt), ne(instances.dueAt, fresh.dueAt))))
          .prepare();
      }),
  };
}
