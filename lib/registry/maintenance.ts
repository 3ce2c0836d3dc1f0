/** The registry's own health: whether it answers, its size, and its repair. */
import type { State } from '../lifecycle/states.ts';
import type { LedgerEntry } from './types.ts';

/** The size of the registry, and what its rows record of their files. */
interface RegistrySizes {
  /** Size of the registry's file, and its free part. */
  bytes: number;
  freeBytes: number;
  /** Instances, and bytes of their files, by state. */
  rows: Record<State, number>;
  fileBytes: Record<State, number>;
}

/**
 * A migration of an older registry: the number of migrations before and after, and the absolute path of the copy from
 * before.
 */
export interface Upgrade {
  from: number;
  to: number;
  copy: string;
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
  sizes(): Promise<RegistrySizes>;
  /** Rows of each series; of those that have to be counted at most `cap`. */
  keptRows(cap: number): Promise<Record<KeptSeries, number>>;
  /** A round trip that proves that the registry can read and write. */
  ping(): Promise<void>;
  /**
   * Checks the integrity of the file: `ok`, or the first fault. Takes seconds for a large one, in a thread of its own.
   * Rejects when `signal` aborts it and when the file cannot be read.
   */
  check(signal: AbortSignal): Promise<string>;
  /** The migration that ran when the registry was opened; null when none was needed. */
  upgrade(): Promise<Upgrade | null>;
  /**
   * Copies the write-ahead log into the file as far as no reader needs it. False when the disk failed; nothing is lost
   * then.
   */
  checkpoint(): Promise<boolean>;
  /** Recomputes the counts that differ from the rows, with one ledger line that names them. Returns their names. */
  recount(ledger: LedgerEntry): Promise<string[]>;
}
