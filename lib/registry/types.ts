/** The rows of the registry and their parts, shared by its subjects. Types only; imports nothing from higher layers. */
import type { InstanceId } from '../base/ids.ts';
import type { LadderPolicy, NextMove } from '../lifecycle/ladder.ts';
import type { State, Verb } from '../lifecycle/state-map.ts';
import type { Fault, Source, Trigger, Via } from '../lifecycle/words.ts';

/** One page of a list, and where the next begins. */
/** A number of rows. Not exact: at least so many. */
export interface RowCount {
  n: number;
  isExact: boolean;
}

export interface RowPage<T> {
  rows: T[];
  /** Cursor of the next page, or null at the end. */
  next: string | null;
}

/** What was recorded of a file when it was filed. A thaw trusts a file whose stat matches the record. */
export interface FileRecord {
  size: number;
  /** Decimal strings: inode numbers and nanosecond times do not fit a double. */
  inode: string;
  mtimeNs: string;
  ctimeNs: string;
  /** The tag of a file in a drawer that is not on a local disk. The three members above are then empty. */
  tag?: string;
  /** Lower-case hex; null until the background check has run. */
  sha256: string | null;
  /** Result of `quick_check`, `ok` or its first fault; null until it has run. */
  quickCheck: string | null;
  /**
   * The random identity in the file, which no other file has; null when it has none or it is unknown. Older records
   * lack it.
   */
  identity?: string | null;
  /**
   * Set while the file's own log lies beside it and could not be replayed yet. It is replayed, or tried, before
   * anything opens the file.
   */
  unsettled?: true;
}

/** The last whole object of a sandbox in the store. */
export interface StoredObject {
  /** As a row's path would name it: `cloud:<kind>/<id>/<generation>-<token>`. */
  address: string;
  /** The row's generation when the object was made. */
  generation: number;
  /** Of the sandbox's file (lower-case hex): of an archived one, of the expanded bytes. */
  sha256: string;
  /** Bytes of the object: of an archived one, of the packed ones. */
  bytes: number;
  /** Epoch seconds. */
  at: number;
}

/** The intent of a pending operation, written before its first effect. */
export interface Intent {
  verb: Verb | 'prefetch' | 'restore' | 'takeover';
  from: State;
  to: State;
  /** The row's generation when the intent was written. */
  generation: number;
  /** Paths relative to the data folder; null where there is no file. */
  fromPath: string | null;
  toPath: string | null;
  /** Epoch milliseconds. */
  startedMs: number;
  trigger: Trigger;
  actor: string;
  via: Via;
  reason: string | null;
  requestId: string | null;
  /** Of a takeover: the host that it was taken from. */
  former?: string;
}

export interface InstanceRow {
  id: InstanceId;
  tenant: string;
  state: State;
  /** Relative to the data folder, `:memory:`, an address in the store (`cloud:…`), or null. */
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
  hotToWarmSeconds: number | null;
  idleToSuspendSeconds: number | null;
  idleToFreezeSeconds: number | null;
  /** What is promised of its replica (`off`, `filed`, `1s` to `3600s`); null: what its tenant or the server says. */
  replicate: string | null;
  /** Size of the file at rest, or as last measured. */
  bytes: number | null;
  workbook: string | null;
  /** The version that it is docked to. Null without one, and for a name from before there were workbooks. */
  workbookVersion: number | null;
  lineageBlueprint: string | null;
  lineageSnapshot: string | null;
  lineageParent: InstanceId | null;
  /** The record of the last filing; while the file is in use only its inode still matches. Null when there is none. */
  file: FileRecord | null;
  /** Consecutive failures of filing; the third raises `unknown`. */
  failures: number;
  labels: Record<string, string>;
  /** The host that has it awake, carries out an operation on it, or has its newest bytes; null: anybody's. */
  ownerHost: string | null;
  ownerTerm: number | null;
  /** Of one acquisition; null at rest. */
  ownerToken: string | null;
  /** What orders the series of its replica (lib/registry/series-order.ts). */
  seriesTerm: number | null;
  /** The term of the host that acquired it last, whatever became of it since; null: nobody knows. */
  seriesHostTerm: number | null;
  /** Of the last intent or transition that was written with an id. */
  writeId: string | null;
  /** Kept while it is awake; null when nothing of it is in a store. */
  stored: StoredObject | null;
}

/** A server of this registry. */
export interface HostIdentity {
  readonly name: string;
  /** Grows with each new name and each restored registry. Not the ledger's epoch. */
  readonly term: number;
  /** Whether no other host uses the registry meanwhile: it is locked. */
  readonly isAlone: boolean;
}

/** Who writes a row. */
export interface RowOwner {
  host: string;
  term: number;
  /** Of its acquisition; null: it has none, because the sandbox rests. */
  token: string | null;
}

/** A row to insert. `file` and `bytes` describe a file that is already at `vfsPath`. */
export interface NewInstance {
  id: InstanceId;
  tenant: string;
  name: string | null;
  vfsPath: string | null;
  ephemeral: boolean;
  policy: string;
  keepHot: boolean;
  hotToWarmSeconds: number | null;
  idleToSuspendSeconds: number | null;
  idleToFreezeSeconds: number | null;
  replicate?: string | null;
  labels: Record<string, string>;
  workbook: string | null;
  workbookVersion?: number | null;
  lineageBlueprint: string | null;
  lineageSnapshot: string | null;
  lineageParent: InstanceId | null;
  file?: FileRecord | null;
  bytes?: number | null;
  /** Whose disk has the file, where that is one host's alone. */
  host?: HostIdentity;
  /** A random id, stored with the row. */
  writeId?: string;
}

/** What applies to a sandbox as it idles: the ladder’s thresholds, and when its process is paused. */
export interface Thresholds extends LadderPolicy {
  /** Idle seconds after which a running process is paused; 0: never. Moves no sandbox. */
  hotToWarmSeconds: number;
}

/** A ledger line before it has its sequence number. */
export interface LedgerEntry {
  timeMs: number;
  instance: InstanceId | null;
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
  /** Address of the requesting peer, if there was one. */
  address: string | null;
}

export interface LedgerLine extends LedgerEntry {
  seq: number;
}

/** A transition in the ledger, as the simulator needs it. */
export interface RecordedTransition {
  timeMs: number;
  instance: InstanceId;
  from: State;
  to: State;
  trigger: Trigger;
  source: Source | null;
  reason: string | null;
}

/** A line of the ledger, as far as the life of its sandbox is drawn from it. */
export type LifeLine = Pick<
  LedgerEntry,
  'timeMs' | 'type' | 'from' | 'to' | 'trigger' | 'source' | 'tookMs' | 'reason'
>;

/** States that the ladder moves to, and states that end an ephemeral sandbox. */
export type DueTarget = NextMove['state'];
