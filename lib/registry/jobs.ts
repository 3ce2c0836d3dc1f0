import type { State } from '../lifecycle/states.ts';
import type { JobKind } from '../lifecycle/verb-plan.ts';
import type { Fault, Via } from '../lifecycle/words.ts';
import type { ListFilter } from './instances.ts';
import type { LedgerEntry, RowPage } from './types.ts';

export type JobState = 'running' | 'done' | 'cancelled';
export type JobOutcome = 'done' | 'failed' | 'skipped';

export interface NewJob {
  id: string;
  verb: JobKind;
  reason: string | null;
  /** Set for `label`: key to value, or to null for one that goes. */
  labels: Record<string, string | null> | null;
  /** The request as it was made: JSON. */
  request: unknown;
  /** The tenants that it may concern; null: all. */
  tenants: readonly string[] | null;
  actor: string;
  via: Via;
  address: string | null;
  /** Epoch seconds. */
  created: number;
}

export interface JobRow extends NewJob {
  state: JobState;
  finished: number | null;
  chosen: number;
  done: number;
  failed: number;
  skipped: number;
}

export interface JobResultRow {
  /** Its place in the job, from 0. */
  position: number;
  outcome: JobOutcome;
  reason: string | null;
  timeMs: number;
}

/** An instance that a selection finds. */
export interface SelectedInstance {
  /** Row number; 0 for an unknown id. */
  row: number;
  id: string;
  state: State;
  fault: Fault | null;
  inMemory: boolean;
  ephemeral: boolean;
}

/** Which instances: all that match one of the filters, or those named, of some tenants or of all. */
export type InstanceSelection = { filter: ListFilter } | { ids: readonly string[]; tenants: readonly string[] | null };

export interface JobStore {
  /**
   * Everything that matches at one moment, in pieces between which others run. An id that is unknown, or of another
   * tenant, comes as row 0 in state `deleted`.
   */
  select(choice: InstanceSelection): Promise<AsyncIterable<SelectedInstance[]>>;
  /**
   * Stores a job with the instances it chose (row numbers, in order), its results so far and its ledger line, all or
   * nothing.
   */
  add(job: NewJob, chosen: Uint32Array, results: JobResultRow[], ledger: LedgerEntry): Promise<JobRow>;
  get(id: string): Promise<JobRow | null>;
  /** Newest first. `tenants`: only those that concern nobody else. */
  list(
    filter: { state?: JobState; tenants?: readonly string[] },
    limit: number,
    cursor?: string,
  ): Promise<RowPage<JobRow>>;
  /** Oldest first. */
  running(): Promise<JobRow[]>;
  /**
   * The next instances from `position` on that have no result, in order; ends with none left. `next` is where to go on.
   */
  open(id: string, position: number): Promise<{ items: { position: number; id: string }[]; next: number | null }>;
  /** Stores results and counts. An instance that has a result already keeps it. */
  record(id: string, results: JobResultRow[]): Promise<void>;
  /** Ends a running job; the line's reason says how (`jobSummary`). False when it does not run. */
  end(id: string, state: Exclude<JobState, 'running'>, now: number, ledger: LedgerEntry): Promise<boolean>;
  /**
   * Removes what is left of jobs that ended before a time, at most `limit` results at once. False when there is nothing
   * more.
   */
  deleteEndedBefore(before: number, limit: number): Promise<boolean>;
  /** In the job's order. */
  results(
    id: string,
    outcome: JobOutcome | undefined,
    limit: number,
    cursor?: string,
  ): Promise<RowPage<JobResultRow & { instance: string | null }>>;
}

/** A job's outcome as its ledger line states it. */
export function jobSummary({ verb, done, failed, skipped, reason }: JobRow): string {
  const what = verb === 'forget' ? `${done} done` : `${done} done, ${failed} failed, ${skipped} skipped`;
  return `${verb}: ${what}${reason === null ? '' : ` – ${reason}`}`;
}
