/**
 * Where backups are kept: a folder, or an object store. One driver for each (folder-place.ts, store-place.ts). Names
 * are relative: `objects/<aa>/<sha256>`, `backups/<id>.json`, `retired/<id>.<ms>.json`, `winterdock.json`. Correctness
 * needs that a name can be read once it was written, and nothing else: neither an order of lists nor conditions. Knows
 * nothing of what is in a backup.
 */
import type { ObjectRef } from './manifest.ts';

/** What lies in a place. */
export interface PlacedFile {
  name: string;
  bytes: number;
  /** Epoch milliseconds of when it was written, by the clock of the place. */
  atMs: number;
}

/**
 * Every method rejects with `storage_unavailable`, or an error of the system, when the place does not answer: that is
 * never taken for a missing name.
 */
export interface BackupPlace {
  /** Absolute path of the folder, or the URL of the store, as it was given. */
  readonly name: string;
  /** Lists the files whose names begin with `prefix`, some at a time, in no order. */
  list(prefix: string): AsyncIterable<readonly PlacedFile[]>;
  /** The bytes of a manifest or a mark; null when there is none. */
  read(name: string): Promise<Buffer | null>;
  /** Bytes of a file that is there; null when there is none. */
  bytesOf(name: string): Promise<number | null>;
  /** Writes a manifest or a mark as a whole and durably. */
  write(name: string, text: string): Promise<void>;
  /** Takes a draft, whose bytes are on disk, as a file, durably. The draft is gone then. */
  keep(draft: string, name: string, object: ObjectRef): Promise<void>;
  /**
   * Copies `from`, an object of the store at `url`, to an object of this place, where that is in the same store. False:
   * it is not. Throws `missing_file`, and `corrupt` for one of other bytes.
   */
  copyWithin?(url: string, from: string, name: string, object: ObjectRef): Promise<boolean>;
  /**
   * Path of the bytes of an object: its own, or `to`, a path that nothing is at, to which they were brought. Not
   * verified. Null when there is none.
   */
  fetch(name: string, to: string): Promise<string | null>;
  /** Removes a file. One that is not there is no error. */
  remove(name: string): Promise<void>;
  /** Absolute path of the folder of drafts, which is made; what an earlier run left there is removed. */
  drafts(): Promise<string>;
  /** Keeps others from writing here meanwhile, as far as the place can. Throws `conflict`. Returns the release. */
  hold(): Promise<() => void>;
  /** Whether nobody else seems to write here. True where `hold` keeps all others out. */
  isAlone(): Promise<boolean>;
  /** Removes the drafts. Idempotent. */
  close(): Promise<void>;
}

/** The name of an object in a place. */
export function objectName(sha256: string): string {
  return `objects/${sha256.slice(0, 2)}/${sha256}`;
}
