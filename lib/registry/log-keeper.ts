/**
 * Who decides when the log of an open registry goes: what was committed and is not in the registry's file yet. Without
 * a keeper SQLite writes the log into the file now and then, and the next commits over the log. With one that happens
 * only once the keeper lets it go, because all of it is safe elsewhere or was given up. A registry in memory has no log
 * and no keeper.
 *
 * Every method is synchronous: nobody writes between the question and the checkpoint that follows it. None throws.
 */

/** The log of an open registry. */
export interface OpenLog {
  /**
   * Absolute path. The log may be read by descriptor; the registry's file beside it and its index never, in this
   * process: closing any descriptor of them drops the locks of SQLite.
   */
  readonly path: string;
  /** Frames (pages) that are in the log now, written into the file or not. Null: it could not be asked. */
  frames(): number | null;
  /**
   * Asks the keeper, and writes the log into the file as far as no reader needs it. False when the disk failed: nothing
   * is lost, as the log stays.
   */
  checkpoint(): boolean;
}

export interface RegistryLogKeeper {
  /** The registry's file (absolute and real path) is about to be opened, or made. It may be looked at, not opened. */
  opening(file: string): void;
  /** It is open. Since `opening` nothing was written into the file itself, but where it was made. */
  opened(log: OpenLog): void;
  /** Whether the log may go now. False: it stays, and the keeper has it checkpointed later. */
  mayGo(): boolean;
  /** The log is about to go, and what was removed from the registry with it. Whatever was kept of it is given up. */
  forgetting(): void;
  /** The log is empty, and nothing in the file is of before. */
  forgot(): void;
  /** The registry is about to be closed. Afterwards the log goes, kept or not. */
  closing(): void;
  /** It is closed: the file is all of it, unless another process has it open. */
  closed(): void;
}
