/**
 * Reads the ledger in a registry file that another process may own: lines with their hashes, sealed months, the head.
 */
import { desc, gt, placeholder } from '../../../db/drizzle.ts';
import { events, ledgerSegments } from '../../../db/schema.ts';
import { CHAIN_START, type ChainedLine, type ChainHead } from '../chain.ts';
import type { Segment } from '../segments.ts';
import type { RegistryFileReader } from './file-reader.ts';

export interface LedgerReader {
  /** False for a file without tables. */
  readonly chained: boolean;
  /** Lines after `seq`, oldest first; none of a file without tables. */
  lines(seq: number, limit: number): ChainedLine[];
  segments(): Segment[];
  /** Number and hash of the last line ever appended. */
  head(): ChainHead;
}

export function ledgerReader(file: RegistryFileReader): LedgerReader {
  const columns = file.present(events);
  const chained = 'hash' in columns;
  const lines = file.statement((queries) =>
    queries
      .select(columns)
      .from(events)
      .where(gt(events.seq, placeholder('seq')))
      .orderBy(events.seq)
      .limit(placeholder('limit'))
      .prepare(),
  );
  const segments = file.statement((queries) =>
    queries.select().from(ledgerSegments).orderBy(ledgerSegments.firstSeq).prepare(),
  );
  const last = file.statement((queries) =>
    queries.select({ seq: events.seq, hash: events.hash }).from(events).orderBy(desc(events.seq)).limit(1).prepare(),
  );
  const lastDropped = file.statement((queries) =>
    queries
      .select({ seq: ledgerSegments.lastSeq, hash: ledgerSegments.lastHash })
      .from(ledgerSegments)
      .orderBy(desc(ledgerSegments.lastSeq))
      .limit(1)
      .prepare(),
  );
  return {
    chained,
    lines(seq, limit) {
      if (!chained) return [];
      return lines().all({ seq, limit }) as ChainedLine[];
    },
    segments: () => (chained ? segments().all() : []),
    head() {
      if (!chained) return CHAIN_START;
      return ((last().get() ?? lastDropped().get()) as ChainHead | undefined) ?? CHAIN_START;
    },
  };
}
