/**
 * Frames of FUSE's protocol (7.31 and later, little endian): what the kernel asks, read from bytes that are checked,
 * and the structures of answers. Layouts are those of Linux's `include/uapi/linux/fuse.h`. Knows nothing of files.
 */
import { EINVAL, endWith } from '../file/errno.ts';
import type { FileTime, Inode } from '../file/inode.ts';

export const OPCODE = {
  LOOKUP: 1,
  FORGET: 2,
  GETATTR: 3,
  SETATTR: 4,
  READLINK: 5,
  SYMLINK: 6,
  MKNOD: 8,
  MKDIR: 9,
  UNLINK: 10,
  RMDIR: 11,
  RENAME: 12,
  LINK: 13,
  READ: 15,
  WRITE: 16,
  STATFS: 17,
  RELEASE: 18,
  FSYNC: 20,
  SETXATTR: 21,
  GETXATTR: 22,
  LISTXATTR: 23,
  REMOVEXATTR: 24,
  INIT: 26,
  READDIR: 28,
  RELEASEDIR: 29,
  FSYNCDIR: 30,
  INTERRUPT: 36,
  DESTROY: 38,
  BATCH_FORGET: 42,
  FALLOCATE: 43,
  READDIRPLUS: 44,
  RENAME2: 45,
  SYNCFS: 50,
} as const;

export const REQUEST_HEADER_BYTES = 40;
const ANSWER_HEADER_BYTES = 16;
const ATTRIBUTE_BYTES = 88;
/** An entry is the inode's number, a generation, how long both are good, and its attributes. */
const ENTRY_BYTES = 40 + ATTRIBUTE_BYTES;
const DIRENT_BYTES = 24;
/** Nobody but the kernel changes anything: what it knows is good until it is forgotten. */
const FOREVER_SECONDS = 1_000_000_000;
const BLOCK_BYTES = 512;
const PAGE_BYTES = 4096;
const HIGH = 2 ** 32;
/** The largest high half of a number that JavaScript counts to. */
const MAX_HIGH = 2 ** 21;
const NANOS = 1_000_000_000;
/** Further than any clock, and still a safe integer. */
const LAST_SECOND = 2 ** 52;

/** A frame of the kernel. Reading behind its end, or a number that is too large, ends the request with EINVAL. */
export class Frame {
  readonly #bytes: Buffer;
  #at = REQUEST_HEADER_BYTES;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get opcode(): number {
    return this.#bytes.readUInt32LE(4);
  }

  /** The number by which the answer is told, as its bytes. */
  get unique(): Buffer {
    return this.#bytes.subarray(8, 16);
  }

  get node(): number {
    return this.u64(16);
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Whether the frame says its own length. */
  get isWhole(): boolean {
    return this.#bytes.readUInt32LE(0) === this.#bytes.length;
  }

  u32(at: number): number {
    return at + 4 > this.#bytes.length ? endWith(EINVAL) : this.#bytes.readUInt32LE(at);
  }

  u64(at: number): number {
    const high = this.u32(at + 4);
    return high >= MAX_HIGH ? endWith(EINVAL) : high * HIGH + this.u32(at);
  }

  time(secondsAt: number, nanosAt: number): FileTime {
    this.u32(secondsAt + 4);
    const nanos = this.u32(nanosAt);
    if (nanos >= NANOS) endWith(EINVAL);
    const seconds = Number(this.#bytes.readBigInt64LE(secondsAt));
    return { seconds: Math.min(Math.max(seconds, -LAST_SECOND), LAST_SECOND), nanos };
  }

  /** Moves to where names begin: this many bytes behind the header. */
  skip(bytes: number): this {
    this.#at = REQUEST_HEADER_BYTES + bytes;
    return this;
  }

  /** The next name, which a NUL ends. It is a copy: the frame is written over. */
  name(): Buffer {
    const end = this.#at > this.#bytes.length ? -1 : this.#bytes.indexOf(0, this.#at);
    if (end < 0) endWith(EINVAL);
    const name = Buffer.from(this.#bytes.subarray(this.#at, end));
    this.#at = end + 1;
    return name;
  }

  /** The bytes that follow, as many as were said; not copied. */
  rest(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) endWith(EINVAL);
    return this.#bytes.subarray(this.#at, this.#at + length);
  }
}

/** An answer that is being written. */
export class FuseAnswer {
  readonly #bytes: Buffer;
  readonly #owner: { uid: number; gid: number };
  #length = ANSWER_HEADER_BYTES;

  constructor(maxBytes: number, owner: { uid: number; gid: number }) {
    this.#bytes = Buffer.allocUnsafeSlow(maxBytes);
    this.#owner = owner;
  }

  /** The buffer, to copy contents to from the returned place on. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  begin(): void {
    this.#length = ANSWER_HEADER_BYTES;
  }

  get length(): number {
    return this.#length;
  }

  /** The whole answer. */
  end(unique: Buffer, errno: number): Buffer {
    const length = errno === 0 ? this.#length : ANSWER_HEADER_BYTES;
    this.#bytes.writeUInt32LE(length, 0);
    this.#bytes.writeInt32LE(-errno, 4);
    unique.copy(this.#bytes, 8);
    return this.#bytes.subarray(0, length);
  }

  u32(...values: number[]): void {
    for (const value of values) {
      this.#bytes.writeUInt32LE(value >>> 0, this.#length);
      this.#length += 4;
    }
  }

  u16(...values: number[]): void {
    for (const value of values) {
      this.#bytes.writeUInt16LE(value, this.#length);
      this.#length += 2;
    }
  }

  u64(...values: number[]): void {
    for (const value of values) {
      this.#bytes.writeBigInt64LE(BigInt(value), this.#length);
      this.#length += 8;
    }
  }

  append(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Notes that bytes were copied behind what there is. */
  grow(bytes: number): void {
    this.#length += bytes;
  }

  attributes(inode: Inode): void {
    const { ino, size, atime, mtime, ctime, kind, mode, nlink } = inode;
    this.u64(ino, size, Math.ceil(size / BLOCK_BYTES), atime.seconds, mtime.seconds, ctime.seconds);
    this.u32(atime.nanos, mtime.nanos, ctime.nanos, kind | mode, nlink, this.#owner.uid, this.#owner.gid);
    this.u32(0, PAGE_BYTES, 0);
  }

  /** What `GETATTR` and `SETATTR` answer. */
  timedAttributes(inode: Inode): void {
    this.u64(FOREVER_SECONDS);
    this.u32(0, 0);
    this.attributes(inode);
  }

  /** Null: there is nothing of this name, which the kernel may remember as well. */
  entry(inode: Inode | null): void {
    this.u64(inode?.ino ?? 0, 0, FOREVER_SECONDS, FOREVER_SECONDS);
    this.u32(0, 0);
    if (inode === null) {
      this.#bytes.fill(0, this.#length, this.#length + ATTRIBUTE_BYTES);
      this.#length += ATTRIBUTE_BYTES;
    } else this.attributes(inode);
  }

  /** An entry of a listing; `cookie` is where the next one goes on. */
  dirent(inode: Inode, cookie: number, name: Uint8Array): void {
    this.u64(inode.ino, cookie);
    this.u32(name.length, inode.kind >> 12);
    const end = this.#length + padded(name.length);
    this.#bytes.fill(0, this.#length, end);
    this.#bytes.set(name, this.#length);
    this.#length = end;
  }
}

/** Bytes of an entry of a listing. */
export function direntBytes(nameBytes: number, withEntry: boolean): number {
  return DIRENT_BYTES + padded(nameBytes) + (withEntry ? ENTRY_BYTES : 0);
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}
