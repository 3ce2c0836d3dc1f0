/**
 * The contract of an object store: where files rest that leave the machine. Every driver passes the suite in
 * testing/contract-suite.ts. A store knows names and bytes; it knows nothing of rows, drawers or what is in a file.
 *
 * Of the server behind it nothing is needed but that a whole object can be read once it was written. Names are written
 * once: whoever stores something makes a name that nobody else makes (a random token at its end), records it, and then
 * writes. So a repeated or late request can never replace what another one wrote. An object appears whole or not at
 * all, also when a process is killed in the middle; what is unfinished then is removed by `purge` of its name.
 *
 * Names are relative to the installation's place in the store: parts of `A-Z a-z 0-9 . _ = + @ -` that begin with a
 * letter, a digit or `_`, separated by `/`, 700 characters at most. One name is never another's folder.
 *
 * Errors of all methods: `missing_file` when there is no such object, and for no other reason; `storage_unavailable`
 * with `extra.away` when the store cannot be reached, refuses, or is not what it was: nothing is known of any object
 * then; `validation` for a name of another form. Repeats within one call are bounded, to about half a minute for small
 * documents. Once `signal` is aborted a call rejects with its reason, unless it has ended before.
 */
import type { Readable } from 'node:stream';

export interface ObjectStat {
  /** As stored. */
  bytes: number;
  /** Opaque: changes when other bytes are stored under the name. */
  etag: string;
  /** When it was stored, in epoch milliseconds by the store's clock; or the time that it was stored with. */
  at: number;
}

export interface ListedObject extends ObjectStat {
  name: string;
}

/** A part of an object: both ends included, counted from 0; without `last` to its end. */
export interface ObjectRange {
  first: number;
  last?: number;
}

/** Why a store is away. Shown to people and counted; new ones may come. */
export type AwayReason =
  | 'unreachable'
  | 'timeout'
  | 'failing'
  /** Its disk, or what this account may have. */
  | 'full'
  | 'refused'
  | 'no_bucket'
  | 'no_marker'
  | 'other_installation'
  /** A later start of the same installation has the store. */
  | 'taken_over';

/** Each is null when it could not be found out, as without the permission to ask. */
export interface StoreTraits {
  /** The bytes that were written are read back, by a range too. */
  read: boolean;
  /** A new object is in the next list. Nothing needs it. */
  list: boolean;
  /** A removed object is gone. */
  remove: boolean;
  /** A write on condition that the name is free: made when it is free, and refused when it is taken. */
  ifAbsentMade: boolean | null;
  ifAbsentRefused: boolean | null;
  /** A write on condition of an etag: made when the object has it, and refused when it has another one. */
  ifMatchMade: boolean | null;
  ifMatchRefused: boolean | null;
  /** Whether removed and replaced objects are kept as versions. */
  versioning: 'off' | 'on' | 'suspended' | null;
  /** How long objects cannot be removed by default, in days; 0: not at all. */
  lockDays: number | null;
  /** Rules of the store itself that remove objects of this installation: each in a few words. */
  expiry: readonly string[] | null;
}

export interface PutOptions {
  /** Throws `conflict` when the name is taken, as far as the store keeps the condition (`StoreTraits`). */
  ifAbsent?: boolean;
  signal?: AbortSignal;
}

export interface TransferOptions {
  /**
   * The object is compressed by zstd (a packed file). It is stored as it is; it is expanded on the way, and `sha256` is
   * that of the expanded bytes.
   */
  packed?: boolean;
  /** Lower-case hex. Another one is `corrupt`. */
  sha256?: string;
  /**
   * Of what is stored, in epoch milliseconds, where other programs read it: as the time of a file, and in S3 as
   * Litestream's own `litestream-timestamp`. Left out: when it is stored.
   */
  timeMs?: number;
  signal?: AbortSignal;
  /** Called now and then with the bytes that have gone so far. */
  progress?: (bytes: number) => void;
}

export interface DownloadOptions extends TransferOptions {
  /** The bytes of the object. Another number is `corrupt`. */
  bytes?: number;
  /** Writes the expanded bytes of a packed object. */
  expand?: boolean;
}

export interface Transferred {
  /** Of the object, as stored. */
  bytes: number;
  /** Of the object, as stored; lower-case hex. */
  sha256: string;
  /** Of the expanded bytes of a packed object. */
  expandedSha256?: string;
}

export interface ObjectStore {
  /** As in the settings. It never has credentials. */
  readonly url: string;
  /** Stores a document of 1 MiB at most, durably; replaces one of that name. Throws `conflict`, `too_large`. */
  put(name: string, bytes: Uint8Array, options?: PutOptions): Promise<ObjectStat>;
  /**
   * The bytes of a document. Throws `too_large` above `most` bytes (1 MiB by default), and `corrupt` when they are not
   * those that were stored, as far as the store lets it know.
   */
  get(name: string, options?: { most?: number; signal?: AbortSignal }): Promise<Uint8Array>;
  /**
   * A stream of an object, or of a range of it, in this process. It fails when it breaks off. Throws
   * `range_not_satisfiable` when the range begins behind the end.
   */
  open(name: string, options?: { range?: ObjectRange; signal?: AbortSignal }): Promise<Readable>;
  /**
   * Stores a local file (absolute path) under a name that was never used, durably. What it returns is of the bytes that
   * were sent. When `sha256` is another one it throws `corrupt`, and no object appears. The file stays. Throws ENOENT
   * when there is no file.
   */
  upload(name: string, path: string, options?: TransferOptions): Promise<Transferred>;
  /**
   * Writes an object to a new local file (absolute path) whose folder exists, hashed on the way, and on disk when it
   * returns; its name is durable once the caller syncs the folder. Throws `corrupt` when wrong bytes came twice, and
   * EEXIST. On any failure no file is left.
   */
  download(name: string, path: string, options?: DownloadOptions): Promise<Transferred>;
  /** Null when there is no such object. */
  head(name: string, options?: { signal?: AbortSignal }): Promise<ObjectStat | null>;
  /**
   * Objects whose names begin with a prefix (`''` for all), in pages and in no order. A list may be old or incomplete:
   * nothing is concluded from a name that is not in it.
   */
  list(prefix: string, options?: { signal?: AbortSignal }): AsyncIterable<readonly ListedObject[]>;
  /** Removes an object, durably. A missing one is no error. Under versioning older versions stay. */
  remove(name: string, options?: { signal?: AbortSignal }): Promise<void>;
  /**
   * Removes everything under exactly this name: the object, its versions and markers, unfinished uploads. Returns until
   * when bytes of it remain all the same, in epoch milliseconds: a lock of the store keeps them; null: nothing remains.
   */
  purge(name: string, options?: { signal?: AbortSignal }): Promise<{ remainsUntil: number | null }>;
  /** Copies an object within the store, to a name that was never used. */
  copy(from: string, to: string, options?: { signal?: AbortSignal }): Promise<ObjectStat>;
  /** What the store keeps of what it is asked for, found by trying; it leaves nothing. */
  traits(options?: { signal?: AbortSignal }): Promise<StoreTraits>;
  /** Ends transfers that are under way and lets go of connections. May be repeated. */
  close(): Promise<void>;
}

/** Bytes that a document may have. */
export const MOST_DOCUMENT_BYTES = 1024 * 1024;
