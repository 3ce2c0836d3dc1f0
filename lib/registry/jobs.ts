import type { InstanceId } from '../base/ids.ts';
import type { JobKind } from '../lifecycle/job-verbs.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Fault, Via } from '../lifecycle/words.ts';
import type { ListFilter } from './instances.ts';
import type { LedgerEntry, RowPage } from './types.ts';

export type JobState = 'running' | 'done' | 'cancelled';
export type JobOutcome = 'done' | 'failed' | 'skipped';

export interface NewJob {
  id: string;
  verb: JobKind;
  reason: string | null;
  /** Set for `label`: key to value, or to null to remove it. */
  labels: Record<string, string | null> | null;
  /** The original request: JSON. */
  request: unknown;
  /** Whether it also files what is kept hot or held. */
  includeHeld: boolean;
  /** The tenants that it may affect; null: all. */
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
  /** Its position in the job, from 0. */
  position: number;
  outcome: JobOutcome;
  reason: string | null;
  timeMs: number;
}

/** An instance that a selection finds. */
export interface SelectedInstance {
  /** Row number; 0 for an unknown id. */
  row: number;
  id: InstanceId;
  state: State;
  fault: Fault | null;
  inMemory: boolean;
  ephemeral: boolean;
  keepHot: boolean;
  /** Epoch seconds. */
  holdUntil: number | null;
}

/** Selects instances: all that match one of the filters, or the named ones, of some tenants or of all. */
export type InstanceSelection =
  | { filter: ListFilter }
  | { ids: readonly InstanceId[]; tenants: readonly string[] | null };

export interface JobStore {
  /**
   * Everything that matches at one moment, in batches between which other work runs. An id that is unknown, or of
   * another tenant, comes as row 0 in state `deleted`.
   */
  select(choice: InstanceSelection): Promise<AsyncIterable<SelectedInstance[]>>;
  /**
   * Stores a job with its selected instances (row numbers, in order), its results so far and its ledger line: all or
   * nothing.
   */
  add(job: NewJob, chosen: Uint32Array, results: JobResultRow[], ledger: LedgerEntry): Promise<JobRow>;
  get(id: string): Promise<JobRow | null>;
  /** The tenants that a job may affect; none for a job of all tenants, and for an unknown id, which takes as long. */
  tenantsOf(id: string): Promise<readonly string[]>;
  /** Newest first. `tenants`: only jobs that affect no other tenant. */
  list(
    filter: { state?: JobState; tenants?: readonly string[] },
    limit: number,
    cursor?: string,
  ): Promise<RowPage<JobRow>>;
  /** Oldest first. */
  running(): Promise<JobRow[]>;
  /**
   * The next instances from `position` on that have no result, in order. Empty when none is left. `next` is the
   * position to continue from.
   */
  open(id: string, position: number): Promise<{ items: { position: number; id: InstanceId }[]; next: number | null }>;
  /** Stores results and counts. An instance that already has a result keeps it. */
  record(id: string, results: JobResultRow[]): Promise<void>;
  /** Ends a running job; the line's reason states its outcome (`jobSummary`). False when it does not run. */
  end(id: string, state: Exclude<JobState, 'running'>, now: number, ledger: LedgerEntry): Promise<boolean>;
  /**
   * Removes the remains of jobs that ended before a time, at most `limit` results at once. False when nothing is left.
   */
  deleteEndedBefore(before: number, limit: number): Promise<boolean>;
  /** In the job's order. */
  results(
    id: string,
    outcome: JobOutcome | undefined,
    limit: number,
    cursor?: string,
  ): Promise<RowPage<JobResultRow & { instance: InstanceId | null }>>;
}

/** A job's outcome as its ledger line states it. */
export function jobSummary({ verb, done, failed, skipped, reason }: JobRow): string {
  const what = verb === 'forget' ? `${done} done` : `${done} done, ${failed} failed, ${skipped} skipped`;
  return `${verb}: ${what}${reason === null ? '' : ` – ${reason}`}`;
}

/** An unknown id, as a selection has it. */
export const UNKNOWN_INSTANCE = {
  row: 0,
  state: 'deleted',
  fault: null,
  inMemory: false,
  ephemeral: false,
  keepHot: false,
  holdUntil: null,
} as const;

/** A job with its row number. */
export type JobRowWithSeq = JobRow & { seq: number };
export type FoundInstance = Omit<SelectedInstance, 'inMemory'> & { vfsPath: string | null };

/** Without its row number. */
export function plainJob({ seq: _, ...job }: JobRowWithSeq): JobRow {
  return job;
}

export function selectedInstance({ vfsPath, ...found }: FoundInstance): SelectedInstance {
  return { ...found, inMemory: vfsPath === ':memory:' };
}
