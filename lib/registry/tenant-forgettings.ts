/**
 * The registry's part of forgetting a tenant: which tenants are being forgotten, their data, and its removal. While a
 * forgetting is open, triggers refuse new rows for its tenant. Every method is a repeatable step. Knows nothing of
 * files or of the order of the steps.
 */
import type { InstanceId } from '../base/ids.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Via } from '../lifecycle/words.ts';
import type { ChainedLine } from './chain.ts';
import type { LedgerEntry } from './types.ts';

export interface TenantForgetting {
  /** The id of its job. */
  job: string;
  tenant: string;
  actor: string;
  via: Via;
  /** Epoch seconds, as the next. */
  started: number;
  finished: number | null;
}

/** A tenant's data outside its counts, and what others use of it. */
interface TenantHoldings {
  snapshots: number;
  blueprints: string[];
  shares: number;
  workbooks: number;
  keys: number;
  /** People who are limited to it alone, their open sessions, and people who have other tenants too. */
  people: number;
  sessions: number;
  limited: number;
  invitations: number;
  jobs: number;
  /** Ledger lines that contain more than its ids. */
  lines: number;
  /** Sandboxes of other tenants that were made from its snapshots and blueprints. */
  clones: number;
  /** Sandboxes that are held, the first of them. */
  kept: { id: InstanceId; name: string | null; state: State; why: 'keep_hot' | 'held' }[];
  keptCount: number;
  /** When its first sandbox was made, epoch seconds; null when it never had one. */
  first: number | null;
}

/** A line to be blanked, and the previous hash. */
export interface LineToBlank {
  line: ChainedLine;
  previous: string;
}

/** Ids of people and jobs that are gone: a ledger line without a tenant that names one is about the forgotten one. */
export interface ForgottenIds {
  actors: string[];
  jobs: string[];
}

/** The ids with more of them, each once. */
export function withMore({ actors, jobs }: ForgottenIds, more: Partial<ForgottenIds>): ForgottenIds {
  return {
    actors: [...new Set([...actors, ...(more.actors ?? [])])],
    jobs: [...new Set([...jobs, ...(more.jobs ?? [])])],
  };
}

/** A job that selected some of a tenant's sandboxes: their positions, and whether it also selected another tenant's. */
export interface ConcernedJob {
  seq: number;
  id: string;
  running: boolean;
  only: boolean;
  own: number[];
}

/** People who are limited to some tenants, with one among them. */
export interface LimitedPerson {
  id: string;
  email: string;
  others: string[];
}

/** Line numbers that are examined before other work runs. */
export const LINES_EXAMINED = 5000;

/**
 * True when a line without a tenant is about one of its people or jobs. The first line of a job has its request's id,
 * and names the job.
 */
export function concerns(
  { type, actor, reason, requestId }: Pick<LedgerEntry, 'type' | 'actor' | 'reason' | 'requestId'>,
  { actors, jobs }: ForgottenIds,
): boolean {
  if (actors.includes(actor) || (requestId !== null && jobs.includes(requestId))) return true;
  return type === 'job.started' && reason !== null && jobs.some((id) => reason.includes(id));
}

/** Number of rows of each kind that one step removed. */
export type RemovedCounts = Readonly<Record<string, number>>;

export interface TenantForgettingStore {
  /** Begins a forgetting, with its ledger line. Throws `conflict` when the tenant is already being forgotten. */
  begin(forgetting: Omit<TenantForgetting, 'finished'>, ledger: LedgerEntry): Promise<void>;
  /** Unfinished forgettings, oldest first. */
  open(): Promise<TenantForgetting[]>;
  /** The last forgetting of a tenant, or null. */
  last(tenant: string): Promise<TenantForgetting | null>;
  /** Throws `conflict` when one of these tenants is being forgotten. */
  requireNone(tenants: readonly string[] | null): Promise<void>;
  /** A tenant's data; `now` in epoch seconds decides what is still held, `most` limits the names. */
  holdings(tenant: string, now: number, most: number): Promise<TenantHoldings>;
  /** People who are limited to some tenants, with this one among them, and their other tenants. */
  people(tenant: string): Promise<{ id: string; others: string[] }[]>;
  /** Ids of sandboxes that are not deleted, at most `limit`. */
  living(tenant: string, limit: number): Promise<InstanceId[]>;
  /** Removes keys, invitations and people of this tenant alone, and records their ids for the later steps. */
  removeAccess(job: string, tenant: string): Promise<RemovedCounts>;
  /** Ids of running jobs that selected sandboxes of a tenant, and whether they selected others' too. */
  runningJobs(job: string, tenant: string): Promise<{ id: string; only: boolean }[]>;
  /**
   * Removes jobs that affected this tenant alone, and the texts of those that also affected others; the forgetting's
   * own job stays.
   */
  removeJobs(job: string, tenant: string): Promise<RemovedCounts>;
  /** Snapshots whose file may still exist. */
  snapshots(tenant: string): Promise<string[]>;
  blueprints(tenant: string): Promise<string[]>;
  /** The tenants whose copies have this content; the file's own row is already removed. */
  ownersOfCopy(hash: string): Promise<string[]>;
  /** Removes the texts from at most `limit` tombstones. False when none are left. */
  emptyTombstones(tenant: string, limit: number): Promise<boolean>;
  /** Removes the rows of copies, shares, workbooks, quotas and pending resumes. */
  removeRecords(tenant: string): Promise<RemovedCounts>;
  /** Lines after `seq` to be blanked, at most `limit`; `next` is the position to continue from, null at the end. */
  toBlank(
    job: string,
    tenant: string,
    seq: number,
    limit: number,
  ): Promise<{ lines: LineToBlank[]; next: number | null }>;
  /** Blanks lines, each with the note that replaces its texts. */
  blank(notes: readonly { seq: number; note: string }[]): Promise<void>;
  /** The notes of a forgetting in the order of their lines. */
  notes(job: string): Promise<AsyncIterable<string[]>>;
  /** Ends a forgetting, with its ledger line. */
  finish(job: string, now: number, ledger: LedgerEntry): Promise<void>;
}

/** The other tenants of a list that has `tenant`; null when it does not have it. */
export function otherTenantsIn(tenants: readonly string[], tenant: string): string[] | null {
  return tenants.includes(tenant) ? tenants.filter((one) => one !== tenant) : null;
}
