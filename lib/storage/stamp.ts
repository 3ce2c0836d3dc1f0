/**
 * Stamps and tags: how a file is recognised without being read. A local file is known by its stat, an object of any
 * other store by whatever tag the store gives it. Pure; knows nothing of paths.
 */

/**
 * What is recorded of a file. A local file has an inode and times; numbers that do not fit a double are decimal
 * strings. An object of another store has its `tag` instead, and the other three are empty.
 */
export interface FileStamp {
  size: number;
  inode: string;
  mtimeNs: string;
  ctimeNs: string;
  tag?: string;
}

/** What a drawer says of an object. */
export interface DrawerStat {
  /** Bytes as they are kept: of a compressed object, the compressed ones. */
  size: number;
  /** Opaque. Equal tags and sizes under one key mean the same bytes, which nothing has written to. */
  tag: string;
}

/** The form of a local file's tag: inode, modification time, change time. */
const LOCAL = /^file:(\d+):(-?\d+):(-?\d+)$/;

/** The tag of what a stamp was taken of. */
export function tagOf(stamp: FileStamp): string {
  return stamp.tag ?? `file:${stamp.inode}:${stamp.mtimeNs}:${stamp.ctimeNs}`;
}

/** The stamp that is recorded of what a drawer holds. The inverse of `tagOf`. */
export function stampFrom({ size, tag }: DrawerStat): FileStamp {
  const [, inode, mtimeNs, ctimeNs] = LOCAL.exec(tag) ?? [];
  if (inode === undefined || mtimeNs === undefined || ctimeNs === undefined) {
    return { size, inode: '', mtimeNs: '', ctimeNs: '', tag };
  }
  return { size, inode, mtimeNs, ctimeNs };
}

/** Whether two stamps are of the same, untouched file. */
export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && tagOf(a) === tagOf(b);
}

/** Whether two stamps are of one local file, wherever it was moved and whatever was written to it. */
export function sameInode(a: FileStamp, b: FileStamp): boolean {
  return a.inode !== '' && a.inode === b.inode;
}
