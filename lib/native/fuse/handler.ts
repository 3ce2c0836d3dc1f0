/**
 * Answers the kernel's requests from one file. Every request is a guest's: it is checked here or in `lib/native/file`
 * before anything changes, and whatever it is, it gets an answer or is one that wants none. Knows nothing of devices.
 */
import { EINVAL, EIO, ENOSYS, EPERM, ERANGE, endWith, RequestRefused } from '../file/errno.ts';
import type { AttributeChange } from '../file/file-bytes.ts';
import { type Inode, S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } from '../file/inode.ts';
import type { NativeFile } from '../file/native-file.ts';
import { ROOT_INO } from '../file/tables.ts';
import { direntBytes, Frame, FuseAnswer, OPCODE, REQUEST_HEADER_BYTES } from './wire.ts';

interface HandlerOptions {
  native: NativeFile;
  /** Whose all files are. */
  owner: { uid: number; gid: number };
  /** A name in the root whose look-up commits. It is in no directory, and no guest knows it or sees the root. */
  commitName: string;
}

/** What is read or written at once. */
const MAX_DATA_BYTES = 1024 * 1024;
/** Room for a frame beside its data: the header, the arguments, and the longest names. */
export const MAX_FRAME_BYTES = MAX_DATA_BYTES + 8192;
/** Answers a look-up of the commit's name once everything is on disk (EALREADY): no error of a file system. */
export const COMMITTED = 114;

const MINOR = 38;
/** Wanted of what the kernel offers, by its bits. */
const WANTED = [
  0, // reads that overlap
  5, // writes above a page
  13, // listings with attributes
  17, // no request to open a file
  18, // look-ups and listings in one directory at a time need not wait for each other
  22, // requests of up to a mebibyte
  23, // targets of links are kept
  24, // no request to open a directory
  28, // the bits that let a program run as its owner are dropped here
].reduce((bits, bit) => bits | (1 << bit), 0);
const MAX_BACKGROUND = 64;
const CONGESTED = 48;
const PAGE_BYTES = 4096;

const VALID = { mode: 1, uid: 2, gid: 4, size: 8, atime: 16, mtime: 32, atimeNow: 128, mtimeNow: 256, dropped: 2048 };
const WRITE_DROPS = 4;
const MAX_NAME_BYTES = 255;
/** Files that a guest is told there may be: their bytes are what is limited. */
const MANY_FILES = 1_000_000_000;
const DOTS = [Buffer.from('.'), Buffer.from('..')];

type Work = (frame: Frame) => void;

export class FuseHandler {
  readonly #options: HandlerOptions;
  readonly #answer: FuseAnswer;
  readonly #commitName: Buffer;
  readonly #work: ReadonlyMap<number, Work>;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#answer = new FuseAnswer(MAX_FRAME_BYTES, options.owner);
    this.#commitName = Buffer.from(options.commitName);
    this.#work = new Map<number, Work>([
      [OPCODE.INIT, (frame) => this.#init(frame)],
      [OPCODE.LOOKUP, (frame) => this.#lookup(frame)],
      [OPCODE.GETATTR, (frame) => this.#answer.timedAttributes(this.#names.inode(frame.node))],
      [OPCODE.SETATTR, (frame) => this.#setAttributes(frame)],
      [OPCODE.READLINK, (frame) => this.#readLink(frame)],
      [OPCODE.SYMLINK, (frame) => this.#symlink(frame)],
      [OPCODE.MKNOD, (frame) => this.#makeNode(frame)],
      [
        OPCODE.MKDIR,
        (frame) => this.#create(frame.node, frame.skip(8).name(), S_IFDIR, frame.u32(REQUEST_HEADER_BYTES)),
      ],
      [OPCODE.UNLINK, (frame) => this.#names.unlink(frame.node, frame.name())],
      [OPCODE.RMDIR, (frame) => this.#names.rmdir(frame.node, frame.name())],
      [OPCODE.RENAME, (frame) => this.#rename(frame.skip(8), 0)],
      [OPCODE.RENAME2, (frame) => this.#rename(frame.skip(16), frame.u32(REQUEST_HEADER_BYTES + 8))],
      [OPCODE.LINK, (frame) => this.#link(frame)],
      [OPCODE.READ, (frame) => this.#read(frame)],
      [OPCODE.WRITE, (frame) => this.#write(frame)],
      [OPCODE.FALLOCATE, (frame) => this.#allocate(frame)],
      [OPCODE.STATFS, () => this.#statfs()],
      [OPCODE.READDIR, (frame) => this.#list(frame, false)],
      [OPCODE.READDIRPLUS, (frame) => this.#list(frame, true)],
      [OPCODE.GETXATTR, (frame) => this.#sized(frame, this.#names.attribute(frame.node, frame.skip(8).name()))],
      [OPCODE.LISTXATTR, (frame) => this.#sized(frame, this.#names.attributeNames(frame.node))],
      [OPCODE.SETXATTR, (frame) => this.#setExtended(frame)],
      [OPCODE.REMOVEXATTR, (frame) => this.#names.removeAttribute(frame.node, frame.name())],
      [OPCODE.FSYNC, () => this.#commit()],
      [OPCODE.FSYNCDIR, () => this.#commit()],
      [OPCODE.SYNCFS, () => this.#commit()],
      [OPCODE.RELEASE, () => undefined],
      [OPCODE.RELEASEDIR, () => undefined],
      [OPCODE.DESTROY, () => undefined],
    ]);
  }

  /**
   * The answer to one frame, good until the next call; null for a frame that wants none. Throws nothing, whatever the
   * frame is: where the file fails, this and every later request ends with EIO.
   */
  handle(bytes: Buffer): Buffer | null {
    if (bytes.length < REQUEST_HEADER_BYTES) return null;
    const frame = new Frame(bytes);
    const { opcode, unique } = frame;
    if (opcode === OPCODE.FORGET || opcode === OPCODE.BATCH_FORGET || opcode === OPCODE.INTERRUPT) {
      this.#try(() => this.#forget(frame));
      return null;
    }
    this.#answer.begin();
    const work = this.#work.get(opcode);
    const errno = this.#try(() => {
      if (!frame.isWhole) endWith(EINVAL);
      if (work === undefined) endWith(ENOSYS);
      work(frame);
    });
    return this.#answer.end(unique, errno);
  }

  get #names(): NativeFile['names'] {
    return this.#options.native.names;
  }

  get #bytes(): NativeFile['bytes'] {
    return this.#options.native.bytes;
  }

  #try(work: () => void): number {
    try {
      this.#options.native.request(work);
      return 0;
    } catch (error) {
      return error instanceof RequestRefused ? error.errno : EIO;
    }
  }

  #init(frame: Frame): void {
    if (frame.u32(REQUEST_HEADER_BYTES) !== 7) endWith(EINVAL);
    const minor = frame.u32(REQUEST_HEADER_BYTES + 4);
    const offered = frame.u32(REQUEST_HEADER_BYTES + 12);
    this.#answer.u32(7, Math.min(minor, MINOR), frame.u32(REQUEST_HEADER_BYTES + 8), offered & WANTED);
    this.#answer.u16(MAX_BACKGROUND, CONGESTED);
    this.#answer.u32(MAX_DATA_BYTES, 1);
    this.#answer.u16(MAX_DATA_BYTES / PAGE_BYTES, 0);
    this.#answer.u32(0, 0, 0, 0, 0, 0, 0, 0);
  }

  #lookup(frame: Frame): void {
    const { node } = frame;
    const name = frame.name();
    if (node === ROOT_INO && name.equals(this.#commitName)) {
      this.#commit();
      endWith(COMMITTED);
    }
    this.#enter(this.#names.lookup(node, name));
  }

  /** Answers with an inode, which the kernel knows from then on. */
  #enter(inode: Inode | null): void {
    this.#answer.entry(inode);
    if (inode !== null) this.#names.remember(inode);
  }

  #create(parent: number, name: Buffer, kind: number, mode: number, target: Buffer | null = null): void {
    this.#enter(this.#names.create(parent, name, kind, mode, target));
  }

  #makeNode(frame: Frame): void {
    const mode = frame.u32(REQUEST_HEADER_BYTES);
    this.#create(frame.node, frame.skip(16).name(), mode & S_IFMT || S_IFREG, mode);
  }

  #symlink(frame: Frame): void {
    const name = frame.name();
    this.#create(frame.node, name, S_IFLNK, 0o777, frame.name());
  }

  #link(frame: Frame): void {
    this.#enter(this.#names.link(frame.u64(REQUEST_HEADER_BYTES), frame.node, frame.skip(8).name()));
  }

  #rename(frame: Frame, flags: number): void {
    const name = frame.name();
    this.#names.rename(frame.node, name, frame.u64(REQUEST_HEADER_BYTES), frame.name(), flags);
  }

  #readLink(frame: Frame): void {
    const { target } = this.#names.inode(frame.node);
    this.#answer.append(target ?? endWith(EINVAL));
  }

  #setAttributes(frame: Frame): void {
    const at = (offset: number) => REQUEST_HEADER_BYTES + offset;
    const valid = frame.u32(at(0));
    const has = (bits: number) => (valid & bits) !== 0;
    const { owner } = this.#options;
    // There is one user: files can be given to nobody else.
    if (has(VALID.uid) && frame.u32(at(76)) !== owner.uid) endWith(EPERM);
    if (has(VALID.gid) && frame.u32(at(80)) !== owner.gid) endWith(EPERM);
    const change: AttributeChange = { dropsPrivileges: has(VALID.dropped) };
    if (has(VALID.mode)) change.mode = frame.u32(at(68));
    if (has(VALID.size)) change.size = frame.u64(at(16));
    if (has(VALID.atime)) change.atime = has(VALID.atimeNow) ? 'now' : frame.time(at(32), at(56));
    if (has(VALID.mtime)) change.mtime = has(VALID.mtimeNow) ? 'now' : frame.time(at(40), at(60));
    frame.u32(at(84));
    this.#answer.timedAttributes(this.#bytes.setAttributes(frame.node, change));
  }

  #read(frame: Frame): void {
    const length = Math.min(frame.u32(REQUEST_HEADER_BYTES + 16), MAX_DATA_BYTES);
    const offset = frame.u64(REQUEST_HEADER_BYTES + 8);
    this.#answer.grow(this.#bytes.read(frame.node, offset, length, this.#answer.bytes, this.#answer.length));
  }

  #write(frame: Frame): void {
    const length = frame.u32(REQUEST_HEADER_BYTES + 16);
    const drops = (frame.u32(REQUEST_HEADER_BYTES + 20) & WRITE_DROPS) !== 0;
    const bytes = frame.skip(40).rest(length);
    this.#bytes.write(frame.node, frame.u64(REQUEST_HEADER_BYTES + 8), bytes, drops);
    this.#answer.u32(length, 0);
  }

  #allocate(frame: Frame): void {
    const [offset, length] = [frame.u64(REQUEST_HEADER_BYTES + 8), frame.u64(REQUEST_HEADER_BYTES + 16)];
    this.#bytes.allocate(frame.node, offset, length, frame.u32(REQUEST_HEADER_BYTES + 24));
  }

  #statfs(): void {
    const { maxBytes, free } = this.#names.room;
    const pages = (bytes: number) => Math.floor(bytes / PAGE_BYTES);
    this.#answer.u64(pages(maxBytes), pages(free), pages(free), MANY_FILES, MANY_FILES);
    this.#answer.u32(PAGE_BYTES, MAX_NAME_BYTES, PAGE_BYTES, 0, 0, 0, 0, 0, 0, 0);
  }

  /** A listing: as many entries as there is room for, and with `plus` what a look-up of each would say. */
  #list(frame: Frame, plus: boolean): void {
    const room = Math.min(frame.u32(REQUEST_HEADER_BYTES + 16), MAX_DATA_BYTES);
    const cookie = frame.u64(REQUEST_HEADER_BYTES + 8);
    const names = this.#names;
    const directory = names.inode(frame.node);
    const end = this.#answer.length + room;
    const fits = (name: Uint8Array) => this.#answer.length + direntBytes(name.length, plus) <= end;
    const above = names.parentOf(frame.node);
    for (const [at, name] of DOTS.entries()) {
      if (cookie > at) continue;
      if (!fits(name)) return;
      // The kernel has these two already, and counts no use of them.
      if (plus) this.#answer.entry(null);
      this.#answer.dirent(at === 0 ? directory : above, at + 1, name);
    }
    const least = direntBytes(1, plus);
    const after = Math.max(0, cookie - DOTS.length);
    for (const entry of names.entries(frame.node, after, Math.ceil(room / least))) {
      if (!fits(entry.name)) return;
      if (plus) this.#enter(names.inode(entry.inode.ino));
      this.#answer.dirent(entry.inode, entry.cookie + DOTS.length, entry.name);
    }
  }

  /** A value, or its size where none is asked for. */
  #sized(frame: Frame, value: Buffer): void {
    const room = frame.u32(REQUEST_HEADER_BYTES);
    if (room === 0) this.#answer.u32(value.length, 0);
    else if (value.length > room) endWith(ERANGE);
    else this.#answer.append(value);
  }

  #setExtended(frame: Frame): void {
    const [size, flags] = [frame.u32(REQUEST_HEADER_BYTES), frame.u32(REQUEST_HEADER_BYTES + 4)];
    const name = frame.skip(8).name();
    this.#names.setAttribute(frame.node, name, Buffer.from(frame.rest(size)), flags);
  }

  #forget(frame: Frame): void {
    if (frame.opcode === OPCODE.FORGET) this.#names.forget(frame.node, frame.u64(REQUEST_HEADER_BYTES));
    if (frame.opcode !== OPCODE.BATCH_FORGET) return;
    const count = Math.min(frame.u32(REQUEST_HEADER_BYTES), Math.floor((frame.length - REQUEST_HEADER_BYTES - 8) / 16));
    for (let at = REQUEST_HEADER_BYTES + 8; at < REQUEST_HEADER_BYTES + 8 + count * 16; at += 16)
      this.#names.forget(frame.u64(at), frame.u64(at + 8));
  }

  #commit(): void {
    this.#options.native.commit();
  }
}
