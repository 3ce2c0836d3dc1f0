/** Statements over processor time of tenants by day. */
import { and, eq, getTableColumns, isNotNull, lt, placeholder } from '../../../db/drizzle.ts';
import { cpuByDay, tenants } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import { plusBound } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function cpuUseStatements(database: StatementMaker) {
  const { tenant, day, seconds } = getTableColumns(cpuByDay);
  return {
    /** Adds to the seconds of a tenant's day; a trigger ignores tenants that are being forgotten. */
    add: database.statement((queries) =>
      queries
        .insert(cpuByDay)
        .values(boundColumns(getTableColumns(cpuByDay)))
        .onConflictDoUpdate({ target: [tenant, day], set: { seconds: plusBound(seconds, 'seconds') } })
        .prepare(),
    ),
    used: database.statement((queries) =>
      queries
        .select({ seconds })
        .from(cpuByDay)
        .where(and(eq(tenant, placeholder('tenant')), eq(day, placeholder('day'))))
        .prepare(),
    ),
    limited: database.statement((queries) =>
      queries
        .select({ tenant: tenants.tenant, limit: tenants.maxDailyCpuSeconds, used: seconds })
        .from(tenants)
        .leftJoin(cpuByDay, and(eq(tenant, tenants.tenant), eq(day, placeholder('day'))))
        .where(isNotNull(tenants.maxDailyCpuSeconds))
        .prepare(),
    ),
    forget: database.statement((queries) =>
      queries
        .delete(cpuByDay)
        .where(lt(day, placeholder('before')))
        .prepare(),
    ),
  };
}
