/**
 * Opens the ledger in a registry file that a server may be using: one consistent snapshot, nothing changed. Does not
 * verify it.
 */
import type { ChainedLine } from '../chain.ts';
import type { Segment } from '../segments.ts';
import { RegistryFileReader } from './file-reader.ts';
import { ledgerReader } from './ledger-reader.ts';

export interface LedgerFile {
  /** Lines after `seq`, oldest first. */
  lines(seq: number, limit: number): ChainedLine[];
  segments(): Segment[];
  close(): void;
}

/**
 * Opens the existing registry file at `path`. Everything is read as of the first read. Throws SQLite's errors, and an
 * error for a file without tables.
 */
export function openLedgerFile(path: string): LedgerFile {
  const file = new RegistryFileReader(path, { oneMoment: true });
  try {
    const ledger = ledgerReader(file);
    if (!ledger.chained) {
      throw new Error(`${path} is not the registry of a Winterdock: it has no ledger.`);
    }
    return { lines: ledger.lines, segments: ledger.segments, close: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  }
}
