/** Statements that count the schedules that there are, and that dockings will bring. */
import { and, count, eq, isNotNull, ne, placeholder } from '../../../db/drizzle.ts';
import { instances, scheduleSyncs, schedules, workbookVersions } from '../../../db/schema.ts';
import { sumOrZero } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function scheduleAllowanceStatements(database: StatementMaker) {
  const tenant = placeholder('tenant');
  const others = and(eq(instances.tenant, tenant), ne(instances.id, placeholder('except')));
  return {
    declared: database.statement((queries) =>
      queries
        .select({ n: workbookVersions.schedules })
        .from(workbookVersions)
        .where(
          and(
            eq(workbookVersions.tenant, tenant),
            eq(workbookVersions.id, placeholder('id')),
            eq(workbookVersions.version, placeholder('version')),
          ),
        )
        .prepare(),
    ),
    ofTenant: database.statement((queries) =>
      queries.select({ n: count() }).from(schedules).where(eq(schedules.tenant, tenant)).prepare(),
    ),
    madeByApi: database.statement((queries) =>
      queries
        .select({ n: count() })
        .from(schedules)
        .where(and(eq(schedules.instance, placeholder('instance')), eq(schedules.source, 'api').inlineParams()))
        .prepare(),
    ),
    /** What dockings that wait will declare. */
    waiting: database.statement((queries) =>
      queries
        .select({ n: sumOrZero(workbookVersions.schedules) })
        .from(scheduleSyncs)
        .innerJoin(instances, eq(instances.id, scheduleSyncs.instance))
        .innerJoin(
          workbookVersions,
          and(
            eq(workbookVersions.tenant, instances.tenant),
            eq(workbookVersions.id, instances.workbook),
            eq(workbookVersions.version, instances.workbookVersion),
          ),
        )
        .where(others)
        .prepare(),
    ),
    /** What they declared before, and no longer count. */
    replaced: database.statement((queries) =>
      queries
        .select({ n: count() })
        .from(scheduleSyncs)
        .innerJoin(instances, eq(instances.id, scheduleSyncs.instance))
        .innerJoin(schedules, and(eq(schedules.instance, scheduleSyncs.instance), isNotNull(schedules.declaration)))
        .where(others)
        .prepare(),
    ),
  };
}
