/**
 * Passes values between QuickJS and its host without loss, or throws. Knows nothing of what the host functions do.
 *
 * QuickJS passes a string as a C string, which ends at the first NUL. Decoding it drops a leading byte order mark and
 * replaces lone surrogates with U+FFFD. A string that could change this way crosses as JSON, which escapes those
 * characters.
 */
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { type GuestMemory, requireTransferable } from '../../workers/protocol/transfer-limit.ts';
import { newBinaryText, newGuestString, readGuestString, requireFreeMemory } from './guest-strings.ts';

/**
 * A host function. It takes and returns strings, bytes and JSON values; what it throws becomes an error inside the
 * guest. Bytes that it receives may be the guest's memory and are valid only during the call.
 */
export type HostFunction = (...args: (string | Uint8Array | undefined)[]) => unknown;

/** UTF-8 bytes that become a string in the guest without becoming one in the host. */
export class Utf8Bytes {
  readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}

/** Characters that cross in one piece. Escaped as JSON they can be six times as many. */
const PIECE_CHARACTERS = 1024 * 1024;
const HALVES = /\p{Surrogate}/gu;

/** Replaces lone surrogates with their escape sequence, for text that becomes UTF-8, which cannot encode them. */
export function escapeLoneSurrogates(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replace(HALVES, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/**
 * Guest function that collects the pieces of a string, some as JSON. Called without a piece it returns the whole
 * string.
 */
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

  /** Takes the guest functions that it needs before guest code can change them. */
  constructor(context: QuickJSContext, memory: GuestMemory) {
    this.#context = context;
    this.#memory = memory;
    const taken = (code: string) => context.unwrapResult(context.evalCode(code, 'bridge'));
    this.#stringify = taken('JSON.stringify');
    this.#slice = taken(SLICE);
    this.#gather = taken(GATHER);
  }

  dispose(): void {
    for (const handle of [this.#stringify, this.#slice, this.#gather]) handle.dispose();
  }

  /** Reads a string of the guest. */
  text(handle: QuickJSHandle): string {
    const length = this.#lengthOf(handle);
    requireTransferable(length, this.#memory);
    const pieces: string[] = [];
    for (let from = 0; from < length; from += PIECE_CHARACTERS) pieces.push(this.#piece(handle, length, from));
    return pieces.join('');
  }

  /** Creates a string in the guest. */
  newText(text: string): QuickJSHandle {
    const bytes = Buffer.byteLength(text);
    requireTransferable(bytes, this.#memory);
    const whole = newBinaryText(this.#context, text, bytes);
    if (whole !== null) return whole;
    requireFreeMemory(this.#context, bytes);
    for (let from = 0; from < text.length; from += PIECE_CHARACTERS) {
      this.#add(text.slice(from, from + PIECE_CHARACTERS));
    }
    return this.#call(this.#gather);
  }

  /** Creates a guest function that calls `work`. */
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
        return { error: this.newError(error) };
      } finally {
        for (const lifetime of borrowed) lifetime.dispose();
      }
    });
  }

  /**
   * An argument in the form that the prelude passes it: text, an ArrayBuffer, `{ utf8 }` for text wanted as bytes, or
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
    requireFreeMemory(this.#context, size);
    const bytes = context.getArrayBuffer(handle);
    borrowed.push(bytes);
    return bytes.value;
  }

  /** Reads a guest string as UTF-8, piece by piece. Throws for a lone surrogate. */
  #utf8Of(handle: QuickJSHandle): Uint8Array {
    const length = this.#lengthOf(handle);
    requireTransferable(length, this.#memory);
    let bytes = Buffer.allocUnsafe(length);
    let size = 0;
    for (let from = 0; from < length; ) {
      let piece = this.#piece(handle, length, from);
      // The other half of the pair is in the next piece.
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

  /** Creates a guest string from UTF-8, piece by piece. */
  #newTextOf(bytes: Buffer): QuickJSHandle {
    requireTransferable(bytes.byteLength, this.#memory);
    requireFreeMemory(this.#context, bytes.byteLength);
    for (let from = 0; from < bytes.byteLength; ) {
      let to = Math.min(from + PIECE_CHARACTERS, bytes.byteLength);
      while (to < bytes.byteLength && ((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
      this.#add(bytes.toString('utf8', from, to));
      from = to;
    }
    return this.#call(this.#gather);
  }

  /** One piece of a guest string: decoded directly when nothing can be lost, otherwise by way of JSON. */
  #piece(handle: QuickJSHandle, whole: number, from: number): string {
    const length = Math.min(PIECE_CHARACTERS, whole - from);
    const piece = length === whole ? handle : this.#call(this.#slice, handle, from, from + length);
    try {
      const decoded = readGuestString(this.#context, piece);
      if (decoded.length === length && !decoded.includes('\ufffd')) return decoded;
      return JSON.parse(this.#call(this.#stringify, piece).consume((json) => readGuestString(this.#context, json)));
    } finally {
      if (piece !== handle) piece.dispose();
    }
  }

  /** Adds a piece to the string that is built in the guest. */
  #add(piece: string): void {
    const plain = !piece.includes('\0') && piece.isWellFormed();
    const text = plain ? piece : JSON.stringify(piece);
    requireFreeMemory(this.#context, Buffer.byteLength(text));
    const given = newGuestString(this.#context, text);
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
    requireFreeMemory(this.#context, bytes.byteLength);
    const { buffer, byteOffset, byteLength } = bytes;
    const whole = byteOffset === 0 && byteLength === buffer.byteLength;
    // `Buffer.slice` does not copy: the guest would receive the whole underlying memory.
    return this.#context.newArrayBuffer(whole ? buffer : Uint8Array.prototype.slice.call(bytes).buffer);
  }

  /** Creates an error in the guest with the message and the code of one. */
  newError(error: unknown): QuickJSHandle {
    const context = this.#context;
    const made = context.newError({ name: 'Error', message: '' });
    const set = (name: string, value: string) =>
      this.newText(value).consume((text) => context.setProp(made, name, text));
    set('message', error instanceof Error ? error.message : String(error));
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') set('code', error.code);
    return made;
  }
}
