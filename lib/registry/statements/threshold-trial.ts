/** Statements of a comparison of thresholds. */
import { and, isNotNull, isNull, lte, or, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances, tenants } from '../../../db/schema.ts';
import { selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** What of a row decides when it moves. */
export const CANDIDATE = {
  state: instances.state,
  updated: instances.updated,
  created: instances.created,
  keepHot: instances.keepHot,
  holdUntil: instances.holdUntil,
  ephemeral: instances.ephemeral,
  fault: instances.fault,
  idleToSuspendSeconds: instances.idleToSuspendSeconds,
  idleToFreezeSeconds: instances.idleToFreezeSeconds,
  tenant: instances.tenant,
};

/** Rows that fall due up to the bound `until`, in no order, at most `limit`. */
export function selectCandidates(queries: Queries) {
  return selectBy(queries, CANDIDATE, instances, 'instances_due')
    .where(and(lte(instances.dueAt, placeholder('until')), isNotNull(instances.dueAt), isNull(instances.pending)))
    .limit(placeholder('limit'));
}

export function trialStatements(database: StatementMaker) {
  const { tenant, idleToSuspendSeconds, idleToFreezeSeconds } = tenants;
  return {
    /** Tenants with thresholds of their own. */
    overridden: database.statement((queries) =>
      queries
        .select({ tenant, idleToSuspendSeconds, idleToFreezeSeconds })
        .from(tenants)
        .where(or(isNotNull(idleToSuspendSeconds), isNotNull(idleToFreezeSeconds)))
        .prepare(),
    ),
  };
}
