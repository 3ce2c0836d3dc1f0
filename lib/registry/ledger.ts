/**
 * The ledger: lines that are appended in the transaction of what they tell of, chained by hashes, and never changed.
 */
import type { Trigger } from '../lifecycle/words.ts';
import type { ChainedLine, ChainHead } from './chain.ts';
import type { Segment } from './segments.ts';
import type { LedgerEntry, LedgerLine, RecordedTransition, RowPage } from './types.ts';

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

/** The whole chain as one moment has it, whatever is appended meanwhile. Costs something until it is closed. */
export interface LedgerView {
  /** Lines after `seq`, oldest first. */
  lines(seq: number, limit: number): Promise<ChainedLine[]>;
  segments(): Promise<Segment[]>;
  close(): Promise<void>;
}

export interface LedgerStore {
  /**
   * Appends the lines. Here and wherever lines are appended, refusals and failures that repeat are counted: the first
   * is a line, the next ones are one line a window (lib/registry/repeat-throttle.ts).
   */
  append(entries: LedgerEntry[]): Promise<void>;
  /** Writes what was counted of refusals that repeated: what is due at `nowMs`, or all of it. */
  appendRepeatCounts(nowMs: number, options?: { all?: boolean }): Promise<void>;
  page(filter: LedgerFilter, limit: number, cursor?: string): Promise<RowPage<LedgerLine>>;
  /** Lines after `seq`, oldest first: what a reconnecting stream missed. */
  after(seq: number, limit: number): Promise<LedgerLine[]>;
  /** Those of some tenants after `from` and up to `to`, oldest first. */
  ofTenants(tenants: readonly string[], between: { from: number; to: number }, limit: number): Promise<LedgerLine[]>;
  lastSeq(): Promise<number>;
  /** Lines after `seq` with their hashes, oldest first. */
  chain(seq: number, limit: number): Promise<ChainedLine[]>;
  /** All of it as it is now, to be walked at leisure. */
  view(): Promise<LedgerView>;
  /** Number and hash of the last line ever appended. */
  head(): Promise<ChainHead>;
  /**
   * Hops since `sinceMs`, newest first, of everything or of some tenants, as they are at one moment, in pieces between
   * which others run.
   */
  transitions(sinceMs: number, tenants: readonly string[] | undefined): Promise<AsyncIterable<RecordedTransition[]>>;
}
