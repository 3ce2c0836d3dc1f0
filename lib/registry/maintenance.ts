/** The health of the registry: whether it answers, what its rows record, its repair. storage.ts: how it is stored. */
import type { State } from '../lifecycle/state-map.ts';
import type { LedgerEntry } from './types.ts';

/** What the rows record of their files. */
interface RecordedSizes {
  /** Instances, and bytes of their files, by state. */
  rows: Record<State, number>;
  fileBytes: Record<State, number>;
}

/** What is kept for a time, or up to a number. */
export type KeptSeries =
  | 'ledger'
  | 'sandbox_hours'
  | 'tenant_hours'
  | 'network_hours'
  | 'cpu_days'
  | 'wake_times'
  | 'jobs'
  | 'job_results'
  | 'runs'
  | 'schedule_runs'
  | 'webhook_deliveries'
  | 'workbook_versions';

export interface MaintenanceStore {
  /** Maintained, never scanned. */
  sizes(): Promise<RecordedSizes>;
  /** Rows of each series; of those that have to be counted at most `cap`. */
  keptRows(cap: number): Promise<Record<KeptSeries, number>>;
  /** A round trip that proves that the registry can read and write. */
  ping(): Promise<void>;
  /** Recomputes the counts that differ from the rows, with one ledger line that names them. Returns their names. */
  recount(ledger: LedgerEntry): Promise<string[]>;
}
