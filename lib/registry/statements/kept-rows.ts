/** Statements over how many rows each kept series and log has, at a bounded cost. */
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { count, max, min, placeholder } from '../../../db/drizzle.ts';
import {
  cpuByDay,
  events,
  jobResults,
  jobs,
  networkHours,
  runs,
  sandboxHours,
  scheduleRuns,
  tenantHours,
  wakeTimes,
  webhookDeliveries,
  workbookVersions,
} from '../../../db/schema.ts';
import type { KeptSeries } from '../maintenance.ts';
import type { StatementMaker } from './statements.ts';

/** Tables whose rows are numbered without gaps worth counting: their first and last number say how many there are. */
const NUMBERED = { ledger: events, sandbox_hours: sandboxHours, tenant_hours: tenantHours };
const COUNTED = {
  network_hours: { table: networkHours, column: networkHours.hour },
  cpu_days: { table: cpuByDay, column: cpuByDay.day },
  wake_times: { table: wakeTimes, column: wakeTimes.day },
  jobs: { table: jobs, column: jobs.seq },
  job_results: { table: jobResults, column: jobResults.job },
  runs: { table: runs, column: runs.seq },
  schedule_runs: { table: scheduleRuns, column: scheduleRuns.seq },
  webhook_deliveries: { table: webhookDeliveries, column: webhookDeliveries.seq },
  workbook_versions: { table: workbookVersions, column: workbookVersions.version },
} satisfies Record<string, { table: SQLiteTable; column: SQLiteColumn }>;

export function keptRowStatements(database: StatementMaker) {
  return {
    numbered: Object.entries(NUMBERED).map(([name, table]) => ({
      name: name as KeptSeries,
      // Two statements: SQLite reads an index's end for one aggregate, and all of it for two.
      first: database.statement((queries) =>
        queries
          .select({ seq: min(table.seq) })
          .from(table)
          .prepare(),
      ),
      last: database.statement((queries) =>
        queries
          .select({ seq: max(table.seq) })
          .from(table)
          .prepare(),
      ),
    })),
    counted: Object.entries(COUNTED).map(([name, { table, column }]) => ({
      name: name as KeptSeries,
      rows: database.statement((queries) => {
        const some = queries.select({ one: column }).from(table).limit(placeholder('cap')).as('some');
        return queries.select({ n: count() }).from(some).prepare();
      }),
    })),
  };
}

/** Rows between two numbers; null for a series without any. */
export function rowsBetween(first: number | null | undefined, last: number | null | undefined): number {
  return typeof first === 'number' && typeof last === 'number' ? last - first + 1 : 0;
}
