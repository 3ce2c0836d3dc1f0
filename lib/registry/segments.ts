import type { LedgerEntry } from './types.ts';

/** A sealed month of the ledger: what remains of it when its lines are dropped. */
export interface Segment {
  /** `2026-11`. */
  id: string;
  firstSeq: number;
  lastSeq: number;
  lines: number;
  /** The hash before its first line. */
  previousHash: string;
  firstHash: string;
  lastHash: string;
  /** Epoch milliseconds, as the two below. */
  sealedMs: number;
  /** `did:key` of the signatures, which are base64url. */
  issuer: string;
  signature: string;
  exportedMs: number | null;
  /** When it was marked for dropping; from then on its lines are removed. */
  droppedMs: number | null;
  dropSignature: string | null;
}

/** The sealed part of the ledger. Segments follow one another without a gap and never change. */
export interface SegmentStore {
  /** All of them, oldest first: twelve a year. */
  list(): Promise<Segment[]>;
  get(id: string): Promise<Segment | null>;
  /** Number of the first line after `seq` at or after `timeMs`, or null. */
  firstSince(seq: number, timeMs: number): Promise<number | null>;
  /** Adds a segment with its ledger line. Throws `conflict` when it exists or does not follow the last one. */
  seal(segment: Omit<Segment, 'exportedMs' | 'droppedMs' | 'dropSignature'>, ledger: LedgerEntry): Promise<void>;
  /** Records the first complete export of its lines. Skips unknown segments. */
  markExported(id: string, timeMs: number): Promise<void>;
  /**
   * Marks a segment for dropping, with its ledger line. Throws `conflict` unless it was exported and is not marked yet.
   */
  markDropped(id: string, mark: { timeMs: number; signature: string }, ledger: LedgerEntry): Promise<void>;
  /** Removes lines of marked segments, oldest first, at most `limit`. Returns how many it removed. */
  deleteDropped(limit: number): Promise<number>;
}
