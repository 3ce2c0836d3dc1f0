/**
 * The process behind a disk that fails on request: a FUSE file system that passes every request on to a folder, unless
 * the control file says that it fails. Arguments: the folder, the control file; descriptor 9 is /dev/fuse. Knows
 * nothing of what is on the disk. Numbers and layouts: linux/fuse.h, version 7.31.
 */
import * as fs from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Control, DiskRequest } from './control.ts';

const [folder, controlFile] = process.argv.slice(2);
if (folder === undefined || controlFile === undefined) throw new Error('folder, control file');
const DEVICE = 9;
const MAX_WRITE = 1024 * 1024;
const ROOT = 1;
/** Bits of SETATTR that say what is set. */
const SETS = { mode: 1, owner: 2, group: 4, size: 8, handle: 64 } as const;

class Failure extends Error {
  readonly errno: number;
  constructor(code: string) {
    super(code);
    this.errno = (constants.errno as Record<string, number>)[code] ?? constants.errno.EIO;
  }
}
const unsupported = () => new Failure('ENOSYS');

/** What a node is called, and the number by which the kernel knows it. */
const paths = new Map<bigint, string>([[BigInt(ROOT), '']]);
const numbers = new Map<string, bigint>();
/** Open files and folders. */
const handles = new Map<bigint, { descriptor: number | null; names: fs.Dirent[]; path: string }>();
let nextNumber = 2n;
let nextHandle = 1n;

const real = (path: string) => join(folder, path);
const pathOf = (node: bigint) => {
  const path = paths.get(node);
  if (path === undefined) throw new Failure('ESTALE');
  return path;
};
const below = (node: bigint, name: string) => join(pathOf(node), name);

let control: Control = { turn: 0, fault: null, traced: null };
let seen = 0;

/** Fails a request that the control file names. */
function may(request: DiskRequest, path: string, to = ''): void {
  // By what it says: two changes within one tick of the system's clock have the same time.
  const said = JSON.parse(fs.readFileSync(controlFile as string, 'utf8')) as Control;
  if (said.turn !== control.turn) {
    control = said;
    seen = 0;
  }
  const { fault, traced } = control;
  const isAbout = (pattern: string) => new RegExp(pattern).test(path) || (to !== '' && new RegExp(pattern).test(to));
  if (traced !== null && isAbout(traced)) {
    fs.appendFileSync(`${controlFile}.seen`, `${request} ${path}${to === '' ? '' : ` ${to}`}\n`);
  }
  if (fault === null || !isAbout(fault.path) || !(fault.requests?.includes(request) ?? true)) return;
  seen += 1;
  const { from, count } = fault;
  if (seen < from || (count !== null && seen >= from + count)) return;
  fs.appendFileSync(`${controlFile}.failed`, `${request} ${path}\n`);
  throw new Failure(fault.error);
}

function attributes(stat: fs.BigIntStats): Buffer {
  const out = Buffer.alloc(88);
  for (const [at, value] of [stat.ino, stat.size, stat.blocks].entries()) out.writeBigUInt64LE(value, 8 * at);
  for (const [at, ns] of [stat.atimeNs, stat.mtimeNs, stat.ctimeNs].entries()) {
    out.writeBigUInt64LE(ns / 1_000_000_000n, 24 + 8 * at);
    out.writeUInt32LE(Number(ns % 1_000_000_000n), 48 + 4 * at);
  }
  const rest = [stat.mode, stat.nlink, stat.uid, stat.gid, stat.rdev, 4096n];
  for (const [at, value] of rest.entries()) out.writeUInt32LE(Number(value), 60 + 4 * at);
  return out;
}

/** The entry of a path. Nothing is kept by the kernel, so that each look-up comes here. */
function entryOf(path: string): Buffer {
  const stat = fs.lstatSync(real(path), { bigint: true });
  const key = `${stat.ino} ${stat.birthtimeNs}`;
  const number = path === '' ? BigInt(ROOT) : (numbers.get(key) ?? nextNumber++);
  numbers.set(key, number);
  paths.set(number, path);
  const out = Buffer.alloc(40);
  out.writeBigUInt64LE(number, 0);
  return Buffer.concat([out, attributes(stat)]);
}

function attributesOf(node: bigint, handle: bigint | null): Buffer {
  const opened = handle === null ? undefined : handles.get(handle);
  const descriptor = opened?.descriptor ?? null;
  let stat: fs.BigIntStats;
  if (descriptor !== null) stat = fs.fstatSync(descriptor, { bigint: true });
  else {
    try {
      stat = fs.lstatSync(real(pathOf(node)), { bigint: true });
    } catch (error) {
      // Its name is gone, and somebody has it open.
      const path = pathOf(node);
      const open = [...handles.values()].find((one) => one.path === path && one.descriptor !== null);
      if (open?.descriptor == null) throw error;
      stat = fs.fstatSync(open.descriptor, { bigint: true });
    }
  }
  return Buffer.concat([Buffer.alloc(16), attributes(stat)]);
}

function opened(descriptor: number | null, path: string, names: fs.Dirent[] = []): Buffer {
  const handle = nextHandle++;
  handles.set(handle, { descriptor, names, path });
  const out = Buffer.alloc(16);
  out.writeBigUInt64LE(handle, 0);
  return out;
}

function handleOf(body: Buffer) {
  const handle = handles.get(body.readBigUInt64LE(0));
  if (handle === undefined) throw new Failure('EBADF');
  return handle;
}

function descriptorOf(body: Buffer): { descriptor: number; path: string } {
  const { descriptor, path } = handleOf(body);
  if (descriptor === null) throw new Failure('EBADF');
  return { descriptor, path };
}

const text = (bytes: Buffer) => bytes.subarray(0, bytes.indexOf(0)).toString();
function twoNames(bytes: Buffer): [string, string] {
  const first = text(bytes);
  return [first, text(bytes.subarray(Buffer.byteLength(first) + 1))];
}

function moved(from: string, to: string): void {
  const rename = (path: string) =>
    path === from ? to : path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
  for (const [node, path] of paths) if (path === to && to !== from) paths.set(node, `${path}\0gone`);
  for (const [node, path] of paths) paths.set(node, rename(path));
  for (const handle of handles.values()) handle.path = handle.path === to ? `${to}\0gone` : rename(handle.path);
}

const ACCESS = fs.constants.O_RDONLY | fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_TRUNC;
const EMPTY = Buffer.alloc(0);

const OPERATIONS: Record<number, (node: bigint, body: Buffer) => Buffer | null> = {
  // LOOKUP
  1: (node, body) => {
    const path = below(node, text(body));
    may('stat', path);
    return entryOf(path);
  },
  // FORGET
  2: () => null,
  // GETATTR
  3: (node, body) => {
    may('stat', pathOf(node));
    return attributesOf(node, (body.readUInt32LE(0) & 1) === 0 ? null : body.readBigUInt64LE(8));
  },
  // SETATTR
  4: (node, body) => {
    const path = pathOf(node);
    may('change', path);
    const valid = body.readUInt32LE(0);
    const handle = valid & SETS.handle ? body.readBigUInt64LE(8) : null;
    if (valid & SETS.size) {
      const descriptor = handle === null ? null : (handles.get(handle)?.descriptor ?? null);
      if (descriptor === null) fs.truncateSync(real(path), Number(body.readBigUInt64LE(16)));
      else fs.ftruncateSync(descriptor, Number(body.readBigUInt64LE(16)));
    }
    if (valid & SETS.mode) fs.chmodSync(real(path), body.readUInt32LE(68) & 0o7777);
    if (valid & (SETS.owner | SETS.group)) {
      const stat = fs.lstatSync(real(path));
      const owner = valid & SETS.owner ? body.readUInt32LE(76) : stat.uid;
      fs.lchownSync(real(path), owner, valid & SETS.group ? body.readUInt32LE(80) : stat.gid);
    }
    return attributesOf(node, handle);
  },
  // READLINK
  5: (node) => Buffer.from(fs.readlinkSync(real(pathOf(node)))),
  // SYMLINK
  6: (node, body) => {
    const [name, target] = twoNames(body);
    fs.symlinkSync(target, real(below(node, name)));
    return entryOf(below(node, name));
  },
  // MKDIR
  9: (node, body) => {
    const path = below(node, text(body.subarray(8)));
    may('create', path);
    fs.mkdirSync(real(path), { mode: body.readUInt32LE(0) & 0o7777 });
    return entryOf(path);
  },
  // UNLINK
  10: (node, body) => {
    const path = below(node, text(body));
    may('unlink', path);
    fs.unlinkSync(real(path));
    for (const handle of handles.values()) if (handle.path === path) handle.path = `${path}\0gone`;
    for (const [number, at] of paths) if (at === path) paths.set(number, `${path}\0gone`);
    return EMPTY;
  },
  // RMDIR
  11: (node, body) => {
    const path = below(node, text(body));
    may('unlink', path);
    fs.rmdirSync(real(path));
    return EMPTY;
  },
  // RENAME
  12: (node, body) => rename(node, body.readBigUInt64LE(0), twoNames(body.subarray(8))),
  // LINK
  13: (node, body) => {
    const path = below(node, text(body.subarray(8)));
    may('create', path);
    fs.linkSync(real(pathOf(body.readBigUInt64LE(0))), real(path));
    return entryOf(path);
  },
  // OPEN
  14: (node, body) => {
    const path = pathOf(node);
    may('open', path);
    return opened(fs.openSync(real(path), body.readUInt32LE(0) & ACCESS), path);
  },
  // READ
  15: (_node, body) => {
    const { descriptor, path } = descriptorOf(body);
    may('read', path);
    const bytes = Buffer.alloc(body.readUInt32LE(16));
    return bytes.subarray(0, fs.readSync(descriptor, bytes, 0, bytes.length, Number(body.readBigUInt64LE(8))));
  },
  // WRITE
  16: (_node, body) => {
    const { descriptor, path } = descriptorOf(body);
    may('write', path);
    const size = body.readUInt32LE(16);
    const written = fs.writeSync(descriptor, body, 40, size, Number(body.readBigUInt64LE(8)));
    const out = Buffer.alloc(8);
    out.writeUInt32LE(written, 0);
    return out;
  },
  // STATFS
  17: () => {
    const { blocks, bfree, bavail, files, ffree, bsize } = fs.statfsSync(folder, { bigint: true });
    const out = Buffer.alloc(80);
    for (const [at, value] of [blocks, bfree, bavail, files, ffree].entries()) out.writeBigUInt64LE(value, 8 * at);
    for (const [at, value] of [Number(bsize), 255, Number(bsize)].entries()) out.writeUInt32LE(value, 40 + 4 * at);
    return out;
  },
  // RELEASE
  18: (_node, body) => {
    const { descriptor } = handleOf(body);
    if (descriptor !== null) fs.closeSync(descriptor);
    handles.delete(body.readBigUInt64LE(0));
    return EMPTY;
  },
  // FSYNC
  20: (_node, body) => {
    const { descriptor, path } = descriptorOf(body);
    may('sync', path);
    fs.fdatasyncSync(descriptor);
    return EMPTY;
  },
  // FLUSH
  25: () => EMPTY,
  // INIT
  26: (_node, body) => {
    const out = Buffer.alloc(64);
    out.writeUInt32LE(7, 0);
    out.writeUInt32LE(31, 4);
    out.writeUInt32LE(body.readUInt32LE(8), 8);
    // ATOMIC_O_TRUNC, BIG_WRITES, MAX_PAGES.
    out.writeUInt32LE((1 << 3) | (1 << 5) | (1 << 22), 12);
    out.writeUInt16LE(16, 16);
    out.writeUInt16LE(12, 18);
    out.writeUInt32LE(MAX_WRITE, 20);
    out.writeUInt32LE(1, 24);
    out.writeUInt16LE(MAX_WRITE / 4096, 28);
    return out;
  },
  // OPENDIR
  27: (node) => {
    const path = pathOf(node);
    may('list', path);
    return opened(null, path, fs.readdirSync(real(path), { withFileTypes: true }));
  },
  // READDIR
  28: (_node, body) => {
    const { names, path } = handleOf(body);
    may('list', path);
    const pieces: Buffer[] = [];
    let left = body.readUInt32LE(16);
    for (let at = Number(body.readBigUInt64LE(8)); at < names.length; at += 1) {
      const entry = names[at] as fs.Dirent;
      const name = Buffer.from(entry.name);
      const piece = Buffer.alloc(Math.ceil((24 + name.length) / 8) * 8);
      if (piece.length > left) break;
      left -= piece.length;
      piece.writeBigUInt64LE(BigInt(at + 2), 0);
      piece.writeBigUInt64LE(BigInt(at + 1), 8);
      piece.writeUInt32LE(name.length, 16);
      piece.writeUInt32LE(entry.isDirectory() ? 4 : entry.isSymbolicLink() ? 10 : 8, 20);
      name.copy(piece, 24);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  },
  // RELEASEDIR
  29: (_node, body) => {
    handles.delete(body.readBigUInt64LE(0));
    return EMPTY;
  },
  // FSYNCDIR
  30: (_node, body) => {
    may('sync', handleOf(body).path);
    return EMPTY;
  },
  // CREATE
  35: (node, body) => {
    const path = below(node, text(body.subarray(16)));
    may('create', path);
    const flags = (body.readUInt32LE(0) & ACCESS) | fs.constants.O_CREAT | (body.readUInt32LE(0) & fs.constants.O_EXCL);
    const descriptor = fs.openSync(real(path), flags, body.readUInt32LE(4) & 0o7777);
    return Buffer.concat([entryOf(path), opened(descriptor, path)]);
  },
  // INTERRUPT, DESTROY, BATCH_FORGET
  36: () => null,
  38: () => EMPTY,
  42: () => null,
  // RENAME2
  45: (node, body) => {
    if (body.readUInt32LE(8) !== 0) throw unsupported();
    return rename(node, body.readBigUInt64LE(0), twoNames(body.subarray(16)));
  },
};

function rename(node: bigint, target: bigint, [name, newName]: [string, string]): Buffer {
  const from = below(node, name);
  const to = below(target, newName);
  may('rename', from, to);
  fs.renameSync(real(from), real(to));
  moved(from, to);
  return EMPTY;
}

function answer(unique: bigint, errno: number, body: Buffer): void {
  const out = Buffer.alloc(16 + body.length);
  out.writeUInt32LE(out.length, 0);
  out.writeInt32LE(-errno, 4);
  out.writeBigUInt64LE(unique, 8);
  body.copy(out, 16);
  try {
    fs.writeSync(DEVICE, out);
  } catch (error) {
    // The request was broken off meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

process.umask(0);
const request = Buffer.alloc(MAX_WRITE + 4096);
for (;;) {
  let length: number;
  try {
    length = fs.readSync(DEVICE, request);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EINTR' || code === 'EAGAIN') continue;
    // Unmounted.
    process.exit(code === 'ENODEV' ? 0 : 1);
  }
  const operation = OPERATIONS[request.readUInt32LE(4)];
  const unique = request.readBigUInt64LE(8);
  try {
    if (operation === undefined) throw unsupported();
    const out = operation(request.readBigUInt64LE(16), request.subarray(40, length));
    if (out !== null) answer(unique, 0, out);
  } catch (error) {
    const { errno } = error as { errno?: number };
    answer(unique, Math.abs(errno ?? constants.errno.EIO), EMPTY);
  }
}
