/** The memory of CPython: texts that it passes, and structures of its system. Runs in the interpreter's thread. */

const SYSTEM_BLOCK_BYTES = 512;
const BLOCK_BYTES = 4096;
const MAX_NAME_BYTES = 255;
const DIRENT_BYTES = 280;
const DIRENT_TYPES: Readonly<Record<string, number>> = { dir: 4, file: 8, link: 10 };

export class InterpreterMemory {
  #memory: WebAssembly.Memory | null = null;
  #allocate: ((align: number, size: number) => number) | null = null;
  #timeOut: ((timer: number, now: number) => void) | null = null;
  /** Where the interpreter is told to look for signals. */
  #checksSignals = 0;

  /** Takes the memory of a module, which is there now. */
  begin({ exports }: WebAssembly.Instance): void {
    this.#memory = exports.memory as WebAssembly.Memory;
    this.#allocate = exports.emscripten_builtin_memalign as (align: number, size: number) => number;
    this.#timeOut = exports._emscripten_timeout as (timer: number, now: number) => void;
    this.#checksSignals = (exports.Py_EMSCRIPTEN_SIGNAL_HANDLING as WebAssembly.Global).value as number;
  }

  /** The address of so many bytes more; 0 when there is no room. */
  allocate(align: number, size: number): number {
    return this.#allocate?.(align, size) ?? 0;
  }

  /** Whether the interpreter asks for signals between its instructions. */
  setChecksSignals(checks: boolean): void {
    if (this.#checksSignals !== 0) this.view.setInt32(this.#checksSignals, checks ? 1 : 0, true);
  }

  /** Raises the signal of a timer. */
  raise(timer: number, now: number): void {
    this.#timeOut?.(timer, now);
  }

  get heap(): Uint8Array {
    return new Uint8Array(this.#memory?.buffer ?? new ArrayBuffer(0));
  }

  get view(): DataView {
    return new DataView(this.#memory?.buffer ?? new ArrayBuffer(0));
  }

  /** The text at an address; null when it is not UTF-8. */
  text(pointer: number): string | null {
    const { heap } = this;
    const bytes = Buffer.from(heap.subarray(pointer, heap.indexOf(0, pointer)));
    const text = bytes.toString('utf8');
    return text.includes('\ufffd') && !Buffer.from(text).equals(bytes) ? null : text;
  }

  writeStat(buffer: number, [mode = 0, size = 0, mtime = 0, inode = 0, links = 1]: Float64Array): void {
    const { view } = this;
    for (const [at, value] of [1, mode, links, 0, 0, 0].entries()) view.setUint32(buffer + 4 * at, value, true);
    view.setBigInt64(buffer + 24, BigInt(size), true);
    view.setInt32(buffer + 32, BLOCK_BYTES, true);
    view.setInt32(buffer + 36, Math.ceil(size / SYSTEM_BLOCK_BYTES), true);
    for (const at of [40, 56, 72]) {
      view.setBigInt64(buffer + at, BigInt(mtime), true);
      view.setUint32(buffer + at + 8, 0, true);
    }
    view.setBigInt64(buffer + 88, BigInt(inode), true);
  }

  /** Writes the structure of statvfs(3). */
  writeRoom(buffer: number, [blocks = 0, free = 0]: Float64Array): void {
    const { view } = this;
    for (const at of [4, 60]) view.setUint32(buffer + at, BLOCK_BYTES, true);
    for (const [at, value] of [blocks, free, free, 0, 0].entries())
      view.setBigInt64(buffer + 8 + 8 * at, BigInt(value), true);
    for (const [at, value] of [
      [48, 0],
      [56, MAX_NAME_BYTES],
      [64, 0],
    ] as const)
      view.setUint32(buffer + at, value, true);
  }

  /** The number of an entry of a directory that is at a position of its descriptor. */
  entryAt(position: number): number {
    return Math.floor(position / DIRENT_BYTES);
  }

  /** Writes as many entries of a directory as fit, from a number on. Returns their bytes, and the position behind. */
  writeEntries(buffer: number, size: number, all: readonly [string, string][], first: number): [number, number] {
    const { heap, view } = this;
    const some = all.slice(first, first + Math.floor(size / DIRENT_BYTES));
    for (const [index, [name, kind]] of some.entries()) {
      const at = buffer + index * DIRENT_BYTES;
      view.setBigUint64(at, BigInt(first + index + 1), true);
      view.setBigUint64(at + 8, BigInt((first + index + 1) * DIRENT_BYTES), true);
      view.setUint16(at + 16, DIRENT_BYTES, true);
      view.setUint8(at + 18, DIRENT_TYPES[kind] ?? 0);
      heap.set(Buffer.from(`${name}\0`).subarray(0, MAX_NAME_BYTES + 1), at + 19);
    }
    return [some.length * DIRENT_BYTES, (first + some.length) * DIRENT_BYTES];
  }
}
