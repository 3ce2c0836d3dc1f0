/**
 * The tables' side of forgetting a tenant: which tenants are being forgotten, what they have, and its removal. While a
 * forgetting is open, triggers refuse new rows for its tenant. Every method is a step that may be repeated. Knows
 * nothing of files or of the order of the steps.
 */
import type { State } from '../lifecycle/states.ts';
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

/** What a tenant has outside its counts, and what of it others use. */
interface TenantHoldings {
  snapshots: number;
  blueprints: string[];
  shares: number;
  keys: number;
  /** People who are limited to it alone, their open sessions, and people who have other tenants too. */
  people: number;
  sessions: number;
  limited: number;
  invitations: number;
  jobs: number;
  /** Lines of the ledger that say more than ids of it. */
  lines: number;
  /** Sandboxes of others that were made from its snapshots and blueprints. */
  clones: number;
  /** Sandboxes that someone asked to be kept as they are, the first of them. */
  kept: { id: string; name: string | null; state: State; why: 'keep_hot' | 'held' }[];
  keptCount: number;
  /** When its first sandbox was made, epoch seconds; null when it never had one. */
  first: number | null;
}

/** A line that is to be blanked, and the hash before it. */
export interface LineToBlank {
  line: ChainedLine;
  previous: string;
}

/** How many rows of each kind one step removed. */
export type RemovedCounts = Readonly<Record<string, number>>;

export interface TenantForgettingStore {
  /** Begins one, with its ledger line. Throws `conflict` when that tenant is being forgotten already. */
  begin(forgetting: Omit<TenantForgetting, 'finished'>, ledger: LedgerEntry): Promise<void>;
  /** Those that are not finished, oldest first. */
  open(): Promise<TenantForgetting[]>;
  /** The last one of a tenant, or null. */
  last(tenant: string): Promise<TenantForgetting | null>;
  /** Throws `conflict` when one of these tenants is being forgotten. */
  requireNone(tenants: readonly string[] | null): Promise<void>;
  /** What a tenant has; `now` in epoch seconds says what is still held, `most` how many names are given. */
  holdings(tenant: string, now: number, most: number): Promise<TenantHoldings>;
  /** People with the tenant among those they are limited to, and which others they have. */
  people(tenant: string): Promise<{ id: string; others: string[] }[]>;
  /** Ids of sandboxes that are not deleted, at most `limit`. */
  living(tenant: string, limit: number): Promise<string[]>;
  /** Removes keys, invitations and people of this tenant alone, and records their ids for the later steps. */
  removeAccess(job: string, tenant: string): Promise<RemovedCounts>;
  /** Ids of running jobs that chose sandboxes of a tenant, and whether they chose those of others too. */
  runningJobs(job: string, tenant: string): Promise<{ id: string; only: boolean }[]>;
  /**
   * Removes jobs that concerned this tenant alone, and the words of those that concerned it among others; the
   * forgetting's own stays.
   */
  removeJobs(job: string, tenant: string): Promise<RemovedCounts>;
  /** Snapshots whose file may still be there. */
  snapshots(tenant: string): Promise<string[]>;
  blueprints(tenant: string): Promise<string[]>;
  /** The tenants whose copies have this content; the file's own row is gone by then. */
  ownersOfCopy(hash: string): Promise<string[]>;
  /** Takes the texts from at most `limit` tombstones. False when there are none left. */
  emptyTombstones(tenant: string, limit: number): Promise<boolean>;
  /** Removes the rows of copies, shares, quotas and starts. */
  removeRecords(tenant: string): Promise<RemovedCounts>;
  /** Lines after `seq` that are to be blanked, at most `limit`; `next` is where to go on, null at the end. */
  toBlank(
    job: string,
    tenant: string,
    seq: number,
    limit: number,
  ): Promise<{ lines: LineToBlank[]; next: number | null }>;
  /** Blanks lines, each with the note that stands for its texts. */
  blank(notes: readonly { seq: number; note: string }[]): Promise<void>;
  /** The notes of a forgetting in the order of their lines. */
  notes(job: string): Promise<AsyncIterable<string[]>>;
  /** Writes the whole file anew, so that nothing of what was removed is left in free pages or in the text index. */
  compact(): Promise<void>;
  /** Leaves nothing in the log either. False: a reader is in the way. */
  emptyLog(): Promise<boolean>;
  /** Ends it, with its ledger line. */
  finish(job: string, now: number, ledger: LedgerEntry): Promise<void>;
}
