/**
 * Reading a VFS file: the operations and answers that a reader process, and the Instance of a `:memory:` sandbox,
 * understand. Types only; knows nothing of processes.
 */
import type { EmbeddedRows, EmbeddedTables } from './database-file.ts';
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
  /**
   * The files of a volume with the hashes of their contents, in the order of `list`: at most `limit`, and no more once
   * `bytes` of contents were hashed.
   */
  | { op: 'digests'; volume: Volume; limit: number; bytes: number; after?: string }
  /** The direct children of a folder, one page at a time: see folder.ts. */
  | { op: 'folder'; volume: Volume; path: VfsPath; limit: number; after?: string }
  /** The explicit directories of a volume, as the listing of an archived file keeps them: a page, in their order. */
  | { op: 'directories'; volume: Volume; limit: number; after?: string }
  | { op: 'stat'; volume: Volume; path: VfsPath }
  /** `range`: first and last byte, both inclusive as in HTTP; cut at the end of the file. */
  | { op: 'get'; volume: Volume; path: VfsPath; range?: { start: number; end: number } }
  /** What is at a path, with all below it: see tree-pieces.ts. */
  | { op: 'pieces'; volume: Volume; path: VfsPath; bytes: number }
  /** The tables of a file that is a SQLite database, and the rows of one: see database-file.ts. */
  | { op: 'tables'; volume: Volume; path: VfsPath; limit: number; after?: string }
  | { op: 'rows'; volume: Volume; path: VfsPath; table: string; limit: number; after?: string }
  | { op: 'search'; text: string; in: 'name' | 'content'; volume?: Volume; limit: number }
  | { op: 'query'; sql: string; params?: (string | number | null)[] | Record<string, string | number | null> };

/** A read of one file, which takes a few statements. */
export type PeekRequest = Extract<ReadRequest, { op: 'stat' | 'get' }>;

export interface VfsStat {
  path: string;
  /** Bytes. */
  size: number;
  /** Epoch seconds. */
  mtime: number;
  /** Increases with every write of this path and never repeats; the ETag is made from it. */
  version: number;
}

/** A file, and the hash of its content: SHA-256 in lower-case hex. */
export interface VfsDigest {
  path: string;
  size: number;
  /** Epoch seconds. */
  mtime: number;
  sha256: string;
}

/** A direct child of a folder. */
export interface VfsFolderItem {
  name: string;
  kind: 'file' | 'dir' | 'link';
  /** Size of a file in bytes, or of a link's target; 0 for a directory. */
  size: number;
  /** Epoch seconds. */
  mtime: number;
}

/** The entry at a path of a volume. */
export interface VfsEntry {
  path: string;
  kind: 'file' | 'dir' | 'link';
  /** Size of a file in bytes, or of a link's target; 0 for a directory. */
  size: number;
  /** Permission bits. */
  mode: number;
  /** Epoch seconds. */
  mtime: number;
  /** As in FileStat; 0 for a directory that only a deeper path implies. */
  version: number;
  /** The target of a link, as given; null for anything else. */
  target: string | null;
}

/** An entry that is put elsewhere. The contents of all files of a list follow one another, each with its `size`. */
export type VfsPiece = Pick<VfsEntry, 'path' | 'kind' | 'size' | 'mode' | 'mtime' | 'target'>;

/** Preconditions of a write, by version; `*` means any existing file. All of them must hold. */
export interface WriteCondition {
  /** `If-Match`: one of these versions must be the current one. */
  ifMatch?: '*' | number[];
  /** `If-None-Match`: none of these versions may be the current one; `*`: there must be no file. */
  ifNoneMatch?: '*' | number[];
}

export type ReadAnswer =
  | { op: 'volumes'; volumes: { volume: Volume; files: number; bytes: number }[] }
  | { op: 'list'; files: { path: string; size: number; mtime: number }[]; next: string | null }
  | { op: 'digests'; files: VfsDigest[]; next: string | null }
  | { op: 'folder'; items: VfsFolderItem[]; next: string | null; total: number }
  | { op: 'directories'; paths: string[]; next: string | null }
  | { op: 'stat'; stat: VfsStat | null }
  | { op: 'get'; stat: VfsStat | null; content: Uint8Array | null }
  /** Null: there is nothing. */
  | { op: 'pieces'; pieces: VfsPiece[] | null; content: Uint8Array | null }
  /** Null: there is no such file. */
  | { op: 'tables'; tables: EmbeddedTables | null }
  | { op: 'rows'; rows: EmbeddedRows | null }
  | { op: 'search'; hits: { volume: Volume; path: string; line?: number; text?: string }[]; truncated: boolean }
  | { op: 'query'; columns: string[]; rows: unknown[][]; truncated: boolean };

/** The result of a copy. */
export interface VfsCopy {
  /** Lower-case hex, of the copy's bytes. */
  sha256: string;
  bytes: number;
  /** Always the three volumes; excluded ones are empty. */
  volumes: { volume: Volume; files: number; bytes: number }[];
}

/** How to open the file: `rest` immutable (a filed file), `live` read-only beside its process. */
export interface ReadTarget {
  path: string;
  mode: 'rest' | 'live';
}

export interface MarkLimits {
  maxBytes: number;
  maxFileBytes: number;
  /** False: an empty file is made when there is none. */
  mustExist: boolean;
}

/** Reader processes: they keep SQL and large files off the server's thread, and can be killed. */
export interface Readers {
  /**
   * Runs one read in a reader process. The caller holds the lease. Tenants (`whose`) take turns, however many reads
   * each of them starts. Throws `missing_file`, `corrupt`, `validation` (bad SQL), `not_found` for a query's missing
   * table, `rate_limited` when too many wait; a query over its time is ended and throws `validation`. `conflict` at
   * rest means that a log lies beside the file: settle it first. `storage_unavailable` when the readers stop.
   */
  read<R extends ReadRequest>(
    target: ReadTarget,
    request: R,
    tenant?: string,
  ): Promise<Extract<ReadAnswer, { op: R['op'] }>>;
  /** The SHA-256 of a small file at rest, in lower-case hex. Throws `missing_file`, `storage_unavailable`. */
  hash(path: string): Promise<string>;
  /**
   * Hashes and checks a file at rest, slowly and in the background unless `urgent`. `quickCheck` is `ok` or names the
   * fault. A `packed` file is zstd-compressed: its expanded content is hashed, and `ok` means that it expands.
   * `identity` is the identity in the file, null for none. Throws `missing_file`, `conflict` (not at rest),
   * `storage_unavailable` (aborted).
   */
  check(
    path: string,
    options?: { urgent?: boolean; packed?: boolean },
  ): Promise<{ sha256: string; quickCheck: string; identity: string | null }>;
  /**
   * Recovers the file of a killed process, in a reader process: replays its WAL, checkpoints, leaves WAL mode. tmp is
   * not cleared. A clean file is left unchanged. Throws `corrupt`, `missing_file`; `conflict` while another process has
   * the file open and `storage_unavailable` when the disk fails or the readers stop: neither says anything about the
   * file. Returns its identity, or null. `keepsFrames`: another name of the log keeps every frame.
   */
  settle(path: string, options?: { keepsFrames?: boolean }): Promise<string | null>;
  /**
   * Writes a mark into a file without a process, by which it is recognised later, in a reader process. Returns the
   * mark; null when the file has no room for it. Throws what opening it for a process throws.
   */
  mark(path: string, limits: MarkLimits): Promise<string | null>;
  /**
   * Copies `volumes` of a file into a new file at `path`, in a process of its own: the same rows give the same bytes,
   * deleted rows leave none, and a concurrent write is in the copy as a whole or not at all. The caller holds the
   * lease. `strict` refuses a file with a foreign table. `sha256` is the expected hash of a file at rest; another file
   * is `corrupt`. A copy that is not `durable` (default: it is) is not synced, for files that no restart needs. Throws
   * `missing_file`, `corrupt`, `conflict`, `storage_unavailable`, and then leaves nothing at `path`.
   */
  copy(
    target: ReadTarget,
    path: string,
    options: { volumes: readonly Volume[]; strict?: boolean; durable?: boolean; sha256?: string | null },
  ): Promise<VfsCopy>;
  /**
   * Makes the file at `path` (absolute) one clean file, in a process of its own: the log beside it is taken up. Nothing
   * else may lie in its folder, which is the server's. `from`: the file is first copied from that one, which a process
   * writes, as one moment left it and with everything that is in it. Resolves with the first complaint of SQLite's
   * `quick_check`, or null. Throws `conflict` when `from` cannot be read just now, `storage_unavailable`.
   */
  copyComplete(from: string | null, path: string): Promise<string | null>;
  /** Aborts every copy for good; current and later callers get `storage_unavailable`. Idempotent. */
  breakOffCopies(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}
