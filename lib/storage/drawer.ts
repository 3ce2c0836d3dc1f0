/**
 * The contract of a drawer, where files rest: cold, archive, snapshots, blueprints. Files on disk today; an object
 * store can implement it, because nothing here says where an object lies. Every driver passes the suite in
 * testing/contract-suite.ts. A drawer knows keys, and local paths only as the source or target of bytes; it knows
 * nothing of rows, states or what is in a file. The live drawer is a folder, since processes open the files in it.
 *
 * Each method either happens whole or not at all, also when the process is killed in the middle, and may be repeated.
 */
import { COPY_KINDS } from '../registry/copies.ts';
import type { DrawerStat } from './stamp.ts';

/**
 * The file is in place. `makeDurable` resolves once power loss cannot undo that; whoever cannot wait for the disk asks
 * later.
 */
export interface Placed {
  /** Whether it was moved: its source is gone. Otherwise the caller removes that once the row names the new place. */
  readonly moved: boolean;
  makeDurable(): Promise<void>;
}

/** What SQLite keeps beside a file. */
export type LogSuffix = '-wal' | '-journal' | '-shm';

/** A file as it is kept (`''`), or one that lies beside it. */
export type FilePart = '' | LogSuffix;

/** What lies beside a file. `size` is null for what is no regular file. */
interface Neighbour {
  part: LogSuffix;
  size: number | null;
}

/** A file where it rests. Getting one does no I/O and does not say that the file is there. */
export interface RestingFile {
  /** What the row shows as its place, such as `cold/a.sqlite`. A name: nobody but a driver makes a path of it. */
  readonly address: string;
  /** Whether its bytes are zstd-compressed. */
  readonly packed: boolean;
  /** Null when there is no such file. */
  stat(): Promise<DrawerStat | null>;
  /**
   * Runs `look` with the absolute path of a local file that has the bytes as they are kept. A driver that keeps local
   * files gives its own and copies nothing; any other removes its copy afterwards. `look` changes nothing, except that
   * SQLite may take up a log that lies beside the file. Throws `missing_file`, and what `look` throws.
   */
  read<T>(look: (path: string) => Promise<T>): Promise<T>;
  /** Removes the file, or what lies beside it, durably. A missing one is no error. */
  remove(part?: FilePart): Promise<void>;
  /**
   * What lies beside the file, which SQLite would take for its log: only a driver whose objects are local files can
   * have any.
   */
  neighbours(): Promise<Neighbour[]>;
  /** Moves a part as it is kept to the local path `target`, durably. Throws `missing_file`. */
  takeOut(part: FilePart, target: string): Promise<void>;
  /** Moves what `takeOut` took back from the local path `source`, durably; what is there is replaced. */
  giveBack(source: string, part: FilePart): Promise<void>;
  /**
   * Runs `write` on a temporary local path, to which it writes the bytes as they are kept, and puts them in durably;
   * what is there is replaced. Throws what `write` throws, and the file is then as it was.
   */
  replace(write: (path: string) => Promise<void>): Promise<void>;
  /** Bytes that the file takes up where it is kept: on disk those of its blocks. Null when there is no such file. */
  allocatedBytes(): Promise<number | null>;
}

/** What a drawer says of itself without writing to it. */
export interface DrawerStatus {
  /** Whether files can be put in and taken out, as far as permissions tell. */
  writable: boolean;
  /** Opaque. Moving a file between two places of one volume copies nothing. Null: every file is copied. */
  volume: string | null;
}

/** Files in a drawer, and the bytes of these files as they are kept. */
export interface DrawerUsage {
  files: number;
  bytes: number;
}

export interface Drawer {
  /** Makes the drawer ready to take files. Called once before the first; nothing else needs it. May be repeated. */
  prepare(): Promise<void>;
  /** The file of `key`. */
  at(key: string): RestingFile;
  /**
   * Puts a clean, closed file in under `key`, durably, replacing nothing: throws `conflict` when the key is taken.
   * Returns the SHA-256 of the bytes that it read (lower-case hex), or null where it moved the file without reading it.
   * A source that was moved is gone; any other is still there, and the caller removes it once the row names the drawer.
   */
  put(source: string, key: string): Promise<string | null>;
  /**
   * Brings the file of `key`, expanded, to the local path `target`, whose folder exists. Throws `missing_file` when the
   * drawer has no such key and `corrupt` when what it holds cannot be expanded. Where the key is not `moved`,
   * the target is on disk already.
   */
  fetch(key: string, target: string): Promise<Placed>;
  /** Every key in the drawer, in no order: a page at a time, so that many cost no turn each. Opens no file. */
  keyPages(): AsyncIterable<readonly string[]>;
  /** Counts the files and their bytes. Rejects with the reason of `signal` once that is aborted. */
  usage(signal: AbortSignal): Promise<DrawerUsage>;
  status(): Promise<DrawerStatus>;
  /**
   * Throws when the drawer takes no file just now: puts in as much as the smallest file of a sandbox has, and removes
   * that again.
   */
  probe(): Promise<void>;
  /** Removes every file and everything unfinished, durably. */
  clear(): Promise<void>;
}

/** What the drawers are for, but for the live one. */
export const DRAWER_KINDS = ['cold', 'archive', ...COPY_KINDS] as const;
export type DrawerKind = (typeof DRAWER_KINDS)[number];

/** The drawers that a host has beside the live one. */
export type Drawers = Readonly<Record<DrawerKind, Drawer>>;
