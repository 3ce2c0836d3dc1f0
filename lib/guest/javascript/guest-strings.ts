/**
 * Strings into QuickJS's memory and out of it, past its binding, which copies them one character at a time: a start
 * whose code is not compiled yet takes 50 ms of processor time for a megabyte that way. Knows nothing of what they are.
 */
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { leb128Of } from './quickjs-binary.ts';

/**
 * Above this size QuickJS's memory is first asked for room: it does not check for a failed allocation and would
 * overwrite its own memory.
 */
const UNCHECKED_BYTES = 512;
/** Maximum overhead of an allocation. */
const ALLOCATION_BYTES = 4096;
/** From this length on a string crosses in the binary form. */
const BINARY_CHARACTERS = 16 * 1024;
/** What stands before a string in the binary form of the QuickJS that is installed: its version, no names, the kind. */
const BINARY_HEAD = [5, 0, 7] as const;
const MAX_HEAD_BYTES = 16;

/** What QuickJS's binding passes values with: its memory, and the functions that take pointers into it. */
interface Binding {
  module: { HEAPU8: Uint8Array; _malloc(bytes: number): number; _free(pointer: number): void };
  ffi: {
    QTS_NewString(context: number, text: number): number;
    QTS_GetString(context: number, value: number): number;
    QTS_FreeCString(context: number, text: number): void;
    QTS_NewArrayBuffer(context: number, pointer: number, bytes: number): number;
  };
  ctx: { value: number };
  memory: { heapValueHandle(pointer: number): QuickJSHandle };
}

const bindingOf = (context: QuickJSContext) => context as unknown as Binding;

/** Throws when the guest cannot allocate this many bytes. */
export function requireFreeMemory(context: QuickJSContext, bytes: number): void {
  if (bytes <= UNCHECKED_BYTES) return;
  const { module } = bindingOf(context);
  const pointer = module._malloc(bytes + ALLOCATION_BYTES);
  if (pointer === 0) throw noRoom(bytes);
  module._free(pointer);
}

/** Creates a guest string from one without NUL or lone surrogates: it crosses as a C string. */
export function newGuestString(context: QuickJSContext, text: string): QuickJSHandle {
  const { module, ffi, ctx, memory } = bindingOf(context);
  const bytes = Buffer.from(text);
  const pointer = module._malloc(bytes.byteLength + 1);
  if (pointer === 0) throw noRoom(bytes.byteLength);
  try {
    // Taken after the allocation, which may have moved the memory.
    module.HEAPU8.set(bytes, pointer);
    module.HEAPU8[pointer + bytes.byteLength] = 0;
    return memory.heapValueHandle(ffi.QTS_NewString(ctx.value, pointer));
  } finally {
    module._free(pointer);
  }
}

/** Reads a guest string up to its first NUL; the binding's own `getString` decodes it character by character too. */
export function readGuestString(context: QuickJSContext, handle: QuickJSHandle): string {
  const { module, ffi, ctx } = bindingOf(context);
  const pointer = ffi.QTS_GetString(ctx.value, handle.value as unknown as number);
  if (pointer === 0) return '';
  const heap = module.HEAPU8;
  const text = Buffer.from(heap.buffer, pointer, heap.indexOf(0, pointer) - pointer).toString();
  ffi.QTS_FreeCString(ctx.value, pointer);
  return text;
}

/**
 * Creates a guest string, whatever its characters, by QuickJS's own binary form: for a megabyte that takes 1 ms where a
 * C string takes 10, which is counted and copied byte by byte. The form is made here and never read from a file:
 * QuickJS trusts it. Null for a short string, and when QuickJS reads another form.
 *
 * @param utf8Bytes The length of the string in UTF-8.
 */
export function newBinaryText(context: QuickJSContext, text: string, utf8Bytes: number): QuickJSHandle | null {
  if (text.length < BINARY_CHARACTERS) return null;
  const { module, ffi, ctx, memory } = bindingOf(context);
  const encoding = encodingOf(text, utf8Bytes);
  const size = encoding === 'latin1' ? text.length : 2 * text.length;
  const head = [...BINARY_HEAD, ...leb128Of(2 * text.length + (encoding === 'latin1' ? 0 : 1))];
  const pointer = module._malloc(head.length + size);
  if (pointer === 0) throw noRoom(size);
  try {
    requireFreeMemory(context, size + MAX_HEAD_BYTES);
  } catch (error) {
    module._free(pointer);
    throw error;
  }
  const heap = module.HEAPU8;
  heap.set(head, pointer);
  Buffer.from(heap.buffer, pointer + head.length, size).write(text, encoding);
  // It owns these bytes from here on.
  const form = memory.heapValueHandle(ffi.QTS_NewArrayBuffer(ctx.value, pointer, head.length + size));
  const read = form.consume((bytes) => context.decodeBinaryJSON(bytes));
  const isIt = context.typeof(read) === 'string' && lengthOf(context, read) === text.length;
  if (isIt) return read;
  read.dispose();
  return null;
}

/** QuickJS keeps a string in one byte a character where it can. */
function encodingOf(text: string, utf8Bytes: number): 'latin1' | 'utf16le' {
  if (utf8Bytes === text.length) return 'latin1';
  return Buffer.from(text, 'latin1').toString('latin1') === text ? 'latin1' : 'utf16le';
}

function lengthOf(context: QuickJSContext, text: QuickJSHandle): number {
  return context.getProp(text, 'length').consume((length) => context.getNumber(length));
}

function noRoom(bytes: number): RangeError {
  return new RangeError(`out of memory: JavaScript has no room left for ${bytes} bytes`);
}
