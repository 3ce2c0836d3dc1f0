/**
 * The ledger in a registry file, read by whoever does not own the file: as one moment left it, changing nothing, whether a server uses
 * it or not. Knows nothing of what makes a ledger good.
 */
import Database from 'better-sqlite3';
import type { ChainedLine } from '../chain.ts';
import type { Segment } from '../segments.ts';
import type { Value } from './database.ts';
import { chainedLineOf, SELECT_CHAINED, SELECT_CHAINED_BEFORE } from './ledger.ts';
import { SELECT_SEGMENTS, segmentOf } from './segments.ts';

export interface LedgerFile {
  /** Lines after `seq`, oldest first. */
  lines(seq: number, limit: number): ChainedLine[];
  segments(): Segment[];
  close(): void;
}

const BUSY_MS = 5000;

/**
 * Opens the registry file at `path`, which must be there. What is read is of the moment of the first read. Throws what SQLite throws,
 * and for a file from before the ledger was chained.
 */
export function openLedgerFile(path: string): LedgerFile {
  // A read-only connection would leave its -wal and -shm behind, owned by whoever ran it.
  const client = new Database(path, { fileMustExist: true, timeout: BUSY_MS });
  try {
    client.pragma('query_only = ON');
    const has = (column: string) =>
      client.prepare("SELECT 1 FROM pragma_table_info('events') WHERE name = ?").get(column) !== undefined;
    if (!has('hash')) {
      throw new Error('This is not the registry of a Winterdock that chains its ledger: start the server on it once.');
    }
    client.exec('BEGIN');
    const lines = client.prepare<Value[], Value[]>(has('blanked') ? SELECT_CHAINED : SELECT_CHAINED_BEFORE).raw();
    const segments = client.prepare<Value[], Value[]>(SELECT_SEGMENTS).raw();
    return {
      lines: (seq, limit) => lines.all(seq, limit).map(chainedLineOf),
      segments: () => segments.all().map(segmentOf),
      close: () => client.close(),
    };
  } catch (error) {
    client.close();
    throw error;
  }
}
