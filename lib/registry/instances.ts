/**
 * The rows of sandboxes: created, changed, moved by compare-and-set with their ledger lines, listed, counted, and
 * selected when due. Knows nothing of files or processes.
 */
import type { InstanceId } from '../base/ids.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Fault } from '../lifecycle/words.ts';
import type { Volume } from '../vfs/volumes.ts';
import type { HostAsSeen } from './hosts.ts';
import type { SeriesOrder } from './series-order.ts';
import type {
  DueTarget,
  FileRecord,
  InstanceRow,
  Intent,
  LedgerEntry,
  NewInstance,
  RowCount,
  RowOwner,
  RowPage,
  StoredObject,
  Thresholds,
} from './types.ts';

/** The columns that a person may change without a transition. `undefined` leaves a column alone. */
export interface InstancePatch {
  name?: string | null;
  labels?: Record<string, string>;
  keepHot?: boolean;
  holdUntil?: number | null;
  hotToWarmSeconds?: number | null;
  idleToSuspendSeconds?: number | null;
  idleToFreezeSeconds?: number | null;
  replicate?: string | null;
  policy?: string;
  workbook?: string | null;
  workbookVersion?: number | null;
}

/** A compare-and-set of state and generation. */
export interface Transition {
  id: InstanceId;
  from: State;
  to: State;
  /** Intermediate states, in order; each hop must be in the state map. */
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
  /** Who writes it; its token must be the row's. Without one: a tool, which no row with a token is left to. */
  owner?: RowOwner;
  /** A random id, stored with the row: whether this write happened can be asked after its answer was lost. */
  writeId?: string | null;
}

/** An object that is whole in the store, of the file that a row has at rest. */
export interface StoredRecord {
  id: InstanceId;
  /** What the row must still have: the object is of this filing, and of no other. */
  generation: number;
  vfsPath: string;
  /** The host that uploaded it: a row that another one has is left alone. */
  host: string;
  /** Its hash is the one that is recorded of the file, or becomes it where none is. */
  stored: StoredObject;
  nowMs: number;
  /** Appended in the same transaction. */
  ledger: LedgerEntry[];
}

/** What a row of a file that only the store has begins with: as it was filed. */
export interface FiledInStore {
  /** The host that makes the row; the row itself is nobody's. */
  host: string;
  generation: number;
  /** Epoch seconds, as the next three. */
  created: number;
  updated: number;
  stateSince: number;
  holdUntil: number | null;
  stored: StoredObject;
}

/** Uploads that wait: their number, and the epoch second since when the oldest is filed; null without one. */
interface UploadBacklog {
  n: number;
  since: number | null;
}

export const LIST_SORTS = ['updated', 'created', 'name', 'bytes'] as const;

export interface ListFilter {
  tenant?: string;
  /** Only these tenants; empty: all. */
  tenants?: readonly string[];
  /** Deleted instances are listed and counted only under `deleted`. */
  state?: State;
  /** Excludes one state: `thermal=cold` needs it. */
  notState?: State;
  /** Only these ids, or none of these. They are few: a list scans the rows of the other criteria. */
  ids?: readonly InstanceId[];
  notIds?: readonly InstanceId[];
  fault?: Fault;
  name?: string;
  label?: { key: string; value: string };
  /** The host that has it awake, moves it, or has its newest bytes. A deleted one is no host's. */
  host?: string;
  /** Epoch seconds, inclusive, of the last state change or activity. */
  since?: number;
  until?: number;
  /** With a pending operation. `until`: one that began at or before this moment (epoch milliseconds). */
  pending?: { until?: number };
  /** Due to move by themselves within these moments (epoch seconds, inclusive), with no pending operation. */
  due?: { since?: number; until?: number };
  /**
   * Terms, separated by white space, that id, tenant, name or a label value must contain, all of them: one or two
   * characters at the beginning of a word, three or more anywhere. Letters and digits count, their case and accents do
   * not. Text without a letter or digit matches everything.
   */
  text?: string;
}

export interface ListRequest extends ListFilter {
  sort: (typeof LIST_SORTS)[number];
  /** `updated`, `created` and `bytes` sort descending, `name` ascending, unless reversed. */
  reverse: boolean;
  limit: number;
  /** The `next` of the previous page. A malformed one throws `validation`. */
  cursor?: string;
}

export interface DueRow {
  row: InstanceRow;
  /** The thresholds that apply to the instance: its own, else its tenant's, else the global ones. */
  thresholds: Thresholds;
}

/** What of a row is compared before it is taken from a host. */
type RowAsSeen = Pick<InstanceRow, 'id' | 'generation' | 'ownerHost' | 'ownerToken'>;

/** A row that is taken from a host which is dead. */
export interface RowTaking {
  row: RowAsSeen;
  from: HostAsSeen;
  /** Whose it is from now on, and what is done about it; null: nobody's, because it is whole in the store. */
  by: { intent: Intent; order: SeriesOrder; owner?: RowOwner } | null;
  ledger: LedgerEntry[];
}

export interface InstanceStore {
  /**
   * Inserts a row in state `created` with its ledger line. Throws `conflict` for an id ever used or a name taken in the
   * tenant, `quota_exceeded`.
   */
  create(instance: NewInstance, now: number, ledger: LedgerEntry): Promise<InstanceRow>;
  /**
   * The tenant of a row, tombstones included, or null. Read from an index alone, and as an aggregate: an unknown id
   * gives a row too, so that timing does not reveal whether an id exists.
   */
  tenantOf(id: InstanceId): Promise<string | null>;
  /** The row, tombstones included, or null. */
  get(id: InstanceId): Promise<InstanceRow | null>;
  /**
   * Changes the settings of a row, with its ledger line. Null when there is no such row. Throws `conflict` for a taken
   * name and `gone` for a deleted instance. `asRead`: the row as the caller read it; when its settings have changed
   * since, nothing is changed and `precondition_failed` is thrown.
   */
  patch(
    id: InstanceId,
    patch: InstancePatch,
    now: number,
    ledger: LedgerEntry,
    asRead?: InstanceRow,
  ): Promise<InstanceRow | null>;
  /**
   * Adds labels and removes those whose value is null, with its ledger line. When nothing would change, or there would
   * be more than `most` labels, nothing is changed and no line is written. Null when there is no such row. Throws
   * `gone` for a deleted instance.
   */
  relabel(
    id: InstanceId,
    labels: Readonly<Record<string, string | null>>,
    most: number,
    ledger: LedgerEntry,
  ): Promise<'changed' | 'same' | 'too_many' | null>;

  /**
   * Writes the intent of an operation before its first effect: compare-and-set on (state, generation) of a row without
   * another intent. False when the row has changed or has an intent. Throws `quota_exceeded` when the operation leads
   * to `active` and the tenant has no active or waking instance left. Survives a kill of the process at once; survives
   * power loss with the next committed transaction, or at once when it is `durable`. The row is `owner`'s from then on;
   * false also for a row that another acquisition has, or another host's. `order`: what orders the series of its
   * replica, as the caller read it and from now on; false also when that is another by now.
   */
  begin(
    id: InstanceId,
    intent: Intent,
    options?: {
      durable?: boolean;
      owner?: RowOwner;
      writeId?: string | null;
      order?: { was: SeriesOrder; is: SeriesOrder };
    },
  ): Promise<boolean>;
  /**
   * Clears the intent, keeps the state and appends the lines: the operation did not happen. `file`: the new facts of a
   * file that was moved and put back; the generation then grows by one. Returns the new row. Throws `conflict` when the
   * row has another token than `owner`.
   */
  abandon(
    id: InstanceId,
    patch: {
      fault?: { fault: Fault; reason: string } | null;
      failures?: number;
      file?: FileRecord | null;
      writeId?: string;
    },
    ledger: LedgerEntry[],
    owner?: RowOwner,
  ): Promise<InstanceRow>;
  /**
   * The only writer of `state`: compare-and-set on (state, generation, token), generation + 1 for every hop, intent
   * cleared, failures reset to 0, ledger lines appended, all in one durable transaction. The hops must be in the state
   * map, or lead back to the same state (a refiling). Returns the new row. Throws `conflict` when the row has changed,
   * `invalid_transition` for a hop that is not in the map, and `quota_exceeded` when its tenant may have no further
   * active instance.
   */
  commit(transition: Transition): Promise<InstanceRow>;
  /**
   * Sets or clears a fault without a transition, with its ledger line. `asRead`: the row by which that was decided;
   * false, with nothing written, when it has another generation or another owner by now.
   */
  setFault(
    id: InstanceId,
    fault: { fault: Fault; reason: string } | null,
    ledger: LedgerEntry,
    asRead?: Pick<InstanceRow, 'generation' | 'ownerToken'>,
  ): Promise<boolean>;
  /**
   * Records the background check of a file at rest, and the bytes of its volumes when known, if the row still has that
   * generation.
   */
  recordCheck(
    id: InstanceId,
    generation: number,
    check: { sha256: string; quickCheck: string | null },
    volumes?: Record<Volume, number>,
  ): Promise<void>;
  /**
   * Records that the file of a row is whole in the store: compare-and-set on (generation, path) of a row at rest
   * without an intent, with its ledger lines and the states of its names (store-names.ts) in one durable transaction.
   * The row then names the object and is anybody's; the generation stays. Null when the row or the recorded
   * hash is another one, and when the name is not one whose upload was begun. May be repeated.
   */
  recordStored(record: StoredRecord): Promise<InstanceRow | null>;
  /**
   * Records the stat of a file that was brought back to its drawer, if the row still has that generation and no intent.
   * What is known of the bytes stays.
   */
  recordBrought(id: InstanceId, generation: number, file: FileRecord): Promise<void>;
  /**
   * Rows at rest in a drawer on disk that a store may be below, and which are not in it: in the order of tenant and id,
   * after `after`. `host`: only rows of that one or of nobody.
   */
  uploadsDue(after: { tenant: string; id: string }, limit: number, host?: string): Promise<InstanceRow[]>;
  /** How many there are of these, of all hosts or of one and of nobody. */
  uploadBacklog(host?: string): Promise<UploadBacklog>;
  /** Rows that name an object in the store, in the order of their ids after `after`. */
  inStore(after: string, limit: number): Promise<InstanceRow[]>;
  /** Number of rows that name an object in the store. */
  countInStore(): Promise<number>;
  /** The same with the bytes of their objects. Reads each of these rows. */
  sizeInStore(): Promise<{ sandboxes: number; bytes: number }>;
  /**
   * Sets `updated` (never backwards) and `bytes` of many rows in one transaction; skips unknown and deleted ones, and
   * the bytes of rows that are not `owner`'s any more.
   */
  touch(touches: { id: InstanceId; updated: number; bytes?: number | null; owner?: RowOwner }[]): Promise<void>;
  /**
   * Sets `updated` back to `now` in at most `limit` rows that are not deleted, where it is more than `slack` seconds
   * later, and their due time with it. Returns the number of rows. Happens only when the clock was set back. `host`:
   * only rows of that one or of nobody.
   */
  clampUpdated(now: number, slack: number, limit: number, host?: string): Promise<number>;

  list(request: ListRequest): Promise<RowPage<InstanceRow>>;
  /** Number of matching rows, exact up to `cap`; above it `cap + 1`. Uses maintained counts where possible. */
  count(filter: ListFilter, cap: number): Promise<number>;
  /**
   * The total that a list shows: exact up to `cap`, unless some thousand rows had to be read for that; then a round
   * number that there are at least.
   */
  total(filter: ListFilter, cap: number): Promise<RowCount>;
  /** Instances per state, of all or some tenants; maintained, never scanned. */
  countsByState(tenants?: readonly string[]): Promise<Record<State, number>>;
  /**
   * Instances per fault, without deleted ones: maintained for all tenants; for some tenants the faulted rows are
   * scanned.
   */
  countsByFault(tenants?: readonly string[]): Promise<Record<Fault, number>>;
  /** Tenants that have or had instances, in order, with their maintained counts. */
  tenants(): Promise<{ tenant: string; counts: Record<State, number> }[]>;

  /**
   * Rows that may move by themselves at `now` (down the ladder, or to the end of an ephemeral sandbox), soonest first,
   * at most `limit`. The cost depends on the due rows only: kept hot, held, blocked and pending rows are not read.
   * `host`: only rows of that one or of nobody.
   */
  due(now: number, limit: number, host?: string): Promise<DueRow[]>;
  /** Rows that fall due up to `until` (epoch seconds), soonest first, for the overview. */
  dueUntil(until: number, limit: number, tenants?: readonly string[]): Promise<DueRow[]>;
  /**
   * Number of rows that fall due in each of `slots` spans of `seconds` from `from` (epoch seconds) on, by target state;
   * overdue rows count in the first. Reads one index, and of each span `most` rows at most: what is due later in it is
   * left out.
   */
  dueCounts(
    spans: { from: number; seconds: number; slots: number; most: number },
    tenants?: readonly string[],
  ): Promise<Record<DueTarget, number>[]>;
  /**
   * Rows with an intent, and rows in state `active`: what a start has to check. `host`: only rows of that one or of
   * nobody.
   */
  unsettled(host?: string): Promise<InstanceRow[]>;
  /**
   * Takes a row from a host that is dead, in one transaction that compares both: nobody has acquired the row since it
   * was read, and the host has not renewed or begun since it was seen. A renewal at the same time waits for that, so
   * whoever renews and reads its rows afterwards knows what was taken. Returns the row; null: one of both is another by
   * now. May be repeated.
   */
  takeOver(taking: RowTaking): Promise<InstanceRow | null>;
  /** Every row that has a file, in id order after `after`, for the scrubber and orphan search. */
  withFile(after: string, limit: number): Promise<InstanceRow[]>;
  /**
   * Those of these sandboxes whose rows have the token that is given for them, in one statement: nobody has acquired
   * them since. A host asks for its own (registry-of-host.ts), without tokens.
   */
  stillHeld(ids: readonly InstanceId[], tokens?: ReadonlyMap<InstanceId, string>): Promise<InstanceId[]>;

  /**
   * Inserts a row for a file that is already at its `vfsPath` and moves it to `to`, in one transaction with its lines.
   * For a sandbox that existed before. `filed`: its file is in the store, and the row names it there; its name there is
   * one that this registry has never recorded, else `conflict`. Throws as `create` does, and `invalid_transition`.
   */
  adopt(
    instance: NewInstance,
    to: State,
    now: number,
    ledger: LedgerEntry[],
    filed?: FiledInStore,
  ): Promise<InstanceRow>;
}
