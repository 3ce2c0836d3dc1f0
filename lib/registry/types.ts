/**
 * The rows that the registry keeps and their parts: what its subjects have in common. Types alone, of nothing above.
 */
import type { NextMove } from '../lifecycle/ladder.ts';
import type { State, Verb } from '../lifecycle/states.ts';
import type { Fault, Source, Trigger, Via } from '../lifecycle/words.ts';

/** One page of a list, and where the next begins. */
export interface RowPage<T> {
  rows: T[];
  /** Cursor of the page after, or null at the end. */
  next: string | null;
}

/** What was recorded of a file when it was filed. A thaw trusts a file whose stat is as recorded. */
export interface FileRecord {
  size: number;
  /** Decimal strings: inode numbers and nanosecond times do not fit a double. */
  inode: string;
  mtimeNs: string;
  ctimeNs: string;
  /** Where the file rests in a drawer that is not on a local disk: its tag there. The three above are then empty. */
  tag?: string;
  /** Lower-case hex; null until the background check has run. */
  sha256: string | null;
  /** Result of `quick_check`, `ok` or its first complaint; null until it has run. */
  quickCheck: string | null;
  /**
   * The random mark in the file, which no other has; null when it has none or it is not known. Records of an earlier
   * time lack it.
   */
  identity?: string | null;
  /**
   * Set while a log of its own lies beside it, which could not be taken up yet: it is, or is tried, before anything
   * opens the file.
   */
  unsettled?: true;
}

/** The intent of an operation under way, written before its first effect. */
export interface Intent {
  verb: Verb | 'prefetch' | 'restore';
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
}

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
  /**
   * What was recorded when the file was last filed; while it is in use only its inode still holds. Null when there is
   * none.
   */
  file: FileRecord | null;
  /** Failures of filing in a row; the third raises `unknown`. */
  failures: number;
  labels: Record<string, string>;
}

/** A row to insert. `file` and `bytes` describe a file that lies at `vfsPath` already. */
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

export interface Thresholds {
  idleToSuspendSeconds: number;
  idleToFreezeSeconds: number;
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

/** A transition in the ledger, as the simulator needs it. */
export interface RecordedTransition {
  timeMs: number;
  instance: string;
  from: State;
  to: State;
  trigger: Trigger;
  source: Source | null;
  reason: string | null;
}

/** States that the ladder moves to, and those that end an ephemeral sandbox. */
export type DueTarget = NextMove['state'];
