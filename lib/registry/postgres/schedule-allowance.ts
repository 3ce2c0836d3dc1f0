/**
 * What must hold when a sandbox is docked to a version of a workbook: the version is there, and there is room for the
 * schedules that it declares. Runs inside the transaction of the docking. Schedules are brought in line soon
 * afterwards, so those of dockings that wait for it count as well. Knows nothing of plans.
 */
import { requireScheduleLimit, versionGone } from '../registry-errors.ts';
import type { ScheduleLimits } from '../schedules.ts';
import { scheduleAllowanceStatements } from '../statements/schedule-allowance.ts';
import type { InstanceRow } from '../types.ts';
import type { PostgresDatabase } from './database.ts';

/** Runs inside the transaction that docks rows of one tenant alike. Throws `conflict` and `quota_exceeded`. */
export interface DockingCheck {
  requireDockable(rows: readonly Docked[], later?: number): void;
}

type Docked = Pick<InstanceRow, 'id' | 'tenant' | 'workbook' | 'workbookVersion'>;

export class ScheduleAllowanceCheck {
  readonly #statements;

  constructor(database: PostgresDatabase) {
    this.#statements = database.with(scheduleAllowanceStatements);
  }

  /**
   * To be called when the rows are in the registry, all of one tenant and docked alike; `later`: so many more follow.
   * Throws `conflict` when the version is gone, and `quota_exceeded`.
   */
  async requireDockable(rows: readonly Docked[], limits: ScheduleLimits, later = 0): Promise<void> {
    const [first] = rows;
    if (first === undefined || first.workbook === null || first.workbookVersion === null) return;
    const { tenant, workbook: id, workbookVersion: version } = first;
    const declared = (await this.#statements.declared().get({ tenant, id, version }))?.n;
    if (declared === undefined) throw versionGone(id, version);
    if (declared === 0) return;
    for (const row of rows) {
      const own = (await this.#statements.madeByApi().get({ instance: row.id }))?.n ?? 0;
      requireScheduleLimit({ instance: row.id }, limits, own, declared);
    }
    const total = (await this.usedBy(tenant)) + declared * later;
    const added = declared * (rows.length + later);
    requireScheduleLimit({ tenant }, limits, total - added, added);
  }

  /** Schedules of a tenant, with those that dockings will bring; `except`: the docking of this one counts as done. */
  async usedBy(tenant: string, except = ''): Promise<number> {
    const { ofTenant, waiting, replaced } = this.#statements;
    const bound = { tenant, except };
    return (
      ((await ofTenant().get(bound))?.n ?? 0) +
      ((await waiting().get(bound))?.n ?? 0) -
      ((await replaced().get(bound))?.n ?? 0)
    );
  }
}
