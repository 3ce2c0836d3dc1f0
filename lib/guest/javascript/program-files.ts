/**
 * The files of a program: one call for each question of the guest's `fs`, answered by the open files of the running
 * call, which Python uses too. Knows nothing of QuickJS.
 */
import { isUtf8 } from 'node:buffer';
import type { Overlay } from '../../vfs/overlay.ts';
import { DATA_BYTES, type SystemAnswer } from '../python/interpreter-channel.ts';
import { InterpreterFiles } from '../python/interpreter-files.ts';
import { FLAGS } from '../python/wasi.ts';
import type { GuestFiles } from '../shell/guest-files.ts';
import { type HostFunction, Utf8Bytes } from './javascript-bridge.ts';

type Operation = Parameters<InterpreterFiles['answer']>[0];

const SINGLE: ReadonlySet<string> = new Set<Operation>([
  ...(['close', 'truncate', 'chmodOpen', 'utimeOpen', 'access', 'mkdir', 'rmdir', 'unlink', 'rename'] as const),
  ...(['symlink', 'chmod', 'utime', 'resize'] as const),
]);
const DOUBLES: ReadonlySet<string> = new Set<Operation>(['stat', 'statOpen', 'room']);
const TEXTS: ReadonlySet<string> = new Set<Operation>(['readlink', 'folder']);

export class ProgramFiles {
  readonly #files: InterpreterFiles;
  readonly #guest: GuestFiles;
  readonly #umask: number;

  constructor(guest: GuestFiles, files: Overlay, umask: number) {
    this.#guest = guest;
    this.#files = new InterpreterFiles(guest, files);
    this.#umask = umask;
  }

  closeAll(): void {
    this.#files.closeAll();
  }

  /** Answers a question: bytes, or what JSON has. Throws an error whose `code` is POSIX's. */
  readonly answer: HostFunction = (operation, path, numbers, data) => {
    try {
      const given = Buffer.from(String(path));
      const listed = String(numbers ?? '');
      const values = listed === '' ? [] : listed.split(',').map(Number);
      return this.#answer(String(operation), given, values, data);
    } catch (error) {
      throw coded(error);
    }
  };

  #answer(operation: string, path: Buffer, values: number[], data: string | Uint8Array | undefined): unknown {
    const [a = 0, b = 0, c = 0] = values;
    if (operation === 'mkdir') return this.#ask('mkdir', path, a & ~this.#umask).value ?? null;
    if (SINGLE.has(operation)) return this.#ask(operation as Operation, path, a, b).value ?? null;
    if (DOUBLES.has(operation)) return doublesOf(this.#ask(operation as Operation, path, a));
    if (TEXTS.has(operation)) return textOf(this.#ask(operation as Operation, path));
    switch (operation) {
      case 'realpath':
        return this.#realpath(path);
      case 'open':
        return this.#open(path, a, b);
      case 'read':
        return this.#read(a, b, c);
      case 'readRest':
        return this.#read(a, b, Number.POSITIVE_INFINITY);
      case 'readFile':
        return this.#readFile(path, a);
      case 'readText': {
        const bytes = this.#readFile(path, a);
        return isUtf8(bytes) ? new Utf8Bytes(bytes) : bytes.toString();
      }
      case 'write':
        return this.#write(a, bytesOf(data), b);
      case 'writeFile':
        return this.#writeFile(path, a, b, bytesOf(data));
      case 'copyFile':
        return this.#copyFile(path, a !== 0);
      case 'list':
        return this.#list(path);
      default:
        throw coded(new Error('ENOSYS'));
    }
  }

  #ask(operation: Operation, data: Uint8Array, a = 0, b = 0, c = 0): SystemAnswer {
    const answer = this.#files.answer(operation, data, Float64Array.of(a, b, c));
    if (!(answer instanceof Promise)) return answer;
    // Closing a file is done by now. A port alone is waited for, and no program opens one.
    answer.catch(() => undefined);
    if (operation === 'open') throw coded(new Error('ENXIO'));
    return {};
  }

  #open(path: Buffer, flags: number, mode: number): number {
    return this.#ask('open', path, flags, mode & ~this.#umask).value ?? 0;
  }

  #read(handle: number, from: number, length: number): Buffer {
    const parts: Uint8Array[] = [];
    for (let at = from; at - from < length; ) {
      const { data } = this.#ask('read', NOTHING, handle, at, Math.min(length - (at - from), DATA_BYTES));
      if (data === undefined || data.byteLength === 0) break;
      parts.push(Uint8Array.from(data));
      at += data.byteLength;
    }
    return Buffer.concat(parts);
  }

  #readFile(path: Buffer, flags: number): Buffer {
    const handle = this.#open(path, flags, 0o666);
    try {
      return this.#read(handle, 0, Number.POSITIVE_INFINITY);
    } finally {
      this.#ask('close', NOTHING, handle);
    }
  }

  /** How many bytes were written, and where the file is then. */
  #write(handle: number, bytes: Uint8Array, at: number): [count: number, end: number] {
    const { value = 0 } = this.#ask('write', bytes, handle, at);
    return [bytes.byteLength, value];
  }

  #writeFile(path: Buffer, flags: number, mode: number, bytes: Uint8Array): number {
    const handle = this.#open(path, flags, mode);
    try {
      if (bytes.byteLength > 0) this.#write(handle, bytes, (flags & FLAGS.append) === 0 ? 0 : -1);
      return bytes.byteLength;
    } finally {
      this.#ask('close', NOTHING, handle);
    }
  }

  #copyFile(pair: Buffer, mustBeNew: boolean): number {
    const [from = '', to = ''] = pair.toString().split('\0');
    const [source, target] = [Buffer.from(from), Buffer.from(to)];
    const [mode = 0] = doublesOf(this.#ask('stat', source, 1));
    const bytes = this.#readFile(source, 0);
    const isNew = mustBeNew ? FLAGS.exclusive : 0;
    return this.#writeFile(target, 1 | FLAGS.create | FLAGS.truncate | isNew, mode & 0o7777, bytes);
  }

  #list(path: Buffer): [string, string][] {
    const handle = this.#open(path, 0, 0);
    try {
      const entries: [string, string][] = [];
      for (let at = 0; at >= 0; ) {
        const { value = -1, data = NOTHING } = this.#ask('list', NOTHING, handle, at);
        entries.push(...(JSON.parse(Buffer.from(data).toString()) as [string, string][]));
        at = value;
      }
      return entries;
    } finally {
      this.#ask('close', NOTHING, handle);
    }
  }

  #realpath(path: Buffer): string {
    this.#ask('stat', path, 1);
    return JSON.stringify(this.#guest.resolve(path.toString()).path);
  }
}

const NOTHING = new Uint8Array(0);
const bytesOf = (data: string | Uint8Array | undefined) => (data instanceof Uint8Array ? data : NOTHING);
const textOf = ({ data }: SystemAnswer) => JSON.stringify(Buffer.from(data ?? NOTHING).toString());
const doublesOf = ({ data = NOTHING }: SystemAnswer) => [...new Float64Array(Uint8Array.from(data).buffer)];

/** An error with POSIX's name as its code; any other one as it is. */
function coded(error: unknown): unknown {
  if (!(error instanceof Error) || ('code' in error && typeof error.code === 'string')) return error;
  return /^E[A-Z0-9]+$/.test(error.message) ? Object.assign(new Error(error.message), { code: error.message }) : error;
}
