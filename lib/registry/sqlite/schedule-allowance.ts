/**
 * What must hold when a sandbox is docked to a version of a workbook: the version is there, and there is room for the
 * schedules that it declares. Runs inside the transaction of the docking. Schedules are brought in line soon
 * afterwards, so those of dockings that wait for it count as well. Knows nothing of plans.
 */
import { and, count, eq, isNotNull, ne, placeholder } from '../../../db/drizzle.ts';
import { instances, scheduleSyncs, schedules, workbookVersions } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import { requireScheduleLimit } from '../registry-errors.ts';
import type { ScheduleLimits } from '../schedules.ts';
import type { InstanceRow } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import { sumOrZero } from './raw.ts';

/** Runs inside the transaction that docks rows of one tenant alike. Throws `conflict` and `quota_exceeded`. */
export interface DockingCheck {
  requireDockable(rows: readonly Docked[], later?: number): void;
}

/** Whether a change of settings docks to another workbook or version. */
export function isDockedAnew(before: Docked, after: Docked): boolean {
  return before.workbook !== after.workbook || before.workbookVersion !== after.workbookVersion;
}

type Docked = Pick<InstanceRow, 'id' | 'tenant' | 'workbook' | 'workbookVersion'>;

export class ScheduleAllowanceCheck {
  readonly #statements;

  constructor(database: RegistryDatabase) {
    const tenant = placeholder('tenant');
    const others = and(eq(instances.tenant, tenant), ne(instances.id, placeholder('except')));
    this.#statements = {
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

  /**
   * To be called when the rows are in the registry, all of one tenant and docked alike; `later`: so many more follow.
   * Throws `conflict` when the version is gone, and `quota_exceeded`.
   */
  requireDockable(rows: readonly Docked[], limits: ScheduleLimits, later = 0): void {
    const [first] = rows;
    if (first === undefined || first.workbook === null || first.workbookVersion === null) return;
    const { tenant, workbook: id, workbookVersion: version } = first;
    const declared = this.#statements.declared().get({ tenant, id, version })?.n;
    if (declared === undefined) {
      throw new WinterdockError('conflict', `The workbook "${id}" has no version ${version} any more.`, {
        hint: 'Look at the workbook again, and dock to a version that is there.',
      });
    }
    if (declared === 0) return;
    for (const row of rows) {
      const own = this.#statements.madeByApi().get({ instance: row.id })?.n ?? 0;
      requireScheduleLimit({ instance: row.id }, limits, own, declared);
    }
    const total = this.usedBy(tenant) + declared * later;
    const added = declared * (rows.length + later);
    requireScheduleLimit({ tenant }, limits, total - added, added);
  }

  /** Schedules of a tenant, with those that dockings will bring; `except`: the docking of this one counts as done. */
  usedBy(tenant: string, except = ''): number {
    const { ofTenant, waiting, replaced } = this.#statements;
    const bound = { tenant, except };
    return (ofTenant().get(bound)?.n ?? 0) + (waiting().get(bound)?.n ?? 0) - (replaced().get(bound)?.n ?? 0);
  }
}
