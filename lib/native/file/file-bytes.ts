/**
 * What a file system does with the bytes and attributes of one inode. Every argument is a guest's, so each is checked
 * before anything changes; a request that is refused has changed nothing. Knows nothing of names, FUSE and commits.
 */
import type { Contents } from './contents.ts';
import { EFBIG, EINVAL, EISDIR, EOPNOTSUPP, EPERM, endWith } from './errno.ts';
import { type FileTime, type Inode, S_IFDIR, S_IFREG, STALE_ATTRIBUTES, STALE_CONTENT } from './inode.ts';
import type { Inodes } from './inodes.ts';
import { highestCharge, type Room } from './room.ts';
import { CHUNKS_PER_FILE, FILE_CHUNK_BYTES, ROOT_INO } from './tables.ts';

interface FileBytesParts {
  inodes: Inodes;
  contents: Contents;
  room: Room;
  /** Begins a transaction where none is open: before the first change of a request. */
  begin: () => void;
  /** Moves what was written from memory to the open transaction. */
  flush: () => void;
}

/** A change of attributes; what is absent stays. `now` is the time of the request. */
export interface AttributeChange {
  mode?: number;
  size?: number;
  atime?: FileTime | 'now';
  mtime?: FileTime | 'now';
  /** Without the bits that let a program run as its owner: for who may not set them. */
  dropsPrivileges?: boolean;
}

const MAX_FILE_BYTES = FILE_CHUNK_BYTES * CHUNKS_PER_FILE;
const SET_UID = 0o4000;
const SET_GID = 0o2000;
const GROUP_EXECUTES = 0o010;
const KEEP_SIZE = 1;
const PUNCH_HOLE = 2;
const ZERO_RANGE = 16;

export class FileBytes {
  readonly #parts: FileBytesParts;

  constructor(parts: FileBytesParts) {
    this.#parts = parts;
  }

  /** Copies bytes to `into`, from `at` on; returns how many. */
  read(ino: number, offset: number, length: number, into: Buffer, at: number): number {
    const inode = this.#file(ino);
    return this.#parts.contents.read(inode, offset, length, into, at);
  }

  /** `dropsPrivileges`: by who may not leave the bits that let a program run as its owner. */
  write(ino: number, offset: number, bytes: Buffer, dropsPrivileges: boolean): void {
    const { contents, inodes, begin, flush } = this.#parts;
    const inode = this.#file(ino);
    if (bytes.length === 0) return;
    const size = Math.max(inode.size, offset + bytes.length);
    this.#requireSize(inode, size);
    begin();
    contents.write(inode, offset, bytes);
    this.#setSize(inode, size);
    if (dropsPrivileges) inode.mode = unprivileged(inode);
    inode.mtime = inodes.now();
    inode.ctime = inode.mtime;
    inodes.change(inode);
    if (contents.isFull) flush();
  }

  setAttributes(ino: number, change: AttributeChange): Inode {
    const { inodes, begin } = this.#parts;
    const inode = inodes.get(ino);
    if (ino === ROOT_INO) endWith(EPERM);
    if (change.size !== undefined) {
      if (inode.kind === S_IFDIR) endWith(EISDIR);
      this.#requireSize(this.#file(ino), change.size);
    }
    begin();
    const now = inodes.now();
    if (change.size !== undefined) {
      this.#resize(inode, change.size);
      inode.mtime = now;
    }
    if (change.mode !== undefined) inode.mode = change.mode & 0o7777;
    if (change.dropsPrivileges) inode.mode = unprivileged(inode);
    if (change.atime !== undefined) inode.atime = change.atime === 'now' ? now : change.atime;
    if (change.mtime !== undefined) inode.mtime = change.mtime === 'now' ? now : change.mtime;
    inode.ctime = now;
    inode.stale |= STALE_ATTRIBUTES;
    inodes.change(inode);
    return inode;
  }

  /** `mode` as of fallocate(2): room, zeros or a hole. */
  allocate(ino: number, offset: number, length: number, mode: number): void {
    const { inodes, contents, begin, flush } = this.#parts;
    const inode = this.#file(ino);
    if (length <= 0) endWith(EINVAL);
    const keepsSize = (mode & KEEP_SIZE) !== 0;
    const zeroes = (mode & (PUNCH_HOLE | ZERO_RANGE)) !== 0;
    const isKnown = mode === 0 || mode === KEEP_SIZE || mode === (PUNCH_HOLE | KEEP_SIZE) || (mode & ~1) === ZERO_RANGE;
    if (!isKnown) endWith(EOPNOTSUPP);
    const end = offset + length;
    // Room that is only promised is counted as if it were used, when it is asked for.
    if ((mode & PUNCH_HOLE) === 0) this.#requireSize(inode, Math.max(inode.size, end));
    begin();
    if (zeroes) contents.zero(inode, offset, length);
    if (!keepsSize) this.#setSize(inode, Math.max(inode.size, end));
    if (zeroes) inode.stale |= STALE_CONTENT;
    inode.mtime = zeroes || !keepsSize ? inodes.now() : inode.mtime;
    inode.ctime = inodes.now();
    inodes.change(inode);
    if (contents.isFull) flush();
  }

  #file(ino: number): Inode {
    const inode = this.#parts.inodes.get(ino);
    if (inode.kind === S_IFDIR) endWith(EISDIR);
    return inode.kind === S_IFREG ? inode : endWith(EINVAL);
  }

  #requireSize(inode: Inode, size: number): void {
    if (size > MAX_FILE_BYTES) endWith(EFBIG);
    if (size > inode.size) this.#parts.room.require((this.#grownCharge(inode, size) - inode.charge) * copiesOf(inode));
  }

  /** What each name takes when the file has another size: never less than the difference of the sizes. */
  #grownCharge(inode: Inode, size: number): number {
    return Math.max(highestCharge(size, 0), inode.charge + Math.max(0, size - inode.size));
  }

  #resize(inode: Inode, size: number): void {
    if (size < inode.size) this.#parts.contents.cut(inode, size);
    this.#setSize(inode, size);
  }

  #setSize(inode: Inode, size: number): void {
    if (size !== inode.size) {
      // What a file gives back when it is cut is never more than it took.
      const cut = Math.max(0, inode.charge - (inode.size - size));
      const charge = size < inode.size ? cut : this.#grownCharge(inode, size);
      this.#parts.room.add((charge - inode.charge) * copiesOf(inode));
      inode.charge = charge;
    }
    inode.size = size;
    inode.stale |= STALE_CONTENT;
  }
}

function unprivileged({ kind, mode }: Inode): number {
  if (kind !== S_IFREG) return mode;
  return mode & ~SET_UID & ~((mode & GROUP_EXECUTES) === 0 ? 0 : SET_GID);
}

/** Rows that it has at rest; what is in use without a name counts as one. */
function copiesOf({ nlink }: Inode): number {
  return Math.max(1, nlink);
}
