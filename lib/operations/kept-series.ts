/** Every kept series and log with its limits and its size. Pure. */
import type { Config } from '../base/config.ts';
import type { Storage } from '../contract/schema/storage.ts';
import type { KeptSeries } from '../registry/maintenance.ts';
import { KEPT_VERSIONS } from '../workbooks/limits.ts';

export type KeptLimits = Pick<
  Config,
  'jobsKeepDays' | 'ledgerKeepDays' | 'runsKept' | 'runsPerSchedule' | 'usageKeepDays' | 'usageRows' | 'webhookHistory'
>;

/**
 * Bytes of a row with its indexes, as `dbstat` has them of filled tables (kept-series.test.ts); what a row holds may be
 * more.
 */
const ROW_BYTES: Readonly<Record<KeptSeries, number>> = {
  ledger: 390,
  sandbox_hours: 45,
  tenant_hours: 80,
  network_hours: 120,
  cpu_days: 55,
  wake_times: 45,
  jobs: 290,
  job_results: 30,
  runs: 280,
  schedule_runs: 190,
  webhook_deliveries: 180,
  workbook_versions: 8000,
};

type Limit = Storage['kept'][number]['limits'][number];

/** `cap`: rows up to which those that have to be counted were counted. */
export function keptSeries(rows: Record<KeptSeries, number>, config: KeptLimits, cap: number): Storage['kept'] {
  const days = (setting: string, value: number | null): Limit => ({ setting, value, unit: 'days' });
  const each = (setting: string | null, value: number): Limit => ({ setting, value, unit: 'each' });
  const usageDays = days('WB_USAGE_KEEP_DAYS', config.usageKeepDays);
  const usageRows: Limit = { setting: 'WB_USAGE_ROWS', value: config.usageRows, unit: 'rows' };
  const jobDays = days('WB_JOBS_KEEP_DAYS', config.jobsKeepDays);
  const limits: Record<KeptSeries, Limit[]> = {
    ledger: [days('WB_LEDGER_KEEP_DAYS', config.ledgerKeepDays)],
    sandbox_hours: [usageDays, usageRows],
    tenant_hours: [usageDays, usageRows],
    network_hours: [usageDays],
    cpu_days: [usageDays],
    wake_times: [usageDays],
    jobs: [jobDays],
    job_results: [jobDays],
    runs: [each('WB_RUNS_KEPT', config.runsKept)],
    schedule_runs: [each('WB_SCHEDULE_RUNS', config.runsPerSchedule)],
    webhook_deliveries: [each('WB_WEBHOOK_HISTORY', config.webhookHistory)],
    workbook_versions: [each(null, KEPT_VERSIONS)],
  };
  const isNumbered = (name: KeptSeries) => ['ledger', 'sandbox_hours', 'tenant_hours'].includes(name);
  return (Object.keys(limits) as KeptSeries[]).map((name) => {
    const more = !isNumbered(name) && rows[name] > cap;
    const shown = more ? cap : rows[name];
    return { name, rows: shown, more, about_bytes: shown * ROW_BYTES[name], limits: limits[name] };
  });
}
