/** What a row keeps of its file, and of the operation that is under way on it. Kept as JSON. */
import type { State } from '../lifecycle/states.ts';
import type { Trigger, Via } from '../lifecycle/words.ts';

/** What was recorded of a file when it was filed. A thaw trusts a file whose stat is as recorded. */
export interface FileRecord {
  size: number;
  /** Decimal strings: inode numbers and nanosecond times do not fit a double. */
  inode: string;
  mtimeNs: string;
  ctimeNs: string;
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
  verb: 'resume' | 'suspend' | 'freeze' | 'archive' | 'revive' | 'delete' | 'prefetch' | 'restore';
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
