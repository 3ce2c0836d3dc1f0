/** How the registry itself is: whether it answers, how large it is, and what mends it. */
import type { State } from '../lifecycle/states.ts';
import type { LedgerEntry } from './types.ts';

/** How large the registry is and what its rows know of their files. */
interface RegistrySizes {
  /** Of its own file, and of that what holds nothing now. */
  bytes: number;
  freeBytes: number;
  /** Instances, and bytes of their files, by state. */
  rows: Record<State, number>;
  fileBytes: Record<State, number>;
}

/**
 * What opening it did to data of an older version: how many migrations it had and has, and where a copy of it from
 * before is (an absolute path).
 */
export interface Upgrade {
  from: number;
  to: number;
  copy: string;
}

export interface MaintenanceStore {
  /** Maintained, never scanned. */
  sizes(): Promise<RegistrySizes>;
  /** A round trip that proves the registry answers and writes. */
  ping(): Promise<void>;
  /**
   * Whether what it is kept in is whole: `ok`, or the first complaint. Takes seconds where there is much, in a thread
   * of its own, which ends with `signal`: it rejects then, and when it cannot be read.
   */
  check(signal: AbortSignal): Promise<string>;
  /** What opening it did to data of an older version; null when nothing was to be done. */
  upgrade(): Promise<Upgrade | null>;
  /**
   * Brings what was committed to where it is to stay, as far as nobody is in the way. False when the disk did not take
   * it: nothing is lost then.
   */
  checkpoint(): Promise<boolean>;
  /**
   * Makes the counts that are not those of the rows again, with a line whose reason names them. Returns their names.
   */
  recount(ledger: LedgerEntry): Promise<string[]>;
}
