/**
 * How an open registry is stored: its size, its check, its log, the copies that upgrades kept. What only a file has is
 * here, so that the other subjects mean the same for every driver.
 */

/**
 * A migration of an older registry: the number of migrations before and after, and the absolute path of the copy from
 * before.
 */
export interface Upgrade {
  from: number;
  to: number;
  copy: string;
}

interface RegistryStorageStatus {
  /** Absolute path of its file; null when it has none. */
  path: string | null;
  /** Names its database for people, where it is on a server; null otherwise. */
  database: string | null;
  bytes: number;
  /** Of `bytes`: pages that hold nothing now. */
  freeBytes: number;
  /** Bytes of the log that is not in the file yet. */
  logBytes: number;
  /** Epoch seconds of the last write to the file itself: only a checkpoint writes there. Null without a file. */
  checkpointed: number | null;
}

export interface RegistryStorage {
  /** Maintained, never scanned. */
  status(): Promise<RegistryStorageStatus>;
  /**
   * Checks the stored pages: `ok`, or the first fault. Takes seconds for a large registry, beside everything else.
   * Rejects when `signal` aborts it and when they cannot be read.
   */
  check(signal: AbortSignal): Promise<string>;
  /** The migration that ran when the registry was opened; null when none was needed. */
  upgrade(): Promise<Upgrade | null>;
  /**
   * Copies the log into the file as far as no reader and no keeper of the log needs it. False when the disk failed;
   * nothing is lost then.
   */
  checkpoint(): Promise<boolean>;
  /** Rewrites everything, so that no removed data is left in free pages or in the text index. */
  compact(): Promise<void>;
  /** Empties the log too. False: a reader prevents it. */
  emptyLog(): Promise<boolean>;
  /** Names of the copies that upgrades kept, in order. Each holds everything of its time. */
  keptCopies(): Promise<string[]>;
  /** Removes them. Returns how many there were. */
  removeKeptCopies(): Promise<number>;
}
