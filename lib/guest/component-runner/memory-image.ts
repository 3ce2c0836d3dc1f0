/**
 * The memory of a WebAssembly module as it is kept: the parts that differ from the memory that it begins with, and its
 * exported mutable globals, compressed. Knows nothing of calls.
 */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Memory is compared and kept by pieces of this many bytes. */
const PIECE_BYTES = 4096;
const WASM_PAGE_BYTES = 65_536;
const NEWLINE = 10;

interface ImageHeader {
  /** SHA-256 of the module, and of the memory that it begins with. */
  module: string;
  begins: string;
  /** Size of the memory in bytes. */
  bytes: number;
  /** Exported mutable globals by name; 64-bit integers as text. */
  globals: Record<string, number | string>;
  /** Numbers of the pieces that follow. */
  pieces: number[];
}

/** What a module's memory is compared with. */
export interface MemoryStart {
  module: string;
  bytes: Uint8Array;
  hash: string;
}

/** Notes the memory of an instance that has not run yet. */
export function memoryStart(module: Uint8Array, memory: WebAssembly.Memory): MemoryStart {
  const bytes = new Uint8Array(memory.buffer).slice();
  return { module: sha256(module), bytes, hash: sha256(bytes) };
}

export function packMemory(start: MemoryStart, exports: WebAssembly.Exports, memory: WebAssembly.Memory): Uint8Array {
  const now = new Uint8Array(memory.buffer);
  const empty = new Uint8Array(PIECE_BYTES);
  const pieces: number[] = [];
  for (let at = 0; at * PIECE_BYTES < now.byteLength; at += 1) {
    const piece = pieceOf(now, at);
    const before = (at + 1) * PIECE_BYTES <= start.bytes.byteLength ? pieceOf(start.bytes, at) : empty;
    if (Buffer.compare(piece, before) !== 0) pieces.push(at);
  }
  const globals = Object.fromEntries(
    mutableGlobals(exports).map(([name, global]) => {
      const value: unknown = global.value;
      return [name, typeof value === 'bigint' ? String(value) : Number(value)];
    }),
  );
  const header: ImageHeader = { module: start.module, begins: start.hash, bytes: now.byteLength, globals, pieces };
  const content = Buffer.concat(pieces.map((at) => pieceOf(now, at)));
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), deflateRawSync(content, { level: 1 })]);
}

/** Puts a kept memory back. Throws when it is of another module, or does not fit. */
export function unpackMemory(
  image: Uint8Array,
  start: MemoryStart,
  exports: WebAssembly.Exports,
  memory: WebAssembly.Memory,
): void {
  const end = image.indexOf(NEWLINE);
  const header = JSON.parse(Buffer.from(image.subarray(0, end)).toString()) as ImageHeader;
  if (header.module !== start.module)
    throw new Error('what is kept is the memory of another module: only the same module can go on with it');
  if (header.begins !== start.hash) throw new Error('the memory that the module begins with is not the same each time');
  const missing = header.bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / WASM_PAGE_BYTES));
  const content = inflateRawSync(image.subarray(end + 1), { maxOutputLength: header.bytes + PIECE_BYTES });
  const now = new Uint8Array(memory.buffer);
  for (const [index, at] of header.pieces.entries()) now.set(pieceOf(content, index), at * PIECE_BYTES);
  for (const [name, global] of mutableGlobals(exports)) {
    const value = header.globals[name];
    if (value !== undefined) global.value = typeof value === 'string' ? BigInt(value) : value;
  }
}

/** The exported globals that can be set. */
export function mutableGlobals(exports: WebAssembly.Exports): [name: string, global: WebAssembly.Global][] {
  return Object.entries(exports).flatMap(([name, value]): [string, WebAssembly.Global][] => {
    if (!(value instanceof WebAssembly.Global)) return [];
    try {
      // Only a mutable one takes a value, its own as well.
      value.value = value.value as never;
      return [[name, value]];
    } catch {
      return [];
    }
  });
}

function pieceOf(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
