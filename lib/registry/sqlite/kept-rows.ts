/** How many rows each kept series and log has, at a bounded cost. */
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
import type { RegistryDatabase } from './database.ts';

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

/** Reads the rows of each series, counted ones up to `cap`. */
export function keptRows(database: RegistryDatabase): (cap: number) => Record<KeptSeries, number> {
  const numbered = Object.entries(NUMBERED).map(([name, table]) => {
    const first = database.statement((queries) =>
      queries
        .select({ seq: min(table.seq) })
        .from(table)
        .prepare(),
    );
    const last = database.statement((queries) =>
      queries
        .select({ seq: max(table.seq) })
        .from(table)
        .prepare(),
    );
    return [
      name,
      () => {
        const [from, to] = [first().get()?.seq ?? null, last().get()?.seq ?? null];
        return from === null || to === null ? 0 : to - from + 1;
      },
    ] as const;
  });
  const counted = Object.entries(COUNTED).map(([name, { table, column }]) => {
    const statement = database.statement((queries) => {
      const some = queries.select({ one: column }).from(table).limit(placeholder('cap')).as('some');
      return queries.select({ n: count() }).from(some).prepare();
    });
    return [name, (cap: number) => statement().get({ cap })?.n ?? 0] as const;
  });
  return (cap) =>
    Object.fromEntries([...numbered, ...counted].map(([name, rows]) => [name, rows(cap)])) as Record<
      KeptSeries,
      number
    >;
}
