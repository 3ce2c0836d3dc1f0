/**
 * What a running Python does to files: the calls of its system, answered from the shell's files and the open files of
 * the call. Owns its open handles; paths are interpreter-paths.ts. Knows nothing of threads.
 */
import type { FileInUse } from '../../vfs/file-table.ts';
import type { Overlay } from '../../vfs/overlay.ts';
import { MAY, requireBits } from '../shell/file-permissions.ts';
import type { FilePort, GuestFiles } from '../shell/guest-files.ts';
import type { ResolvedPath } from '../shell/guest-paths.ts';
import { asPosix } from '../shell/posix-error.ts';
import { DATA_BYTES, type Operation, type SystemAnswer } from './interpreter-channel.ts';
import {
  BLOCK_BYTES,
  doubles,
  ENDLESS,
  InterpreterPaths,
  KINDS,
  PERMISSIONS,
  type Stat,
  secondsOf,
  statAnswer,
  systemStatOf,
} from './interpreter-paths.ts';
import { FLAGS, Refused } from './wasi.ts';

const MAX_HANDLES = 1000;

type Handle =
  | { kind: 'file'; file: FileInUse }
  | { kind: 'dir'; path: string; listed: [name: string, kind: string][] | null }
  | { kind: 'bytes'; content: Uint8Array; path: string }
  | { kind: 'endless'; path: string }
  | { kind: 'port'; port: FilePort; written: Buffer[] };

export class InterpreterFiles {
  readonly #guest: GuestFiles;
  readonly #files: Overlay;
  readonly #paths: InterpreterPaths;
  readonly #handles = new Map<number, Handle>();
  #last = 0;

  constructor(guest: GuestFiles, files: Overlay) {
    this.#guest = guest;
    this.#files = files;
    this.#paths = new InterpreterPaths(guest, files);
  }

  /** Answers a call. Throws POSIX errors, and `Refused`. */
  answer(
    operation: Operation,
    data: Uint8Array,
    [a = 0, b = 0, c = 0]: Float64Array,
  ): SystemAnswer | Promise<SystemAnswer> {
    switch (operation) {
      case 'open':
        return this.#open(textOf(data), a, b);
      case 'close':
        return this.#close(a);
      case 'read':
        return this.#read(a, b, Math.min(c, DATA_BYTES));
      case 'write':
        return this.#write(a, data, b < 0 ? 'end' : b);
      case 'truncate':
        return this.#truncate(this.#opened(a), b);
      case 'statOpen':
        return statAnswer(this.#statOpen(a));
      case 'chmodOpen':
        return this.#setOpen(a, { mode: b & PERMISSIONS });
      case 'utimeOpen':
        return this.#setOpen(a, { mtime: secondsOf(b) });
      case 'list':
        return this.#list(a, b);
      case 'stat':
        return statAnswer(this.#paths.stat(textOf(data), a !== 0));
      case 'access':
        return this.#paths.access(textOf(data), a);
      case 'mkdir':
        return this.#paths.mkdir(textOf(data), a);
      case 'rmdir':
        return this.#paths.rmdir(textOf(data));
      case 'unlink':
        return this.#paths.unlink(textOf(data));
      case 'rename':
        return this.#paths.rename(...pairOf(data));
      case 'symlink':
        return this.#paths.symlink(...pairOf(data));
      case 'readlink':
        return { data: Buffer.from(this.#paths.readlink(textOf(data))) };
      case 'chmod':
        return this.#paths.change(textOf(data), (at) => this.#files.chmod(at.path, a & PERMISSIONS, at.volume));
      case 'utime':
        return this.#paths.change(textOf(data), (at) => this.#files.utimes(at.path, secondsOf(a), at.volume), b !== 0);
      case 'resize':
        return this.#resize(textOf(data), a);
      case 'folder':
        return { data: Buffer.from(this.#paths.folder(textOf(data))) };
      case 'room': {
        const { limit, free } = this.#files.room();
        return { data: doubles(Math.floor(limit / BLOCK_BYTES), Math.floor(free / BLOCK_BYTES)) };
      }
      default:
        throw new Refused('ENOTSUP');
    }
  }

  /** Closes what is open: Python has ended. */
  closeAll(): void {
    for (const handle of this.#handles.values()) if (handle.kind === 'file') this.#files.closeFile(handle.file);
    this.#handles.clear();
  }

  #add(handle: Handle, entryMode: number): SystemAnswer {
    if (this.#handles.size >= MAX_HANDLES) throw new Refused('EMFILE');
    this.#last += 1;
    this.#handles.set(this.#last, handle);
    return { value: this.#last, data: doubles(entryMode) };
  }

  #open(path: string, flags: number, mode: number): SystemAnswer | Promise<SystemAnswer> {
    const writes = (flags & FLAGS.access) !== 0;
    const port = this.#guest.portAt(path);
    if (port !== null) return this.#openPort(port, writes);
    const isNew = (flags & FLAGS.create) !== 0;
    const mustBeNew = isNew && (flags & FLAGS.exclusive) !== 0;
    const found = this.#paths.resolve(path, !mustBeNew && (flags & FLAGS.noFollow) === 0);
    const { address, entry } = found;
    if (address === null) return this.#openVirtual(found, flags);
    if (entry === null) {
      if (!isNew) throw this.#paths.missing(found);
      if (path.endsWith('/')) throw new Refused('EISDIR');
      this.#paths.requireFolder(found);
      asPosix(path, () =>
        this.#files.put(address.path, new Uint8Array(0), address.volume, { mode: mode & PERMISSIONS }),
      );
    } else {
      if (mustBeNew) throw new Refused('EEXIST');
      if (entry.kind === 'link') throw new Refused('ELOOP');
      if (entry.kind === 'dir') {
        if (writes || isNew) throw new Refused('EISDIR');
        requireBits(entry.mode, MAY.read, path);
        return this.#add({ kind: 'dir', path: found.path, listed: null }, KINDS.dir);
      }
      if ((flags & FLAGS.directory) !== 0) throw new Refused('ENOTDIR');
      requireBits(entry.mode, bitsOf(flags), path);
    }
    const file = this.#files.openFile(address.path, address.volume);
    try {
      if ((flags & FLAGS.truncate) !== 0 && entry !== null) asPosix(path, () => this.#files.truncateOpen(file, 0));
      return this.#add({ kind: 'file', file }, KINDS.file);
    } catch (error) {
      this.#files.closeFile(file);
      throw error;
    }
  }

  async #openPort(port: FilePort, writes: boolean): Promise<SystemAnswer> {
    if (writes) return this.#add({ kind: 'port', port, written: [] }, KINDS.device);
    return this.#add({ kind: 'bytes', content: await port.read(), path: '/dev/port' }, KINDS.device);
  }

  #openVirtual({ path }: ResolvedPath, flags: number): SystemAnswer {
    if (ENDLESS.includes(path)) return this.#add({ kind: 'endless', path }, KINDS.device);
    const { virtualFiles } = this.#guest;
    if (virtualFiles.stat(path) === null) throw new Refused((flags & FLAGS.create) === 0 ? 'ENOENT' : 'EACCES');
    if ((flags & FLAGS.access) !== 0) throw new Refused(virtualFiles.list(path) === null ? 'EACCES' : 'EISDIR');
    if (virtualFiles.list(path) !== null) return this.#add({ kind: 'dir', path, listed: null }, KINDS.dir);
    return this.#add({ kind: 'bytes', content: Buffer.from(virtualFiles.read(path) ?? ''), path }, KINDS.file);
  }

  async #close(number: number): Promise<SystemAnswer> {
    const handle = this.#handle(number);
    this.#handles.delete(number);
    if (handle.kind === 'file') this.#files.closeFile(handle.file);
    if (handle.kind === 'port' && handle.written.length > 0) await handle.port.write(Buffer.concat(handle.written));
    return {};
  }

  #handle(number: number): Handle {
    const handle = this.#handles.get(number);
    if (handle === undefined) throw new Refused('EBADF');
    return handle;
  }

  #opened(number: number): FileInUse {
    const handle = this.#handle(number);
    if (handle.kind === 'file') return handle.file;
    throw new Refused(handle.kind === 'dir' ? 'EISDIR' : 'EINVAL');
  }

  #read(number: number, position: number, length: number): SystemAnswer {
    const handle = this.#handle(number);
    if (handle.kind === 'endless') return { data: new Uint8Array(length) };
    if (handle.kind === 'bytes') return { data: handle.content.subarray(position, position + length) };
    const file = this.#opened(number);
    const data = asPosix('', () => this.#files.readOpen(file, position, length));
    const isCut = data.byteLength < length && position + data.byteLength < this.#files.entryOf(file).size;
    return { data, value: isCut ? 1 : 0 };
  }

  #write(number: number, data: Uint8Array, at: number | 'end'): SystemAnswer {
    const handle = this.#handle(number);
    if (handle.kind === 'port') handle.written.push(Buffer.from(data));
    else if (handle.kind !== 'endless')
      return { value: asPosix('', () => this.#files.writeOpen(this.#opened(number), data, at)) };
    else if (handle.path === '/dev/full') throw new Refused('ENOSPC');
    return { value: (at === 'end' ? 0 : at) + data.byteLength };
  }

  #truncate(file: FileInUse, size: number): SystemAnswer {
    if (size < 0) throw new Refused('EINVAL');
    asPosix('', () => this.#files.truncateOpen(file, size));
    return {};
  }

  #resize(path: string, size: number): SystemAnswer {
    const { address, entry } = this.#paths.existing(path);
    if (address === null) throw new Refused('EACCES');
    if (entry?.kind === 'dir') throw new Refused('EISDIR');
    requireBits(entry?.mode ?? 0, MAY.write, path);
    const file = this.#files.openFile(address.path, address.volume);
    try {
      return this.#truncate(file, size);
    } finally {
      this.#files.closeFile(file);
    }
  }

  #setOpen(number: number, change: { mode?: number; mtime?: number }): SystemAnswer {
    const handle = this.#handle(number);
    if (handle.kind === 'dir') {
      const { mode, mtime } = change;
      return this.#paths.change(handle.path, (at) =>
        mode === undefined
          ? this.#files.utimes(at.path, mtime ?? 0, at.volume)
          : this.#files.chmod(at.path, mode, at.volume),
      );
    }
    asPosix('', () => this.#files.setOpen(this.#opened(number), change));
    return {};
  }

  #statOpen(number: number): Stat {
    const handle = this.#handle(number);
    if (handle.kind === 'dir') return this.#paths.stat(handle.path, true);
    if (handle.kind === 'file') {
      const { address } = handle.file;
      const entry = asPosix('', () => this.#files.entryOf(handle.file));
      return systemStatOf(
        entry,
        address === null ? `removed ${number}` : `/${address.volume}${address.path}`,
        address !== null,
      );
    }
    return { mode: KINDS.device | 0o666, size: 0, mtime: 0, identity: handle.kind, links: 1 };
  }

  /** Some of the names in an open directory from a number on; the value is the next one, -1 at the end. */
  #list(number: number, from: number): SystemAnswer {
    const handle = this.#handle(number);
    if (handle.kind !== 'dir') throw new Refused('ENOTDIR');
    handle.listed ??= this.#paths.namesIn(handle.path);
    const some: [string, string][] = [];
    let at = from;
    for (let bytes = 0; at < handle.listed.length; at += 1) {
      const entry = handle.listed[at] ?? ['', ''];
      bytes += JSON.stringify(entry).length * 3;
      if (bytes > DATA_BYTES / 2) break;
      some.push(entry);
    }
    return { value: at < handle.listed.length ? at : -1, data: Buffer.from(JSON.stringify(some)) };
  }
}

/** What the mode of a file has to allow for it to be opened so. */
function bitsOf(flags: number): number {
  const access = flags & FLAGS.access;
  const isChanged = access !== 0 || (flags & FLAGS.truncate) !== 0;
  return (access === 1 ? 0 : MAY.read) | (isChanged ? MAY.write : 0);
}

/** Throws EILSEQ for a name that is not UTF-8: it would be stored under another one. */
function textOf(data: Uint8Array): string {
  // Shared memory is not decoded.
  const bytes = Buffer.from(data);
  const text = bytes.toString('utf8');
  if (text.includes('\ufffd') && !Buffer.from(text).equals(bytes)) throw new Refused('EILSEQ');
  return text;
}

/** Two texts with a NUL between them. */
function pairOf(data: Uint8Array): [string, string] {
  const [first = '', second = ''] = textOf(data).split('\0');
  return [first, second];
}
