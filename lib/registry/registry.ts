/**
 * The registry's contract: rows, compare-and-set transitions with their ledger line, lists, counts, settings.
 * Every driver (sqlite.ts, later postgres.ts) passes the one suite in contract.ts. Knows nothing of files or processes.
 */
import type { State } from '../lifecycle/states.ts';
import type { Fault, Source, Trigger, Via } from '../lifecycle/words.ts';
import type { Volume } from '../vfs/volumes.ts';
import type { ChainedLine, ChainHead } from './chain.ts';
import type { CopyStore } from './copies.ts';
import type { DueTo } from './due-counts.ts';
import type { Facts } from './facts.ts';
import type { Forgettings } from './forgettings.ts';
import type { Hop } from './hops.ts';
import type { InvitationBook } from './invitations.ts';
import type { Jobs } from './jobs.ts';
import type { KeyBook } from './keys.ts';
import type { PeopleBook } from './people.ts';
import type { Quotas } from './quotas.ts';
import type { FileRecord, Intent } from './records.ts';
import type { Segments } from './segments.ts';
import type { Shares } from './shares.ts';
import type { ThresholdTrial, TrialOutcome } from './threshold-trial.ts';
import type { WakeTimes } from './wake-times.ts';

export type { FileRecord, Intent } from './records.ts';

export interface InstanceRow {
  id: string;
  tenant: string;
  state: State;
  /** Relative to the data folder, `:memory:`, or null. */
  vfsPath: string | null;
  /** Epoch seconds of the last state change or activity: the idle clock. */
  updated: number;
  name: string | null;
  /** Increases by one with every committed transition or filing. */
  generation: number;
  fault: Fault | null;
  faultReason: string | null;
  pending: Intent | null;
  created: number;
  stateSince: number;
  keepHot: boolean;
  holdUntil: number | null;
  ephemeral: boolean;
  policy: string;
  idleToSuspendSeconds: number | null;
  idleToFreezeSeconds: number | null;
  /** Size of the file at rest, or as last seen. */
  bytes: number | null;
  workbook: string | null;
  lineageBlueprint: string | null;
  lineageSnapshot: string | null;
  lineageParent: string | null;
  /** What was recorded when the file was last filed; while it is in use only its inode still holds. Null when there is none. */
  file: FileRecord | null;
  /** Failures of filing in a row; the third raises `unknown`. */
  failures: number;
  labels: Record<string, string>;
}

/** A ledger line before it has its sequence number. */
export interface LedgerEntry {
  timeMs: number;
  instance: string | null;
  tenant: string | null;
  type: string;
  from: State | null;
  to: State | null;
  trigger: Trigger;
  actor: string;
  via: Via;
  source: Source | null;
  tookMs: number | null;
  reason: string | null;
  error: string | null;
  requestId: string | null;
  /** Address of the peer that asked, where there was one. */
  address: string | null;
}

export interface LedgerLine extends LedgerEntry {
  seq: number;
}

/** A row that is to be. `file` and `bytes` belong to a file that lies at `vfsPath` already. */
export interface NewInstance {
  id: string;
  tenant: string;
  name: string | null;
  vfsPath: string | null;
  ephemeral: boolean;
  policy: string;
  keepHot: boolean;
  idleToSuspendSeconds: number | null;
  idleToFreezeSeconds: number | null;
  labels: Record<string, string>;
  workbook: string | null;
  lineageBlueprint: string | null;
  lineageSnapshot: string | null;
  lineageParent: string | null;
  file?: FileRecord | null;
  bytes?: number | null;
}

/** The columns that a person may change without a transition. `undefined` leaves a column alone. */
export interface InstancePatch {
  name?: string | null;
  /** A function makes them of those that are there in the transaction that writes them; with null nothing is changed and no line written. */
  labels?: Record<string, string> | ((present: Record<string, string>) => Record<string, string> | null);
  keepHot?: boolean;
  holdUntil?: number | null;
  idleToSuspendSeconds?: number | null;
  idleToFreezeSeconds?: number | null;
  policy?: string;
  workbook?: string | null;
}

/** A compare-and-set of state and generation. */
export interface Transition {
  id: string;
  from: State;
  to: State;
  /** States passed through on the way, in order, without staying in any: every hop of the way must be in the map. */
  through?: readonly State[];
  /** The generation that the row must still have. */
  generation: number;
  vfsPath: string | null;
  file: FileRecord | null;
  bytes?: number | null;
  fault?: { fault: Fault; reason: string } | null;
  /** Epoch seconds; a hop stamps `updated` and `stateSince` with it, a return to the same state leaves both. */
  now: number;
  policy?: string;
  /** Appended in the same transaction. */
  ledger: LedgerEntry[];
}

export const LIST_SORTS = ['updated', 'created', 'name', 'bytes'] as const;

export interface ListFilter {
  tenant?: string;
  /** Of these tenants only; none when empty. */
  tenants?: readonly string[];
  /** What is deleted is listed and counted only under `deleted`. */
  state?: State;
  /** Every state but this one: what `thermal=cold` asks. */
  notState?: State;
  fault?: Fault;
  name?: string;
  label?: { key: string; value: string };
  /** Epoch seconds, inclusive, of the last state change or activity. */
  since?: number;
  until?: number;
  /** With an operation under way; `until`: one that began at or before this moment (epoch milliseconds). */
  pending?: { until?: number };
  /** Due to move by themselves within these moments (epoch seconds, inclusive), with no operation under way. */
  due?: { since?: number; until?: number };
  /** Words that id, name, tenant or label values must start with, all of them. Text without a letter or digit asks for nothing. */
  text?: string;
}

export interface ListRequest extends ListFilter {
  sort: (typeof LIST_SORTS)[number];
  /** `updated`, `created` and `bytes` run from the highest down, `name` from a to z, unless reversed. */
  reverse: boolean;
  limit: number;
  /** The `next` of the page before. A malformed one throws `validation`. */
  cursor?: string;
}

export interface Page<T> {
  rows: T[];
  /** Cursor of the page after, or null at the end. */
  next: string | null;
}

export interface LedgerFilter {
  tenant?: string;
  /** Lines of these tenants only; those of no tenant are left out. */
  tenants?: readonly string[];
  instance?: string;
  type?: string;
  actor?: string;
  trigger?: Trigger;
  /** Epoch seconds, inclusive. */
  since?: number;
  until?: number;
}

export interface Thresholds {
  idleToSuspendSeconds: number;
  idleToFreezeSeconds: number;
}

/** How large the registry is and what its rows know of their files. */
interface Vitals {
  /** Of its own file, and of that what holds nothing now. */
  bytes: number;
  freeBytes: number;
  /** Instances, and bytes of their files, by state. */
  rows: Record<State, number>;
  fileBytes: Record<State, number>;
}

export interface DueRow {
  row: InstanceRow;
  /** Those that apply to it: its own, else its tenant's, else the global ones. */
  thresholds: Thresholds;
}

/** All methods are synchronous in the SQLite driver and awaited by every caller, so that a driver may be asynchronous. */
export interface Registry {
  /** The keys of programs. */
  readonly keys: KeyBook;
  /** Links that let people in. */
  readonly invitations: InvitationBook;
  /** People and their sessions, as the auth library keeps them. */
  readonly people: PeopleBook;
  /** Snapshots, blueprints, and what was made from them. */
  readonly copies: CopyStore;

  /** Inserts a row in state `created` with its ledger line. Throws `conflict` for an id ever used or a name taken in the tenant, `quota_exceeded`. */
  create(instance: NewInstance, now: number, ledger: LedgerEntry): Awaitable<InstanceRow>;
  /** Whose a row is, tombstones included, or null: from an index alone, so that a known id takes as long as an unknown one. */
  tenantOf(id: string): Awaitable<string | null>;
  /** The row, tombstones included, or null. */
  get(id: string): Awaitable<InstanceRow | null>;
  /**
   * Changes what a person may change, with its ledger line. Null when there is no such row. Throws `conflict` for a taken name and `gone` for
   * what is deleted. `check` sees the row that is changed, before that, and stops it by throwing.
   */
  patch(
    id: string,
    patch: InstancePatch,
    now: number,
    ledger: LedgerEntry,
    check?: (before: InstanceRow) => void,
  ): Awaitable<InstanceRow | null>;

  /**
   * Writes the intent of an operation before its first effect: compare-and-set on (state, generation) of a row without
   * another intent. False when the row has moved on or is taken. Throws `quota_exceeded` when it leads to `active` and the tenant has as
   * many active and waking ones as it may. Survives a kill of the process at once; survives power
   * loss with the next committed transaction, or at once when it is to be `durable`.
   */
  begin(id: string, intent: Intent, options?: { durable?: boolean }): Awaitable<boolean>;
  /**
   * Clears the intent, keeps the state, appends the lines: the operation did not happen. `file`: its file was moved and put back, so what is
   * recorded of it is this, and the generation is the next.
   */
  abandon(
    id: string,
    patch: { fault?: { fault: Fault; reason: string } | null; failures?: number; file?: FileRecord | null },
    ledger: LedgerEntry[],
  ): Awaitable<void>;
  /**
   * The only writer of `state`: compare-and-set on (state, generation), generation + 1 for every hop, intent cleared, failures zeroed,
   * ledger appended, all in one durable transaction. The hops must be in the state map or a return to the same state
   * (a refiling). Returns the new row; throws `conflict` when the row has moved on, `invalid_transition` off the map and
   * `quota_exceeded` when its tenant may have no other active one.
   */
  commit(transition: Transition): Awaitable<InstanceRow>;
  /** Sets or clears a fault without a transition, with its ledger line. */
  setFault(id: string, fault: { fault: Fault; reason: string } | null, ledger: LedgerEntry): Awaitable<void>;
  /** Records the background check of a file at rest, and the bytes of its volumes when they are known, if the row still has that generation. */
  recordCheck(
    id: string,
    generation: number,
    check: { sha256: string; quickCheck: string | null },
    volumes?: Record<Volume, number>,
  ): Awaitable<void>;
  /** Stamps `updated` (never backwards) and `bytes` of many rows in one transaction; unknown and deleted ones are passed over. */
  touch(touches: { id: string; updated: number; bytes?: number | null }[]): Awaitable<void>;
  /**
   * Sets `updated` of at most `limit` rows that are not deleted back to `now` where it is more than `slack` seconds later, and with it when they
   * fall due. Returns how many there were. A clock that was set back is the only cause.
   */
  notAfter(now: number, slack: number, limit: number): Awaitable<number>;

  list(request: ListRequest): Awaitable<Page<InstanceRow>>;
  /** Number of rows that match, exact up to `cap`; above it `cap + 1`. Maintained counts where there are any. */
  count(filter: ListFilter, cap: number): Awaitable<number>;
  /** Instances per state, of everything or of some tenants; maintained, never scanned. */
  countsByState(tenants?: readonly string[]): Awaitable<Record<State, number>>;
  /** Instances per fault, without what is deleted: maintained for everything; of some tenants what is faulted is looked through. */
  countsByFault(tenants?: readonly string[]): Awaitable<Record<Fault, number>>;
  /** Tenants that have or had instances, in order, with their maintained counts. */
  tenants(): Awaitable<{ tenant: string; counts: Record<State, number> }[]>;

  /**
   * Rows that the ladder or the ephemeral walk may move at `now`, soonest first, at most `limit`. Costs what is due,
   * not what exists: kept hot, held, blocked and pending rows are not in it.
   */
  due(now: number, limit: number): Awaitable<DueRow[]>;
  /** Rows that fall due up to `until` (epoch seconds), soonest first, for the overview. */
  dueUntil(until: number, limit: number, tenants?: readonly string[]): Awaitable<DueRow[]>;
  /**
   * How many fall due in each of `slots` spans of `seconds` from `from` (epoch seconds) on, by the state that they move to; what is overdue
   * counts in the first. Reads one index; costs what falls due, up to a hundred thousand of each span.
   */
  dueCounts(
    spans: { from: number; seconds: number; slots: number },
    tenants?: readonly string[],
  ): Awaitable<Record<DueTo, number>[]>;
  /** Rows with an intent, and rows whose state is `active`: what a boot has to look at. */
  unsettled(): Awaitable<InstanceRow[]>;
  /** Every row that has a file, in id order after `after`, for the scrubber and orphan search. */
  filed(after: string, limit: number): Awaitable<InstanceRow[]>;

  /**
   * Appends the lines. Here and wherever lines are appended, refusals and failures that repeat are counted: the first is a line, the next ones are
   * one line a window (lib/registry/repeats.ts).
   */
  append(entries: LedgerEntry[]): Awaitable<void>;
  /** Writes what was counted of refusals that repeated: what is due at `nowMs`, or all of it. */
  appendSums(nowMs: number, options?: { all?: boolean }): Awaitable<void>;
  ledger(filter: LedgerFilter, limit: number, cursor?: string): Awaitable<Page<LedgerLine>>;
  /** Lines after `seq`, oldest first: what a reconnecting stream missed. */
  ledgerAfter(seq: number, limit: number): Awaitable<LedgerLine[]>;
  /** Those of some tenants after `from` and up to `to`, oldest first. */
  ledgerAmong(
    tenants: readonly string[],
    between: { from: number; to: number },
    limit: number,
  ): Awaitable<LedgerLine[]>;
  lastSeq(): Awaitable<number>;
  /** Lines after `seq` with their hashes, oldest first. */
  chain(seq: number, limit: number): Awaitable<ChainedLine[]>;
  /** Number and hash of the last line ever appended. */
  chainHead(): Awaitable<ChainHead>;

  /** The sealed months of the ledger. */
  readonly segments: Segments;

  thresholds(tenant: string): Awaitable<Thresholds>;
  globalThresholds(): Awaitable<Thresholds>;
  setGlobalThresholds(patch: Partial<Thresholds>, ledger: LedgerEntry): Awaitable<Thresholds>;
  /** What a tenant overrides; null falls back to the global value, what is absent stays. Returns what now applies to it. */
  setTenantThresholds(
    tenant: string,
    patch: { [K in keyof Thresholds]?: number | null },
    ledger: LedgerEntry,
  ): Awaitable<Thresholds>;
  /** How many would fall due under other thresholds that do not under these, and the other way round. Changes nothing. */
  tryThresholds(trial: ThresholdTrial): Promise<TrialOutcome>;

  /** What left in bundles. */
  readonly shares: Shares;
  /** Things to be done to many instances. */
  readonly jobs: Jobs;
  /** What tenants may have, and what they have. */
  readonly quotas: Quotas;
  /** Tenants that are being forgotten, and how they go. */
  readonly forgettings: Forgettings;
  /** How long wakes took. */
  readonly wakeTimes: WakeTimes;
  /**
   * Hops since `sinceMs`, newest first, of everything or of some tenants, as they are at one moment, in pieces between which others run.
   * Ends early when `seen` answers false.
   */
  hops(sinceMs: number, tenants: readonly string[] | undefined, seen: (hop: Hop) => boolean): Promise<void>;

  /** Small facts that outlive a restart. */
  readonly facts: Facts;
  /** Maintained, never scanned. */
  vitals(): Awaitable<Vitals>;

  /** Calls back after each durable append, with the new lines in order. Returns the unsubscriber. */
  onAppend(listener: (lines: LedgerLine[]) => void): () => void;
  /** A round trip that proves the registry answers and writes. */
  ping(): Awaitable<void>;
  close(): Awaitable<void>;
}

export type Awaitable<T> = T | Promise<T>;
