/**
 * QuickJS's WebAssembly as it is run here: two changes of the installed binary, and what they allow. Its table of
 * functions is exported, so that a promise that is rejected is told; and the property in which errors keep their stack
 * has another name, so that `stack` can begin with the error's name and message, as programs expect. Knows nothing of
 * programs. Throws when the binary is another one.
 */
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten';

const EXPORTS = 7;
const TABLE = 'functions';
/** Where QuickJS's atoms name an error's stack, and the name of the same length in its place. */
const ATOMS = '\0errors\0stack\0name\0';
const RENAMED = '\0errors\0%tack\0name\0';
/** What may be unhandled at a time; a program with more is ended. */
const MAX_UNHANDLED = 100_000;
/** Words of a runtime that are looked at for its interrupt handler. */
const RUNTIME_WORDS = 160;

/** `(import "h" "t" (func (param i32 i64 i64 i32 i32))) (export "t" (func 0))`: a function that the table takes. */
const TRAMPOLINE = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 9, 1, 0x60, 5, 0x7f, 0x7e, 0x7e, 0x7f, 0x7f, 0],
  ...[2, 7, 1, 1, 0x68, 1, 0x74, 0, 0],
  ...[7, 5, 1, 1, 0x74, 0, 0],
);

/** The changed binary. */
export function changedBinary(installed: Buffer): Buffer<ArrayBuffer> {
  const parts: Uint8Array[] = [installed.subarray(0, 8)];
  let isExported = false;
  for (let at = 8; at < installed.length; ) {
    const [size, from] = readLeb128(installed, at + 1);
    const end = from + size;
    if (installed[at] === EXPORTS) {
      const [count, first] = readLeb128(installed, from);
      const table = [TABLE.length, ...Buffer.from(TABLE), 1, 0];
      const counted = leb128Of(count + 1);
      const length = counted.length + (end - first) + table.length;
      parts.push(Uint8Array.of(EXPORTS, ...leb128Of(length), ...counted), installed.subarray(first, end));
      parts.push(Uint8Array.from(table));
      isExported = true;
    } else parts.push(installed.subarray(at, end));
    at = end;
  }
  const changed = Buffer.concat(parts);
  const atoms = changed.indexOf(ATOMS);
  if (!isExported || atoms < 0 || changed.indexOf(ATOMS, atoms + 1) >= 0) throw new Error('This is another QuickJS.');
  changed.write(RENAMED, atoms);
  return changed;
}

/** The function that is told of rejections, once it is in a module's table, and whom it tells. */
interface Tellers {
  index: number;
  byContext: Map<number, Rejections>;
}

const tables = new WeakMap<QuickJSWASMModule, WebAssembly.Table>();
const tellers = new WeakMap<QuickJSWASMModule, Tellers>();

/** Remembers the table of a module that was made of `instance`. */
export function keepTable(module: QuickJSWASMModule, instance: WebAssembly.Instance): void {
  tables.set(module, instance.exports[TABLE] as WebAssembly.Table);
}

function tellersOf(module: QuickJSWASMModule): Tellers {
  const known = tellers.get(module);
  const table = tables.get(module);
  if (known !== undefined || table === undefined) return known ?? { index: 0, byContext: new Map() };
  const byContext = new Map<number, Rejections>();
  const told = (context: number, promise: bigint, reason: bigint, isHandled: number) =>
    byContext.get(context)?.note(promise, reason, isHandled !== 0);
  const trampoline = new WebAssembly.Instance(new WebAssembly.Module(TRAMPOLINE), { h: { t: told } });
  const made = { index: table.grow(1, trampoline.exports.t), byContext };
  tellers.set(module, made);
  return made;
}

interface Binding {
  module: { HEAPU8: Uint8Array; _malloc(bytes: number): number; _free(pointer: number): void };
  ffi: {
    QTS_DupValuePointer(context: number, value: number): number;
    QTS_FreeValuePointer(context: number, value: number): void;
  };
  ctx: { value: number };
  memory: { heapValueHandle(pointer: number): QuickJSHandle };
}

/** A promise and why it was rejected; both belong to who takes it. */
export interface Rejection {
  promise: QuickJSHandle;
  reason: QuickJSHandle;
}

/** The promises of one runtime that are rejected and that nothing has handled. */
export class Rejections {
  readonly #binding: Binding;
  /** Copies of the promise, which keeps its address, and of its reason. */
  readonly #unhandled = new Map<bigint, { promise: number; reason: number }>();
  readonly #tellers: Tellers;
  #tooMany = false;

  /** `before`: what is behind the runtime's address before its interrupt handler was set. */
  constructor(module: QuickJSWASMModule, runtime: QuickJSRuntime, context: QuickJSContext, before: Uint32Array) {
    this.#binding = context as unknown as Binding;
    const after = wordsOf(runtime, context);
    const changed = after.findIndex((word, index) => word !== before[index]);
    const address = addressOf(runtime) + 4 * changed;
    const [, opaque, tracker, trackerOpaque, next, previous] = after.subarray(changed);
    // Behind the fields is an empty list: it points to itself.
    const isIt = changed >= 0 && [opaque, tracker, trackerOpaque].every((word) => word === 0);
    this.#tellers = tellersOf(module);
    if (!isIt || next !== address + 16 || previous !== next || this.#tellers.index === 0)
      throw new Error('This is another QuickJS.');
    this.#tellers.byContext.set(this.#binding.ctx.value, this);
    new DataView(this.#binding.module.HEAPU8.buffer).setUint32(address + 8, this.#tellers.index, true);
  }

  /** Takes the first one: the promise and its reason. Throws when there were too many to remember. */
  take(): Rejection | null {
    if (this.#tooMany) throw new Error(`more than ${MAX_UNHANDLED} promises are rejected and not handled`);
    const [first] = this.#unhandled;
    if (first === undefined) return null;
    this.#unhandled.delete(first[0]);
    const { memory } = this.#binding;
    return { promise: memory.heapValueHandle(first[1].promise), reason: memory.heapValueHandle(first[1].reason) };
  }

  dispose(): void {
    this.#tellers.byContext.delete(this.#binding.ctx.value);
    for (const promise of [...this.#unhandled.keys()]) this.#remove(promise);
  }

  /** Called by QuickJS. */
  note(promise: bigint, reason: bigint, isHandled: boolean): void {
    if (isHandled) this.#remove(promise);
    else this.#add(promise, reason);
  }

  #add(promise: bigint, reason: bigint): void {
    if (this.#unhandled.size >= MAX_UNHANDLED) this.#tooMany = true;
    else this.#unhandled.set(promise, { promise: this.#copy(promise), reason: this.#copy(reason) });
  }

  #remove(promise: bigint): void {
    const known = this.#unhandled.get(promise);
    if (known === undefined) return;
    this.#unhandled.delete(promise);
    const { ffi, ctx } = this.#binding;
    ffi.QTS_FreeValuePointer(ctx.value, known.reason);
    ffi.QTS_FreeValuePointer(ctx.value, known.promise);
  }

  #copy(value: bigint): number {
    const { module, ffi, ctx } = this.#binding;
    const pointer = module._malloc(8);
    if (pointer === 0) throw new RangeError('out of memory');
    new DataView(module.HEAPU8.buffer).setBigInt64(pointer, value, true);
    const copy = ffi.QTS_DupValuePointer(ctx.value, pointer);
    module._free(pointer);
    return copy;
  }
}

function addressOf(runtime: QuickJSRuntime): number {
  return (runtime as unknown as { rt: { value: number } }).rt.value;
}

/** The first words of a runtime. */
export function wordsOf(runtime: QuickJSRuntime, context: QuickJSContext): Uint32Array {
  const { module } = context as unknown as Binding;
  return new Uint32Array(module.HEAPU8.buffer, addressOf(runtime), RUNTIME_WORDS).slice();
}

function readLeb128(bytes: Uint8Array, from: number): [value: number, end: number] {
  let value = 0;
  for (let at = from, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return [value, at + 1];
  }
}

/** A number as WebAssembly writes lengths, and QuickJS: seven bits a byte, the low ones first. */
export function leb128Of(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}
