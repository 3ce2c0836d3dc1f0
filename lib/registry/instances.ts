/**
 * The rows of sandboxes: created, changed, moved by compare-and-set with their ledger lines, listed, counted, and what
 * of them falls due. Knows nothing of files or processes.
 */
import type { State } from '../lifecycle/states.ts';
import type { Fault } from '../lifecycle/words.ts';
import type { Volume } from '../vfs/volumes.ts';
import type {
  DueTarget,
  FileRecord,
  InstanceRow,
  Intent,
  LedgerEntry,
  NewInstance,
  RowPage,
  Thresholds,
} from './types.ts';

/** The columns that a person may change without a transition. `undefined` leaves a column alone. */
export interface InstancePatch {
  name?: string | null;
  labels?: Record<string, string>;
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
  /** States passed through on the way, in order; each transition on the way must be in the map. */
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
  /**
   * Words that id, name, tenant or label values must start with, all of them. Text without a letter or digit asks for
   * nothing.
   */
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

export interface DueRow {
  row: InstanceRow;
  /** Those that apply to it: its own, else its tenant's, else the global ones. */
  thresholds: Thresholds;
}

export interface InstanceStore {
  /**
   * Inserts a row in state `created` with its ledger line. Throws `conflict` for an id ever used or a name taken in the
   * tenant, `quota_exceeded`.
   */
  create(instance: NewInstance, now: number, ledger: LedgerEntry): Promise<InstanceRow>;
  /**
   * The tenant of a row, tombstones included, or null. Read from an index alone, so that timing does not tell a known
   * id from an unknown one.
   */
  tenantOf(id: string): Promise<string | null>;
  /** The row, tombstones included, or null. */
  get(id: string): Promise<InstanceRow | null>;
  /**
   * Changes what a person may change, with its ledger line. Null when there is no such row. Throws `conflict` for a
   * taken name and `gone` for what is deleted. `asRead`: the row as the caller read it; when what a person may change
   * is different by now, nothing is changed and it throws `precondition_failed`.
   */
  patch(
    id: string,
    patch: InstancePatch,
    now: number,
    ledger: LedgerEntry,
    asRead?: InstanceRow,
  ): Promise<InstanceRow | null>;
  /**
   * Adds labels, and takes away those whose value is null, with its ledger line. Nothing is changed and no line written
   * when they are there so already, or when there would be more than `most`. Null when there is no such row. Throws
   * `gone` for what is deleted.
   */
  relabel(
    id: string,
    labels: Readonly<Record<string, string | null>>,
    most: number,
    ledger: LedgerEntry,
  ): Promise<'changed' | 'same' | 'too_many' | null>;

  /**
   * Writes the intent of an operation before its first effect: compare-and-set on (state, generation) of a row without
   * another intent. False when the row has moved on or is taken. Throws `quota_exceeded` when it leads to `active` and
   * the tenant has as many active and waking ones as it may. Survives a kill of the process at once; survives power
   * loss with the next committed transaction, or at once when it is to be `durable`.
   */
  begin(id: string, intent: Intent, options?: { durable?: boolean }): Promise<boolean>;
  /**
   * Clears the intent, keeps the state, appends the lines: the operation did not happen. `file`: its file was moved and
   * put back, so what is recorded of it is this, and the generation is the next.
   */
  abandon(
    id: string,
    patch: { fault?: { fault: Fault; reason: string } | null; failures?: number; file?: FileRecord | null },
    ledger: LedgerEntry[],
  ): Promise<void>;
  /**
   * The only writer of `state`: compare-and-set on (state, generation), generation + 1 for every hop, intent cleared,
   * failures zeroed, ledger appended, all in one durable transaction. The hops must be in the state map or a return to
   * the same state (a refiling). Returns the new row; throws `conflict` when the row has moved on, `invalid_transition`
   * off the map and `quota_exceeded` when its tenant may have no other active one.
   */
  commit(transition: Transition): Promise<InstanceRow>;
  /** Sets or clears a fault without a transition, with its ledger line. */
  setFault(id: string, fault: { fault: Fault; reason: string } | null, ledger: LedgerEntry): Promise<void>;
  /**
   * Records the background check of a file at rest, and the bytes of its volumes when they are known, if the row still
   * has that generation.
   */
  recordCheck(
    id: string,
    generation: number,
    check: { sha256: string; quickCheck: string | null },
    volumes?: Record<Volume, number>,
  ): Promise<void>;
  /**
   * Stamps `updated` (never backwards) and `bytes` of many rows in one transaction; unknown and deleted ones are passed
   * over.
   */
  touch(touches: { id: string; updated: number; bytes?: number | null }[]): Promise<void>;
  /**
   * Sets `updated` of at most `limit` rows that are not deleted back to `now` where it is more than `slack` seconds
   * later, and with it when they fall due. Returns how many there were. A clock that was set back is the only cause.
   */
  clampUpdated(now: number, slack: number, limit: number): Promise<number>;

  list(request: ListRequest): Promise<RowPage<InstanceRow>>;
  /** Number of rows that match, exact up to `cap`; above it `cap + 1`. Maintained counts where there are any. */
  count(filter: ListFilter, cap: number): Promise<number>;
  /** Instances per state, of everything or of some tenants; maintained, never scanned. */
  countsByState(tenants?: readonly string[]): Promise<Record<State, number>>;
  /**
   * Instances per fault, without what is deleted: maintained for everything; of some tenants what is faulted is looked
   * through.
   */
  countsByFault(tenants?: readonly string[]): Promise<Record<Fault, number>>;
  /** Tenants that have or had instances, in order, with their maintained counts. */
  tenants(): Promise<{ tenant: string; counts: Record<State, number> }[]>;

  /**
   * Rows that may move by themselves at `now` (down the ladder, or to the end of an ephemeral sandbox), soonest first,
   * at most `limit`. The cost depends on the rows that are due: kept hot, held, blocked and pending rows are not read.
   */
  due(now: number, limit: number): Promise<DueRow[]>;
  /** Rows that fall due up to `until` (epoch seconds), soonest first, for the overview. */
  dueUntil(until: number, limit: number, tenants?: readonly string[]): Promise<DueRow[]>;
  /**
   * How many fall due in each of `slots` spans of `seconds` from `from` (epoch seconds) on, by the state that they move
   * to; what is overdue counts in the first. Reads one index; costs what falls due, up to a hundred thousand of each
   * span.
   */
  dueCounts(
    spans: { from: number; seconds: number; slots: number },
    tenants?: readonly string[],
  ): Promise<Record<DueTarget, number>[]>;
  /** Rows with an intent, and rows whose state is `active`: what a boot has to look at. */
  unsettled(): Promise<InstanceRow[]>;
  /** Every row that has a file, in id order after `after`, for the scrubber and orphan search. */
  withFile(after: string, limit: number): Promise<InstanceRow[]>;

  /**
   * Inserts the row of a file that lies at its `vfsPath` already and moves it to `to`, in one transaction with its
   * lines: of a sandbox that was there once. Throws as `create` does, and `invalid_transition`.
   */
  adopt(instance: NewInstance, to: State, now: number, ledger: LedgerEntry[]): Promise<InstanceRow>;
}
