/**
 * The contract of a drawer, where files rest: cold, archive, snapshots, blueprints. Files on disk today; an object
 * store can implement it, because nothing here depends on where an object is stored. Every driver passes the suite in
 * testing/contract-suite.ts. A drawer knows keys, and local paths only as the source or target of bytes; it knows
 * nothing of rows, states or what is in a file. The live drawer is a folder, since processes open the files in it.
 *
 * Each method either happens whole or not at all, also when the process is killed in the middle, and may be repeated.
 */
import { COPY_KINDS } from '../base/copy-paths.ts';
import type { DrawerStat } from './stamp.ts';

/**
 * The file is in place. `makeDurable` resolves once a power loss cannot undo that; a caller that must not wait for the
 * disk calls it later.
 */
export interface Placed {
  /**
   * True when it was moved: its source is gone. Otherwise the caller removes the source once the row names the new
   * place.
   */
  readonly moved: boolean;
  makeDurable(): Promise<void>;
}

/** Suffixes of the files that SQLite keeps beside a file. */
export type LogSuffix = '-wal' | '-journal' | '-shm';

/** The file itself (`''`), or one beside it. */
export type FilePart = '' | LogSuffix;

/** The files beside a file. `size` is null for anything but a regular file. */
interface Neighbour {
  part: LogSuffix;
  size: number | null;
}

/** A file in a drawer. Getting one does no I/O and does not imply that the file exists. */
export interface RestingFile {
  /** The address that the row shows, such as `cold/a.sqlite`. A name: only a driver may derive a path from it. */
  readonly address: string;
  /** True when its bytes are zstd-compressed. */
  readonly packed: boolean;
  /** Null when there is no such file. */
  stat(): Promise<DrawerStat | null>;
  /**
   * Runs `look` with the absolute path of a local file that has the stored bytes. A driver with local files passes its
   * own and copies nothing; any other removes its copy afterwards. `look` changes nothing, except that SQLite may
   * replay a log that lies beside the file. Throws `missing_file`, and the errors of `look`.
   */
  read<T>(look: (path: string) => Promise<T>): Promise<T>;
  /** Removes the file, or a file beside it, durably. A missing one is no error. */
  remove(part?: FilePart): Promise<void>;
  /**
   * The files beside the file, which SQLite would take for its log. Only a driver whose objects are local files can
   * have any.
   */
  neighbours(): Promise<Neighbour[]>;
  /** Moves a part, as stored, to the local path `target`, durably. Throws `missing_file`. */
  takeOut(part: FilePart, target: string): Promise<void>;
  /** Moves a part that `takeOut` took back from the local path `source`, durably; replaces an existing one. */
  giveBack(source: string, part: FilePart): Promise<void>;
  /**
   * Runs `write` on a temporary local path, to which it writes the bytes to be stored, and stores them durably;
   * replaces an existing file. `isSynced`: `write` fsyncs the file. Throws the errors of `write`, and the file is then
   * unchanged.
   */
  replace(write: (path: string) => Promise<void>, options?: { isSynced?: boolean }): Promise<void>;
  /** Bytes that the stored file takes; on disk those of its blocks. Null when there is no such file. */
  allocatedBytes(): Promise<number | null>;
}

/** The status of a drawer, found without writing to it. */
export interface DrawerStatus {
  /** True when files can be put in and taken out, as far as permissions tell. */
  writable: boolean;
  /** Opaque. Moving a file between two places of one volume copies nothing. Null: every file is copied. */
  volume: string | null;
}

/** Number of files in a drawer, and their stored bytes. */
export interface DrawerUsage {
  files: number;
  bytes: number;
}

export interface Drawer {
  /** Prepares the drawer for files. Called once before the first one; nothing else needs it. May be repeated. */
  prepare(): Promise<void>;
  /** The file of `key`. */
  at(key: string): RestingFile;
  /**
   * Stores a clean, closed file under `key`, durably, replacing nothing: throws `conflict` when the key is taken.
   * Returns the SHA-256 of the bytes that it read (lower-case hex), or null when it moved the file without reading it.
   * A moved source is gone; any other still exists, and the caller removes it once the row names the drawer.
   */
  put(source: string, key: string): Promise<string | null>;
  /**
   * Brings the file of `key`, expanded, to the local path `target`, whose folder exists. Throws `missing_file` when the
   * drawer has no such key and `corrupt` when it cannot be expanded. When the key is not `moved`, the target is on disk
   * already.
   */
  fetch(key: string, target: string): Promise<Placed>;
  /**
   * Every key in the drawer, in no order, in pages, so that many keys cost few turns of the event loop. Opens no file.
   */
  keyPages(): AsyncIterable<readonly string[]>;
  /** Counts the files and their bytes. Rejects with the reason of `signal` once that is aborted. */
  usage(signal: AbortSignal): Promise<DrawerUsage>;
  status(): Promise<DrawerStatus>;
  /**
   * Throws when the drawer cannot store a file now: stores as many bytes as the smallest file of a sandbox has, and
   * removes them again.
   */
  probe(): Promise<void>;
  /** Removes every file and all unfinished work, durably. */
  clear(): Promise<void>;
}

/** The drawers except the live one, by purpose. */
export const DRAWER_KINDS = ['cold', 'archive', ...COPY_KINDS] as const;
export type DrawerKind = (typeof DRAWER_KINDS)[number];

/** The drawers of a host, without the live one. */
export type Drawers = Readonly<Record<DrawerKind, Drawer>>;
