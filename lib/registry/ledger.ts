/**
 * The ledger: lines that are appended in the transaction of the change that they describe, chained by hashes, never
 * changed.
 */
import type { InstanceId } from '../base/ids.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Trigger } from '../lifecycle/words.ts';
import type { ChainedLine, ChainHead } from './chain.ts';
import type { Segment } from './segments.ts';
import type { LedgerEntry, LedgerLine, LifeLine, RecordedTransition, RowPage } from './types.ts';

export interface LedgerFilter {
  tenant?: string;
  /** Lines of these tenants only; lines without a tenant are left out. */
  tenants?: readonly string[];
  instance?: InstanceId;
  type?: string;
  actor?: string;
  trigger?: Trigger;
  requestId?: string;
  /** Epoch seconds, inclusive. */
  since?: number;
  until?: number;
}

/** A consistent snapshot of the whole chain, whatever is appended meanwhile. Holds resources until it is closed. */
export interface LedgerView {
  /** Lines after `seq`, oldest first. */
  lines(seq: number, limit: number): Promise<ChainedLine[]>;
  segments(): Promise<Segment[]>;
  close(): Promise<void>;
}

export interface LedgerStore {
  /**
   * Appends the lines. Here and wherever lines are appended, refusals and failures that repeat are counted: the first
   * is a line, the next ones are one line a window (lib/registry/repeat-throttle.ts). `writeId`: a random id; one that
   * was used before changes nothing.
   */
  append(entries: LedgerEntry[], writeId?: string): Promise<void>;
  /** Writes one line for each refusal that repeated: those whose window has ended at `nowMs`, or all of them. */
  appendRepeatCounts(nowMs: number, options?: { all?: boolean }): Promise<void>;
  page(filter: LedgerFilter, limit: number, cursor?: string): Promise<RowPage<LedgerLine>>;
  /** Lines after `seq`, oldest first, for a stream that reconnects. */
  after(seq: number, limit: number): Promise<LedgerLine[]>;
  /** Lines of some tenants after `from` and up to `to`, oldest first. */
  ofTenants(tenants: readonly string[], between: { from: number; to: number }, limit: number): Promise<LedgerLine[]>;
  lastSeq(): Promise<number>;
  /** Lines after `seq` with their hashes, oldest first. */
  chain(seq: number, limit: number): Promise<ChainedLine[]>;
  /** Opens a snapshot of the whole chain as it is now. */
  view(): Promise<LedgerView>;
  /** Number and hash of the last line ever appended. */
  head(): Promise<ChainHead>;
  /**
   * The same as far as this process has announced it: it answers while the registry is away, too, and for a registry
   * that went back to an older state the newest one that was acknowledged.
   */
  acknowledged(): Promise<ChainHead>;
  /**
   * Transitions since `sinceMs`, newest first, of all or some tenants: a snapshot of one moment, in batches between
   * which other work runs.
   */
  transitions(sinceMs: number, tenants: readonly string[] | undefined): Promise<AsyncIterable<RecordedTransition[]>>;
  /** The first `limit` lines of a sandbox in a span, oldest first. `toMs` is exclusive. */
  linesBetween(id: InstanceId, span: SpanMs, limit: number): Promise<LifeLine[]>;
  /** How many lines of a sandbox there are in a span, at most `limit`. */
  countBetween(id: InstanceId, span: SpanMs, limit: number): Promise<number>;
  /** The state that the last hop before a moment led to; null when there is none among the last thousand lines. */
  lastHopBefore(id: InstanceId, beforeMs: number): Promise<State | null>;
}

/** Epoch milliseconds. `toMs` is exclusive. */
interface SpanMs {
  fromMs: number;
  toMs: number;
}
