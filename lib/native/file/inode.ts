/** What a file, directory, link or special file is, beside its names: the record and its kinds. Pure. */
import type { Volume } from '../../vfs/volumes.ts';

export const S_IFMT = 0o170000;
export const S_IFIFO = 0o010000;
export const S_IFDIR = 0o040000;
export const S_IFREG = 0o100000;
export const S_IFLNK = 0o120000;
export const S_IFSOCK = 0o140000;

/** What the seed's table must be told of when the file comes to rest. */
export const STALE_CONTENT = 1;
export const STALE_ATTRIBUTES = 2;

/** A time of a file: whole seconds since the epoch, and nanoseconds. */
export interface FileTime {
  seconds: number;
  nanos: number;
}

export interface Inode {
  readonly ino: number;
  readonly kind: number;
  readonly volume: Volume | null;
  mode: number;
  /** Of a directory: two, and one for each directory in it. */
  nlink: number;
  size: number;
  atime: FileTime;
  mtime: FileTime;
  ctime: FileTime;
  /** Of a symbolic link. */
  target: Buffer | null;
  /** Row of the seed's table whose first `base` bytes are the content where there is no chunk; 0: none. */
  contentRow: number;
  base: number;
  /** Bytes that each of its names takes of the quota. */
  charge: number;
  stale: number;
  /** Of a directory: whether all that the seed's table has in it is among its links. */
  isMerged: boolean;
  /** Of a directory: where the seed's table has its entries; null: nowhere, undefined: not yet looked up. */
  origin: Buffer | null | undefined;
  /** Of a directory: where it is. */
  parent: number;
  name: Buffer;
  /** How often the kernel knows it: it may be open as long as this is more than 0. */
  lookups: number;
  isDirty: boolean;
}

/** Whether it has neither bytes nor entries: a FIFO or a socket. */
export function isSpecial(kind: number): boolean {
  return kind === S_IFIFO || kind === S_IFSOCK;
}

/** What a file has no row for in the database, and is the same for all of them. */
export const NO_BYTES = Buffer.alloc(0);

/** Latest time that the seed's table is given (year 2242), as other profiles trust none that is later. */
const LAST_SECOND = 8_600_000_000;

/** A time as the seed's table has it. */
export function restingSeconds({ seconds }: FileTime): number {
  return Math.min(Math.max(seconds, 0), LAST_SECOND);
}
