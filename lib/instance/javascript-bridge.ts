/**
 * How values cross between QuickJS and its host: whole, or not at all. Knows nothing of what the functions that cross
 * it do.
 *
 * QuickJS hands a string over as a C string, which ends at its first NUL; what is decoded from it has no byte order
 * mark at its start and has U+FFFD for half a surrogate pair. A string that any of that could have changed crosses as
 * JSON, which escapes them.
 */
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { type GuestMemory, requireTransferable } from './transfer-limit.ts';

/**
 * Strings, bytes and JSON values in and out; what it throws is an error inside the guest. Bytes that it is given may be
 * the guest's memory, and are there only until it returns.
 */
export type HostFunction = (...args: (string | Uint8Array | undefined)[]) => unknown;

/** Bytes that are UTF-8, which become a string in the guest without being one in the host. */
export class Utf8Bytes {
  readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}

/** More than this is asked of QuickJS first: what has no memory to go to would be written over its own. */
const UNASKED_BYTES = 512;
/** What an allocation takes beside what was asked for, at most. */
const ALLOCATION_BYTES = 4096;

/** Characters that cross at once: escaped they are six times as many. */
const PIECE_CHARACTERS = 1024 * 1024;
const HALVES = /\p{Surrogate}/gu;

/** Half surrogate pairs as they are written in code, where text becomes UTF-8, which has no form of them. */
export function escapeLoneSurrogates(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replace(HALVES, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** Gathers pieces of a string, which may come as JSON; called without one it gives the whole. */
const GATHER = `((parse, join) => {
  let pieces = [];
  return (piece, json) => {
    if (piece !== undefined) return void (pieces[pieces.length] = json === 1 ? parse(piece) : piece);
    const whole = pieces.length === 1 ? pieces[0] : join(pieces, '');
    pieces = [];
    return whole;
  };
})(JSON.parse, Function.prototype.call.bind(Array.prototype.join))`;

const SLICE =
  '((slice) => (text, from, to) => slice(text, from, to))(Function.prototype.call.bind(String.prototype.slice))';

const NOT_UTF8 =
  'The text holds half a surrogate pair, which UTF-8 has no form of: give bytes, or text.toWellFormed().';

export class JavaScriptBridge {
  readonly #context: QuickJSContext;
  readonly #memory: GuestMemory;
  readonly #stringify: QuickJSHandle;
  readonly #slice: QuickJSHandle;
  readonly #gather: QuickJSHandle;
  readonly #allocate: QuickJSHandle;

  /** Takes what it calls in the guest before the guest can change anything. */
  constructor(context: QuickJSContext, memory: GuestMemory) {
    this.#context = context;
    this.#memory = memory;
    const taken = (code: string) => context.unwrapResult(context.evalCode(code, 'bridge'));
    this.#stringify = taken('JSON.stringify');
    this.#slice = taken(SLICE);
    this.#gather = taken(GATHER);
    this.#allocate = taken('((Buffer) => (bytes) => { new Buffer(bytes); })(ArrayBuffer)');
  }

  dispose(): void {
    for (const handle of [this.#stringify, this.#slice, this.#gather, this.#allocate]) handle.dispose();
  }

  /** A string of the guest. */
  text(handle: QuickJSHandle): string {
    const length = this.#lengthOf(handle);
    requireTransferable(length, this.#memory);
    const pieces: string[] = [];
    for (let from = 0; from < length; from += PIECE_CHARACTERS) pieces.push(this.#piece(handle, length, from));
    return pieces.join('');
  }

  /** A string for the guest. */
  newText(text: string): QuickJSHandle {
    const bytes = Buffer.byteLength(text);
    requireTransferable(bytes, this.#memory);
    this.#requireFreeMemory(bytes);
    for (let from = 0; from < text.length; from += PIECE_CHARACTERS) {
      this.#add(text.slice(from, from + PIECE_CHARACTERS));
    }
    return this.#call(this.#gather);
  }

  /** A function of the guest's that calls `work`. */
  function(name: string, work: HostFunction): QuickJSHandle {
    const context = this.#context;
    return context.newFunction(name, (...handles) => {
      const borrowed: { dispose(): void }[] = [];
      try {
        const answer = work(...handles.map((handle) => this.#received(handle, borrowed)));
        if (answer === undefined) return context.undefined;
        if (typeof answer === 'string') return this.newText(answer);
        if (answer instanceof Uint8Array) return this.#newBytes(answer);
        if (answer instanceof Utf8Bytes) return this.#newTextOf(answer.bytes);
        return this.newText(JSON.stringify(answer));
      } catch (error) {
        return { error: this.#newError(error instanceof Error ? error.message : String(error)) };
      } finally {
        for (const lifetime of borrowed) lifetime.dispose();
      }
    });
  }

  /**
   * An argument as the prelude passes it: text, an ArrayBuffer, `{ utf8 }` for text that is wanted as bytes, or
   * nothing.
   */
  #received(handle: QuickJSHandle, borrowed: { dispose(): void }[]): string | Uint8Array | undefined {
    const context = this.#context;
    const type = context.typeof(handle);
    if (type === 'string') return this.text(handle);
    if (type !== 'object') return undefined;
    const utf8 = context.getProp(handle, 'utf8');
    if (context.typeof(utf8) === 'string') return utf8.consume((text) => this.#utf8Of(text));
    utf8.dispose();
    const size = context.getProp(handle, 'byteLength').consume((given) => context.getNumber(given));
    requireTransferable(size, this.#memory);
    if (size === 0) return new Uint8Array(0);
    this.#requireFreeMemory(size);
    const bytes = context.getArrayBuffer(handle);
    borrowed.push(bytes);
    return bytes.value;
  }

  /** A string of the guest in UTF-8, piece by piece. Throws for half a surrogate pair. */
  #utf8Of(handle: QuickJSHandle): Uint8Array {
    const length = this.#lengthOf(handle);
    requireTransferable(length, this.#memory);
    let bytes = Buffer.allocUnsafe(length);
    let size = 0;
    for (let from = 0; from < length; ) {
      let piece = this.#piece(handle, length, from);
      // The other half of a pair is in the next piece.
      if (from + piece.length < length && /[\ud800-\udbff]$/.test(piece)) piece = piece.slice(0, -1);
      if (!piece.isWellFormed()) throw new TypeError(NOT_UTF8);
      const added = Buffer.byteLength(piece);
      if (size + added > bytes.byteLength) {
        const least = size + added + (length - from - piece.length);
        requireTransferable(least, this.#memory);
        bytes = Buffer.concat([bytes.subarray(0, size)], Math.max(least, Math.ceil(1.5 * bytes.byteLength)));
      }
      size += bytes.write(piece, size);
      from += piece.length;
    }
    return bytes.subarray(0, size);
  }

  /** UTF-8 as a string for the guest, piece by piece. */
  #newTextOf(bytes: Buffer): QuickJSHandle {
    requireTransferable(bytes.byteLength, this.#memory);
    this.#requireFreeMemory(bytes.byteLength);
    for (let from = 0; from < bytes.byteLength; ) {
      let to = Math.min(from + PIECE_CHARACTERS, bytes.byteLength);
      while (to < bytes.byteLength && ((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
      this.#add(bytes.toString('utf8', from, to));
      from = to;
    }
    return this.#call(this.#gather);
  }

  /**
   * A piece of a string from some character on: as it was decoded when it is certain that nothing was lost, and else by
   * way of JSON.
   */
  #piece(handle: QuickJSHandle, whole: number, from: number): string {
    const length = Math.min(PIECE_CHARACTERS, whole - from);
    const piece = length === whole ? handle : this.#call(this.#slice, handle, from, from + length);
    try {
      const decoded = this.#context.getString(piece);
      if (decoded.length === length && !decoded.includes('\ufffd')) return decoded;
      return JSON.parse(this.#call(this.#stringify, piece).consume((json) => this.#context.getString(json)));
    } finally {
      if (piece !== handle) piece.dispose();
    }
  }

  /** Adds a piece to the string that is gathered in the guest. */
  #add(piece: string): void {
    const plain = !piece.includes('\0') && piece.isWellFormed();
    const text = plain ? piece : JSON.stringify(piece);
    this.#requireFreeMemory(Buffer.byteLength(text));
    const given = this.#context.newString(text);
    given.consume((handle) => this.#call(this.#gather, handle, plain ? 0 : 1).dispose());
  }

  #lengthOf(handle: QuickJSHandle): number {
    return this.#context.getProp(handle, 'length').consume((length) => this.#context.getNumber(length));
  }

  #call(callee: QuickJSHandle, ...args: (QuickJSHandle | number)[]): QuickJSHandle {
    const context = this.#context;
    const numbers: QuickJSHandle[] = [];
    const handles = args.map((arg) => {
      if (typeof arg !== 'number') return arg;
      const number = context.newNumber(arg);
      numbers.push(number);
      return number;
    });
    const result = context.callFunction(callee, context.undefined, ...handles);
    for (const number of numbers) number.dispose();
    return context.unwrapResult(result);
  }

  #newBytes(bytes: Uint8Array): QuickJSHandle {
    requireTransferable(bytes.byteLength, this.#memory);
    this.#requireFreeMemory(bytes.byteLength);
    const { buffer, byteOffset, byteLength } = bytes;
    const whole = byteOffset === 0 && byteLength === buffer.byteLength;
    // A Buffer's own `slice` copies nothing: the guest would be given all the memory that it lies in.
    return this.#context.newArrayBuffer(whole ? buffer : Uint8Array.prototype.slice.call(bytes).buffer);
  }

  #newError(message: string): QuickJSHandle {
    const context = this.#context;
    const error = context.newError({ name: 'Error', message: '' });
    this.newText(message).consume((text) => context.setProp(error, 'message', text));
    return error;
  }

  /** Throws when the guest has no memory for so many bytes. */
  #requireFreeMemory(bytes: number): void {
    if (bytes <= UNASKED_BYTES) return;
    const context = this.#context;
    const size = context.newNumber(bytes + ALLOCATION_BYTES);
    const tried = size.consume((given) => context.callFunction(this.#allocate, context.undefined, given));
    const full = tried.error !== undefined;
    tried.dispose();
    if (full) throw new RangeError(`out of memory: JavaScript has no room left for ${bytes} bytes`);
  }
}
