/**
 * What the engine tells the replica of the files of sandboxes, and what it asks of it. The engine knows nothing else of
 * replication, and a failure of the replica never fails a wake or a filing: the replica notes it and begins anew, with
 * all pages of the file.
 *
 * A log is the `-wal` beside the file of a sandbox. That of a sandbox that ships is the server's: its processes write
 * over what is in it only after the replica has confirmed it, in `vfs.sqlite-shipped` beside it (see
 * lib/storage/shipped-mark.ts).
 */
import type { InstanceId } from '../base/ids.ts';
import type { FileRecord, InstanceRow } from '../registry/types.ts';
import type { AnswerBarrier } from './promise/answer-barrier.ts';

/** How far the replica of a sandbox is behind what was committed. */
export interface RecoveryPoint {
  /** Epoch milliseconds of the newest state that the store has; null: it has none. */
  atMs: number | null;
  /** Milliseconds for which the store has lacked something that was committed; 0: it has everything; null: unknown. */
  behindMs: number | null;
  as: 'live' | 'filed' | 'none';
}

export interface ReplicaStatus extends RecoveryPoint {
  /** What is promised: `off`, `filed`, seconds such as `1s`, or `sync`. */
  replicate: string;
  /** Whether that holds only once its process was started anew. */
  isFromNextWake: boolean;
}

export interface ReplicaOfFiles {
  /** Holds answers about `sync` sandboxes back. */
  readonly answers: AnswerBarrier;
  /** What is promised of a sandbox was changed, in its row. Synchronous. */
  reclassified(row: InstanceRow): void;
  /**
   * What is promised of a sandbox, and how far it is. Synchronous: asked for each row that is shown. Of one that is
   * awake it looks at the stat of its log.
   */
  describe(row: InstanceRow): ReplicaStatus;
  /** Resolves once the store has everything that a sandbox has committed by now: not while it is away. */
  flush(id: InstanceId): Promise<void>;
  /** Whether the commits of a sandbox are shipped. Synchronous, no disk: asked once for each wake. */
  ships(row: InstanceRow): boolean;
  /**
   * A process is about to open `file` (absolute), which may not be there yet: `isNew`. Its folder is the server's
   * still; what is made in it for the sandbox's user is given to them afterwards. Synchronous; may look at the file.
   */
  opening(row: InstanceRow, file: string, options: { isNew: boolean }): void;
  /** The process has the file open: commits may come. */
  opened(id: InstanceId): void;
  /**
   * The last process is told to put the file to rest in this tick: gives the log a second name, on the same filesystem,
   * where there is one. Synchronous. One without a second name stays beside its file.
   */
  closing(id: InstanceId): void;
  /** The second name (absolute) of the log; null: it has none. Asked right after `closing`, and by a landing. */
  secondName(id: InstanceId): string | null;
  /**
   * No process has the file open any more, and its folder has landed. What the processes left of the log lies beside
   * the file, or has only the second name. Called before anything opens the file. Resolves when the bytes are safe on
   * this disk; never waits for the store. May come again for the same end, and for a row that no process of this server
   * had.
   */
  landed(row: InstanceRow): Promise<void>;
  /**
   * A filing was committed, a dead process's file was settled, or a wake failed. `file`: where it rests, relative to
   * the data folder. `record`: what the row knows of it; null: it is not there, or damaged.
   */
  rested(row: InstanceRow, file: string, record: FileRecord | null): void;
  /**
   * Resolves once what a rest begins is done: it reads the file where it rests. Asked before the file is opened, moved
   * or replaced. Never rejects.
   */
  whenRested(id: InstanceId): Promise<void>;
  /** A filing was rolled back, and its processes go on. */
  goesOn(id: InstanceId): void;
  /** The file of a row was made or replaced by other means: import, salvage, restore, rescue. */
  replaced(id: InstanceId): void;
  /** Another host has taken the sandbox over, and its process here has ended: nothing more of it is shipped. */
  taken(id: InstanceId): Promise<void>;
  /** Tells of each that is found to be another host's. */
  onTaken?(listener: (id: InstanceId) => void): void;
  /** The sandbox was deleted, or forgotten. */
  dropped(id: InstanceId): Promise<void>;
}
