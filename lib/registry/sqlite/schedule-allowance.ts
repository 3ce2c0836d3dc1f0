/**
 * What must hold when a sandbox is docked to a version of a workbook: the version is there, and there is room for the
 * schedules that it declares. Runs inside the transaction of the docking. Schedules are brought in line soon
 * afterwards, so those of dockings that wait for it count as well. Knows nothing of plans.
 */
import { requireScheduleLimit, versionGone } from '../registry-errors.ts';
import type { ScheduleLimits } from '../schedules.ts';
import { scheduleAllowanceStatements } from '../statements/schedule-allowance.ts';
import type { InstanceRow } from '../types.ts';
import type { RegistryDatabase } from './database.ts';

/** Runs inside the transaction that docks rows of one tenant alike. Throws `conflict` and `quota_exceeded`. */
export interface DockingCheck {
  requireDockable(rows: readonly Docked[], later?: number): void;
}

type Docked = Pick<InstanceRow, 'id' | 'tenant' | 'workbook' | 'workbookVersion'>;

export class ScheduleAllowanceCheck {
  readonly #statements;

  constructor(database: RegistryDatabase) {
    this.#statements = scheduleAllowanceStatements(database);
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
    if (declared === undefined) throw versionGone(id, version);
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
