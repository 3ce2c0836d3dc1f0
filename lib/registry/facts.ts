/** Small values of the whole installation, by name, that survive a restart. Knows nothing of their meaning. */
import type { LedgerEntry } from './types.ts';

export interface FactStore {
  /** The value stored under a name, or null. The reader parses it. */
  read(name: string): Promise<unknown>;
  /** Stores `value` as JSON, with its ledger line if there is one; `now` in epoch seconds. */
  write(name: string, value: unknown, now: number, ledger?: LedgerEntry): Promise<void>;
}
