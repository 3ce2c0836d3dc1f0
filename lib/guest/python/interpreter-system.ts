/**
 * The calls of CPython's system that are about files, in place of Emscripten's: those of paths ask the worker, and a
 * descriptor that is opened so is a stream whose operations ask it. What is under /lib, and some devices, stay
 * Emscripten's own. There are no sockets. Runs in the interpreter's thread.
 */

import { takesErrorText } from './error-numbers.ts';
import { DATA_BYTES } from './interpreter-channel.ts';
import type { InterpreterMemory } from './interpreter-memory.ts';
import {
  type EmscriptenFiles,
  heapBytes,
  type Shared,
  type Stream,
  type StreamOperations,
  workerStreams,
} from './interpreter-streams.ts';
import { InterpreterTimers } from './interpreter-timers.ts';
import { FLAGS, UMASK_PATH, wasiError } from './wasi.ts';
import type { WorkerCalls } from './worker-calls.ts';

type Call = (...args: never[]) => number;
type Calls = Record<string, Call>;

/** Emscripten's own: the library, and devices without a state of the sandbox. */
const LOCAL = /^\/(?:lib(?:\/.*)?|dev\/(?:null|random|urandom))$/;
/** A descriptor of the process by its name. */
const DESCRIPTOR = /^\/(?:dev\/(stdin|stdout|stderr)|(?:dev|proc\/self)\/fd\/(\d{1,4}))$/;
const STANDARD: Readonly<Record<string, number>> = { stdin: 0, stdout: 1, stderr: 2 };
const AT_CWD = -100;
const AT_NO_FOLLOW = 0x100;
const AT_REMOVE_FOLDER = 0x200;
const NOW_NANOSECONDS = 0x3fffffff;
const OMIT_NANOSECONDS = 0x3ffffffe;
const SOCKETS = ['connect', 'bind', 'listen', 'accept4', 'sendto', 'sendmsg', 'recvfrom', 'recvmsg'];

export class InterpreterSystem {
  readonly #memory: InterpreterMemory;
  readonly #worker: WorkerCalls;
  readonly #operations: StreamOperations;
  readonly #stdin: Uint8Array;
  readonly timers: InterpreterTimers;
  #cwd: string;
  #mask = 0o022;
  #files: EmscriptenFiles | null = null;
  #stdinAt = 0;

  constructor(worker: WorkerCalls, memory: InterpreterMemory, { stdin, cwd }: { stdin: Uint8Array; cwd: string }) {
    this.#worker = worker;
    this.#memory = memory;
    this.#operations = workerStreams(worker, memory);
    this.timers = new InterpreterTimers(memory);
    this.#stdin = stdin;
    this.#cwd = cwd;
  }

  /** Takes the standard streams, which are there now. */
  begin(files: EmscriptenFiles): void {
    this.#files = files;
    this.#worker.begin(files.ErrnoError);
    const errors = files.streams[2]?.node;
    const output = (stream: Stream, heap: Int8Array, offset: number, length: number) => {
      this.print(stream.node === errors ? 2 : 1, heapBytes(heap, offset, length));
      return length;
    };
    const close = () => {};
    const ends: Partial<StreamOperations>[] = [
      { read: (_stream, heap, offset, length) => this.#readInput(heap, offset, length), close },
      { write: output, close },
      { write: output, close },
    ];
    for (const [fd, stream_ops] of ends.entries()) {
      const stream = files.streams[fd];
      if (stream) Object.assign(stream, { stream_ops, tty: undefined });
    }
  }

  /** Prints, and waits until that has arrived. */
  print(descriptor: number, content: Uint8Array): void {
    for (let at = 0; at < content.byteLength; at += DATA_BYTES) {
      const piece = content.subarray(at, at + DATA_BYTES);
      this.#worker.data.set(piece);
      this.#worker.ask('print', piece.byteLength, descriptor);
    }
  }

  exit(code: number): void {
    this.#worker.ask('exit', 0, code);
  }

  /** The imports of the module, with these calls among them. */
  replaced(imports: WebAssembly.Imports): WebAssembly.Imports {
    const env = { ...imports.env } as unknown as Calls;
    const own = this.#calls({ ...env });
    for (const [name, call] of Object.entries(own)) {
      env[name] = (...args) => {
        try {
          return call(...args);
        } catch (error) {
          const { errno } = error as { errno?: unknown };
          if (typeof errno !== 'number') throw error;
          return -errno;
        }
      };
    }
    for (const name of SOCKETS) env[`__syscall_${name}`] = () => -wasiError('EACCES');
    return { ...imports, env: env as unknown as WebAssembly.ModuleImports };
  }

  #calls(plain: Calls): Calls {
    /** Asks the worker about a path, or Emscripten where it is its own. */
    const local = (name: string, path: string, ...args: number[]) =>
      LOCAL.test(path) ? (plain[name] as (...given: number[]) => number)(...args) : null;
    const stat = (name: string, args: number[], at: number, pointer: number, buffer: number, follow: boolean) => {
      const path = this.#path(at, pointer);
      const answer = local(name, path, ...args);
      if (answer !== null) return answer;
      const descriptor = this.#descriptorAt(path);
      if (descriptor !== null && follow)
        return (plain.__syscall_fstat64 as (...given: number[]) => number)(descriptor.fd, buffer);
      this.#askPath('stat', path, follow ? 1 : 0);
      return this.#stat(buffer);
    };
    const fstat = plain.__syscall_fstat64 as (...given: number[]) => number;
    const calls: Record<string, (...args: number[]) => number> = {
      __syscall_openat: (at = 0, pointer = 0, flags = 0, rest = 0) => {
        const path = this.#path(at, pointer);
        const answer = local('__syscall_openat', path, at, pointer, flags, rest);
        if (answer !== null) return answer;
        const descriptor = this.#descriptorAt(path);
        if (descriptor !== null) return this.#fs.dupStream(descriptor).fd;
        return this.#open(path, flags, rest === 0 ? 0 : this.#memory.view.getInt32(rest, true) & ~this.#mask);
      },
      __syscall_stat64: (pointer = 0, buffer = 0) =>
        stat('__syscall_stat64', [pointer, buffer], AT_CWD, pointer, buffer, true),
      __syscall_lstat64: (pointer = 0, buffer = 0) =>
        stat('__syscall_lstat64', [pointer, buffer], AT_CWD, pointer, buffer, false),
      __syscall_newfstatat: (at = 0, pointer = 0, buffer = 0, flags = 0) =>
        stat('__syscall_newfstatat', [at, pointer, buffer, flags], at, pointer, buffer, (flags & AT_NO_FOLLOW) === 0),
      __syscall_fstat64: (fd = 0, buffer = 0) => {
        const handle = this.#handle(fd);
        if (handle === null) return fstat(fd, buffer);
        this.#worker.ask('statOpen', 0, handle.number);
        return this.#stat(buffer);
      },
      __syscall_ftruncate64: (fd = 0, size = 0) => {
        const handle = this.#handle(fd);
        if (handle === null) return (plain.__syscall_ftruncate64 as (...given: number[]) => number)(fd, size);
        if (((this.#fs.streams[fd]?.flags ?? 0) & FLAGS.access) === 0) throw this.#worker.named('EINVAL');
        this.#worker.ask('truncate', 0, handle.number, Number(size));
        return 0;
      },
      __syscall_fchmod: (fd = 0, mode = 0) => {
        const handle = this.#handle(fd);
        if (handle !== null) this.#worker.ask('chmodOpen', 0, handle.number, mode);
        return 0;
      },
      __syscall_chmod: (pointer = 0, mode = 0) => this.#chmod(this.#path(AT_CWD, pointer), mode),
      __syscall_fchmodat2: (at = 0, pointer = 0, mode = 0, flags = 0) => {
        if ((flags & AT_NO_FOLLOW) !== 0) throw this.#worker.named('ENOTSUP');
        return this.#chmod(this.#path(at, pointer), mode);
      },
      __syscall_fchown32: () => 0,
      _Py_CheckEmscriptenSignals_Helper: () => this.timers.check(),
      // The names only: what `localtime` answers is UTC too.
      _tzset_js: (zone = 0, daylight = 0, standard = 0, summer = 0) => {
        for (const at of [zone, daylight]) this.#memory.view.setUint32(at, 0, true);
        for (const at of [standard, summer]) this.#memory.heap.set(Buffer.from('UTC\0'), at);
        return 0;
      },
      __syscall_fchownat: (at = 0, pointer = 0, owner = 0, group = 0, flags = 0) => {
        // Everything belongs to the one user, and to nobody else.
        this.#askPath('stat', this.#path(at, pointer), (flags & AT_NO_FOLLOW) === 0 ? 1 : 0);
        if (owner > 0 || group > 0) throw this.#worker.named('EPERM');
        return 0;
      },
      __syscall_faccessat: (at = 0, pointer = 0, needs = 0, flags = 0) => {
        const path = this.#path(at, pointer);
        const answer = local('__syscall_faccessat', path, at, pointer, needs, flags);
        return answer ?? this.#askPath('access', path, needs);
      },
      __syscall_mkdirat: (at = 0, pointer = 0, mode = 0) =>
        this.#askPath('mkdir', this.#path(at, pointer), mode & ~this.#mask),
      __syscall_rmdir: (pointer = 0) => this.#askPath('rmdir', this.#path(AT_CWD, pointer)),
      __syscall_unlinkat: (at = 0, pointer = 0, flags = 0) =>
        this.#askPath((flags & AT_REMOVE_FOLDER) === 0 ? 'unlink' : 'rmdir', this.#path(at, pointer)),
      __syscall_renameat: (fromAt = 0, from = 0, toAt = 0, to = 0) =>
        this.#askPath('rename', `${this.#path(fromAt, from)}\0${this.#path(toAt, to)}`),
      __syscall_symlinkat: (target = 0, at = 0, pointer = 0) =>
        this.#askPath('symlink', `${this.#text(target)}\0${this.#path(at, pointer)}`),
      __syscall_readlinkat: (at = 0, pointer = 0, buffer = 0, size = 0) => {
        const path = this.#path(at, pointer);
        const answer = local('__syscall_readlinkat', path, at, pointer, buffer, size);
        if (answer !== null) return answer;
        const given = Math.min(this.#worker.askPath('readlink', path).bytes, size);
        this.#memory.heap.set(this.#worker.data.subarray(0, given), buffer);
        return given;
      },
      __syscall_truncate64: (pointer = 0, size = 0) =>
        this.#askPath('resize', this.#path(AT_CWD, pointer), Number(size)),
      __syscall_utimensat: (at = 0, pointer = 0, times = 0, flags = 0) => this.#utime(at, pointer, times, flags),
      __syscall_statfs64: (_pointer = 0, _size = 0, buffer = 0) => this.#room(buffer),
      __syscall_fstatfs64: (_fd = 0, _size = 0, buffer = 0) => this.#room(buffer),
      __syscall_chdir: (pointer = 0) => this.#enter(this.#path(AT_CWD, pointer)),
      __syscall_fchdir: (fd = 0) => {
        const handle = this.#handle(fd);
        if (handle === null) throw this.#worker.named('ENOTDIR');
        return this.#enter(handle.path);
      },
      __syscall_getcwd: (buffer = 0, size = 0) => {
        this.#askPath('folder', this.#cwd);
        const bytes = Buffer.from(`${this.#cwd}\0`);
        if (bytes.byteLength > size) throw this.#worker.named('ERANGE');
        this.#memory.heap.set(bytes, buffer);
        return bytes.byteLength;
      },
      __syscall_getdents64: (fd = 0, buffer = 0, size = 0) => this.#list(fd, buffer, size),
    };
    return calls as unknown as Calls;
  }

  #open(path: string, flags: number, mode: number): number {
    const files = this.#fs;
    const { value } = this.#worker.askPath('open', path, flags, mode);
    const kind = this.#worker.doubles(1)[0] ?? 0;
    const stream = files.createStream({
      node: new files.FSNode(null, path, kind, 0),
      path,
      // Emscripten would look for the end itself before each write.
      flags: flags & ~FLAGS.append,
      seekable: true,
      position: 0,
      stream_ops: this.#operations,
      handle: { number: value, uses: 1, appends: (flags & FLAGS.append) !== 0, path } satisfies Shared,
      ungotten: [],
      error: false,
    });
    stream.flags = flags & ~FLAGS.append;
    stream.position = 0;
    return stream.fd;
  }

  #readInput(heap: Int8Array, offset: number, length: number): number {
    const piece = this.#stdin.subarray(this.#stdinAt, this.#stdinAt + length);
    heap.set(piece, offset);
    this.#stdinAt += piece.byteLength;
    return piece.byteLength;
  }

  #chmod(path: string, mode: number): number {
    if (takesErrorText(path, this.#memory.view) || this.timers.takes(path, mode)) return 0;
    if (path !== UMASK_PATH) return this.#askPath('chmod', path, mode);
    this.#mask = mode & 0o777;
    return 0;
  }

  #enter(path: string): number {
    this.#cwd = this.#worker.text(this.#worker.askPath('folder', path).bytes);
    return 0;
  }

  #utime(at: number, pointer: number, times: number, flags: number): number {
    let milliseconds = Date.now();
    if (times !== 0) {
      const view = this.#memory.view;
      const nanoseconds = view.getInt32(times + 24, true);
      // The time of access is that of the last change.
      if (nanoseconds === OMIT_NANOSECONDS) return 0;
      const seconds = Number(view.getBigInt64(times + 16, true));
      if (nanoseconds !== NOW_NANOSECONDS) milliseconds = seconds * 1000 + Math.floor(nanoseconds / 1e6);
    }
    if (pointer === 0 || this.#memory.heap[pointer] === 0) {
      const handle = this.#handle(at);
      if (handle === null) throw this.#worker.named('EBADF');
      this.#worker.ask('utimeOpen', 0, handle.number, milliseconds);
      return 0;
    }
    return this.#askPath('utime', this.#path(at, pointer), milliseconds, (flags & AT_NO_FOLLOW) === 0 ? 1 : 0);
  }

  #list(fd: number, buffer: number, size: number): number {
    const stream = this.#fs.streams[fd];
    if (!stream?.handle) throw this.#worker.named('ENOTDIR');
    stream.entries ??= this.#entries(stream.handle.number);
    const first = this.#memory.entryAt(stream.position);
    const [bytes, position] = this.#memory.writeEntries(buffer, size, stream.entries, first);
    stream.position = position;
    return bytes;
  }

  #entries(number: number): [string, string][] {
    const all: [string, string][] = [
      ['.', 'dir'],
      ['..', 'dir'],
    ];
    for (let from = 0; from >= 0; ) {
      const { value, bytes } = this.#worker.ask('list', 0, number, from);
      all.push(...(JSON.parse(this.#worker.text(bytes)) as [string, string][]));
      from = value;
    }
    return all;
  }

  get #fs(): EmscriptenFiles {
    if (this.#files === null) throw new Error('Python has not begun.');
    return this.#files;
  }

  #handle(fd: number): Shared | null {
    const stream = this.#fs.streams[fd];
    if (!stream) throw this.#worker.named('EBADF');
    return stream.handle ?? null;
  }

  #descriptorAt(path: string): Stream | null {
    const [, name, digits] = DESCRIPTOR.exec(path) ?? [];
    const fd = name === undefined ? Number(digits ?? -1) : (STANDARD[name] ?? -1);
    return this.#fs.streams[fd] ?? null;
  }

  /** An absolute path. The worker takes its `..` away. */
  #path(at: number, pointer: number): string {
    const text = pointer === 0 ? '' : this.#text(pointer);
    if (text === '') throw this.#worker.named('ENOENT');
    if (text.startsWith('/')) return text;
    if (at === AT_CWD) return `${this.#cwd}/${text}`;
    const handle = this.#handle(at);
    if (handle === null) throw this.#worker.named('ENOTDIR');
    return `${handle.path}/${text}`;
  }

  #text(pointer: number): string {
    const text = this.#memory.text(pointer);
    if (text === null) throw this.#worker.named('EILSEQ');
    return text;
  }

  #stat(buffer: number): number {
    this.#memory.writeStat(buffer, this.#worker.doubles(5));
    return 0;
  }

  #room(buffer: number): number {
    this.#worker.ask('room', 0);
    this.#memory.writeRoom(buffer, this.#worker.doubles(2));
    return 0;
  }

  #askPath(...given: Parameters<WorkerCalls['askPath']>): number {
    this.#worker.askPath(...given);
    return 0;
  }
}
