/** The operations about the ledger as a proof: its head, its sealed months, whether it is whole, and taking it away. */
import type { Caller } from '../../auth/caller.ts';
import type { Event, ExportQuery, LedgerProof, LedgerSegment } from '../../contract/schema.ts';
import type { LedgerHead } from '../../ledger/documents.ts';

/** A sealed month on its way out. */
interface SegmentExport {
  /** The texts of its lines, oldest first, in pieces, and at last its signed head; each ends with a newline. */
  texts: AsyncIterable<string>;
  /** To be called when the receiver has taken everything: only then may the segment be dropped one day. */
  taken(): Promise<void>;
}

export interface LedgerOperations {
  /** Walks the whole ledger; a bad one is an answer, not an error. */
  verifyLedger(caller: Caller): Promise<LedgerProof>;
  /** Throws `corrupt` when the ledger is not what was signed before. */
  ledgerHead(caller: Caller): Promise<LedgerHead>;
  /** Oldest first. */
  ledgerSegments(caller: Caller): Promise<LedgerSegment[]>;
  /** Itself a line of the ledger. Throws `not_found`, and `gone` for one whose lines were dropped. */
  exportSegment(caller: Caller, id: string): Promise<SegmentExport>;
  /** The lines that the filter asks for, newest first, in pages. Itself a line of the ledger. */
  exportEvents(caller: Caller, query: ExportQuery): Promise<AsyncIterable<Event[]>>;
}
