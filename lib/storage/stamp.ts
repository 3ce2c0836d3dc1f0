/**
 * Stamps and tags: how a file is recognised without reading it. A local file is known by its stat, an object of another
 * store by the tag that the store assigns. Pure; knows nothing of paths.
 */

/**
 * The record of a file. A local file has an inode and times; numbers that do not fit a double are decimal strings. An
 * object of another store has its `tag` instead, and the other three are empty.
 */
export interface FileStamp {
  size: number;
  inode: string;
  mtimeNs: string;
  ctimeNs: string;
  tag?: string;
}

/** A drawer's facts of an object. */
export interface DrawerStat {
  /** Stored bytes: of a compressed object, the compressed ones. */
  size: number;
  /** Opaque. Equal tags and sizes under one key mean the same, unmodified bytes. */
  tag: string;
}

/** The form of a local file's tag: inode, modification time, change time. */
const LOCAL = /^file:(\d+):(-?\d+):(-?\d+)$/;

/** The tag of the object that a stamp records. */
export function tagOf(stamp: FileStamp): string {
  return stamp.tag ?? `file:${stamp.inode}:${stamp.mtimeNs}:${stamp.ctimeNs}`;
}

/** The stamp that records an object. The inverse of `tagOf`. */
export function stampFrom({ size, tag }: DrawerStat): FileStamp {
  const [, inode, mtimeNs, ctimeNs] = LOCAL.exec(tag) ?? [];
  if (inode === undefined || mtimeNs === undefined || ctimeNs === undefined) {
    return { size, inode: '', mtimeNs: '', ctimeNs: '', tag };
  }
  return { size, inode, mtimeNs, ctimeNs };
}

/** True when two stamps are of the same, unmodified file. */
export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && tagOf(a) === tagOf(b);
}

/** True when two stamps are of one local file, even after it was moved or written. */
export function sameInode(a: FileStamp, b: FileStamp): boolean {
  return a.inode !== '' && a.inode === b.inode;
}
