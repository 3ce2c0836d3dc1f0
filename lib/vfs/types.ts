/**
 * Reading a VFS file: the operations and answers that a reader process, and the Instance of a `:memory:` sandbox,
 * understand. Types only; knows nothing of processes.
 */
import type { VfsPath } from './paths.ts';
import type { Volume } from './volumes.ts';

/** A path in a volume. */
export interface VfsAddress {
  volume: Volume;
  path: VfsPath;
}

export type ReadRequest =
  | { op: 'volumes' }
  | { op: 'list'; volume: Volume; prefix?: string; limit: number; after?: string }
  /** What lies directly in a folder, a page at a time: see folder.ts. */
  | { op: 'folder'; volume: Volume; path: VfsPath; limit: number; after?: string }
  /** The directories of a volume that were made, as the listing of an archived file keeps them. */
  | { op: 'directories'; volume: Volume }
  | { op: 'stat'; volume: Volume; path: VfsPath }
  /** `range`: first and last byte, both inclusive as in HTTP; what lies past the end is left out. */
  | { op: 'get'; volume: Volume; path: VfsPath; range?: { start: number; end: number } }
  | { op: 'search'; text: string; in: 'name' | 'content'; volume?: Volume; limit: number }
  | { op: 'query'; sql: string; params?: (string | number | null)[] | Record<string, string | number | null> };

export interface VfsStat {
  path: string;
  /** Bytes. */
  size: number;
  /** Epoch seconds. */
  mtime: number;
  /** Increases with every write of this path and never repeats; the ETag is made from it. */
  version: number;
}

/** What lies directly in a folder. */
export interface VfsFolderItem {
  name: string;
  kind: 'file' | 'dir' | 'link';
  /** Bytes of a file; of a link's target; 0 for a directory. */
  size: number;
  /** Epoch seconds. */
  mtime: number;
}

/** What is at a path of a volume. */
export interface VfsEntry {
  path: string;
  kind: 'file' | 'dir' | 'link';
  /** Bytes of a file; of a link's target; 0 for a directory. */
  size: number;
  /** Permission bits. */
  mode: number;
  /** Epoch seconds. */
  mtime: number;
  /** As in FileStat; 0 for a directory that only a deeper path implies. */
  version: number;
  /** Where a link points, as it was given; null for anything else. */
  target: string | null;
}

/** Preconditions of a write, by version: `*` any existing file. All that are given must hold. */
export interface WriteCondition {
  /** `If-Match`: versions of which one must be the current one. */
  ifMatch?: '*' | number[];
  /** `If-None-Match`: versions of which none may be the current one; `*`: no file may be there. */
  ifNoneMatch?: '*' | number[];
}

export type ReadAnswer =
  | { op: 'volumes'; volumes: { volume: Volume; files: number; bytes: number }[] }
  | { op: 'list'; files: { path: string; size: number; mtime: number }[]; next: string | null }
  | { op: 'folder'; items: VfsFolderItem[]; next: string | null; total: number }
  | { op: 'directories'; paths: string[] }
  | { op: 'stat'; stat: VfsStat | null }
  | { op: 'get'; stat: VfsStat | null; content: Uint8Array | null }
  | { op: 'search'; hits: { volume: Volume; path: string; line?: number; text?: string }[]; truncated: boolean }
  | { op: 'query'; columns: string[]; rows: unknown[][]; truncated: boolean };

/** A copy of a file that was written. */
export interface VfsCopy {
  /** Lower-case hex, of the file's bytes. */
  sha256: string;
  bytes: number;
  /** Always the three; those left out are empty. */
  volumes: { volume: Volume; files: number; bytes: number }[];
}

/** How to open the file: `rest` immutable (a filed file), `live` read-only beside its process. */
export interface ReadTarget {
  path: string;
  mode: 'rest' | 'live';
}

/** Reader processes: they keep SQL and large files off the server's thread, and can be ended. */
export interface Readers {
  /**
   * Runs one read in a reader process. The caller holds the lease. Tenants (`whose`) take turns, however much each of
   * them asks. Throws `missing_file`, `corrupt`, `validation` (bad SQL), `not_found` for a query's missing table,
   * `rate_limited` when too many wait; a query over its time is ended and throws `validation`. `conflict` at rest means
   * that a log lies beside the file: settle it first. `storage_unavailable` when the readers stop.
   */
  read<R extends ReadRequest>(
    target: ReadTarget,
    request: R,
    whose?: string,
  ): Promise<Extract<ReadAnswer, { op: R['op'] }>>;
  /**
   * Hashes and checks a file at rest, slowly and in the background unless `urgent`. `quickCheck` is `ok` or what is
   * wrong. A `packed` file is zstd-compressed: hashed is what it expands to, and `ok` means that it does. `identity` is
   * the mark in the file, null where there is none. Throws `missing_file`, `conflict` (not at rest),
   * `storage_unavailable` (broken off).
   */
  check(
    path: string,
    options?: { urgent?: boolean; packed?: boolean },
  ): Promise<{ sha256: string; quickCheck: string; identity: string | null }>;
  /**
   * Makes a file that a process left behind clean again, in a reader process: recovers its WAL, checkpoints, leaves WAL
   * mode. tmp stays. A clean file is left as it is. Throws `corrupt`, `missing_file`; `conflict` while anything still
   * holds the file and `storage_unavailable` when the disk fails or the readers stop: neither says anything about the
   * file. Returns its identity, or null.
   */
  settle(path: string): Promise<string | null>;
  /**
   * Writes `volumes` of a file into a new file at `path`, in a process of its own: the same rows give the same bytes,
   * deleted ones leave none, and what is being written meanwhile is in it whole or not at all. The caller holds the
   * lease. `strict` refuses a file with any table that is not of a VFS; `sha256` is what the bytes of a file at rest
   * must have, and another file is `corrupt`. Throws `missing_file`, `corrupt`, `conflict`, `storage_unavailable`;
   * nothing is then left at `path`.
   */
  copy(
    target: ReadTarget,
    path: string,
    options: { volumes: readonly Volume[]; strict?: boolean; sha256?: string | null },
  ): Promise<VfsCopy>;
  /** Ends every copy for good; theirs and later callers get `storage_unavailable`. Idempotent. */
  breakOffCopies(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}
