/**
 * Entry of the thread that runs WebAssembly components. Each module has an instance of its own, kept between its calls;
 * a WASI command gets a new one for each. Reaches the worker by the channel alone.
 */
import { WASIProcExit } from '@bjorn3/browser_wasi_shim';
import { type MemoryStart, memoryStart, mutableGlobals, packMemory, unpackMemory } from './memory-image.ts';
import { type LimitedModule, limitModule, ModuleRefusal } from './module-limits.ts';
import { type ThreadCall, ThreadChannel, type ThreadKeeps, type ThreadResult } from './thread-channel.ts';
import { bytesAt, giveBytes, WasmImports, wasiOf } from './wasm-imports.ts';

const WASM_PAGE_BYTES = 65_536;
/** Most bytes of one output. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

interface Loaded {
  hash: string;
  module: WebAssembly.Module;
  limited: LimitedModule;
  /** Null for a WASI command, which is made anew for each call. */
  reactor: { instance: WebAssembly.Instance; start: MemoryStart | null } | null;
}

type Failed = Extract<ThreadResult, { ok: false }>;

/** State that cannot be kept or restored. What is kept stays as it is. */
class StateRefusal extends Error {}

const channel = new ThreadChannel();
const imports = new WasmImports(channel);
const loaded = new Map<string, Loaded>();

for (;;) {
  const message = channel.next();
  if (message.type === 'forget') loaded.delete(message.path);
  if (message.type === 'call') channel.send({ type: 'result', result: answer(message.call) });
}

function answer(call: ThreadCall): ThreadResult {
  channel.begin();
  imports.call = null;
  try {
    return run(call);
  } catch (error) {
    // What it left in its memory may be half done.
    loaded.delete(call.path);
    if (error instanceof ModuleRefusal) return failed(error.kind, error.message);
    if (error instanceof StateRefusal) return failed('state', error.message);
    return failed('component', `${describe(error)}. A module that ends like this starts afresh at its next call.`);
  }
}

function run(call: ThreadCall): ThreadResult {
  const known = loaded.get(call.path);
  const component = known?.hash === call.hash ? known : load(call);
  loaded.set(call.path, component);
  const input = new TextEncoder().encode(call.input);
  if (isCommand(component.module)) return runCommand(component, call, input);
  component.reactor ??= start(component, call);
  const { instance, start: begins } = component.reactor;
  imports.call = { instance, uses: call.uses };
  const { exports } = instance;
  const output = takeBytes(exports, 'run', giveBytes(exports, input));
  const json = jsonOf(output);
  if (json === null) return failed('output', 'Its output is no JSON.', 'memory');
  if (call.persist === 'no') return { ok: true, json, keeps: 'memory' };
  return { ok: true, json, keeps: 'memory', state: stateOf(exports, begins) };
}

function load({ path, hash, source, persist }: ThreadCall): Loaded {
  if (source === null) throw new Error('It is not loaded.');
  const bytes = typeof source === 'string' ? fromBase64(source) : source;
  const limited = limitModule(bytes, { maxPages: Math.floor(channel.memoryBytes / WASM_PAGE_BYTES) });
  const module = compile(limited.bytes);
  if (persist !== 'no' && isCommand(module))
    throw new StateRefusal(
      'It is a WASI command, which ends with each call: it has no state that :persist could keep.',
    );
  loaded.delete(path);
  return { hash, module, limited, reactor: null };
}

function compile(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    throw new ModuleRefusal('component', `It is no sound WebAssembly module: ${messageOf(error)}`);
  }
}

/** A WASI command: it has a beginning, and no function to call. */
function isCommand(module: WebAssembly.Module): boolean {
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  return names.includes('_start') && !names.includes('run');
}

function start(component: Loaded, call: ThreadCall): NonNullable<Loaded['reactor']> {
  const { wasi } = wasiOf(new Uint8Array(0), channel, 0);
  const instance = instantiate(component, call, wasi);
  const { exports } = instance;
  const { memory } = exports;
  for (const name of ['alloc', 'run'] as const) {
    if (typeof exports[name] !== 'function')
      throw new ModuleRefusal('component', `It exports no function "${name}", and no "_start" either.`);
  }
  if (!(memory instanceof WebAssembly.Memory)) throw new ModuleRefusal('component', 'It exports no memory.');
  const begins = call.persist === 'memory' ? memoryStart(component.limited.bytes, memory) : null;
  if (typeof exports._initialize === 'function') exports._initialize();
  if (call.persist !== 'no') restore(component, instance, begins);
  return { instance, start: begins };
}

function instantiate(
  component: Loaded,
  call: ThreadCall,
  wasi: ReturnType<typeof wasiOf>['wasi'],
): WebAssembly.Instance {
  const resolved = imports.resolve(component.module, wasi);
  const instance = new WebAssembly.Instance(component.module, resolved);
  imports.call = { instance, uses: call.uses };
  wasi.inst = instance as unknown as typeof wasi.inst;
  return instance;
}

/** Gives a new instance the state that was kept; checks first that it can keep one. */
function restore(component: Loaded, { exports }: WebAssembly.Instance, begins: MemoryStart | null): void {
  if (begins === null && !['checkpoint', 'restore'].every((name) => typeof exports[name] === 'function'))
    throw new StateRefusal('It has :persist and does not export both "checkpoint" and "restore".');
  if (begins !== null) {
    const { mutableGlobals: defined } = component.limited;
    const exported = mutableGlobals(exports).length;
    if (defined === null || defined > exported)
      throw new StateRefusal(
        `Its memory cannot be kept: of ${defined ?? 'its'} mutable globals it exports ${exported}, and those that it hides would be lost.`,
      );
  }
  const saved = channel.ask('savedState');
  if (!(saved instanceof Uint8Array)) return;
  try {
    if (begins === null) {
      const given = giveBytes(exports, saved);
      (exports.restore as (ptr: number, length: number) => void)(Number(given >> 32n) | 0, saved.byteLength);
    } else unpackMemory(saved, begins, exports, exports.memory as WebAssembly.Memory);
  } catch (error) {
    throw new StateRefusal(`It refused what was kept: ${describe(error)}`);
  }
}

function stateOf(exports: WebAssembly.Exports, begins: MemoryStart | null): Uint8Array {
  if (begins !== null) return packMemory(begins, exports, exports.memory as WebAssembly.Memory);
  return takeBytes(exports, 'checkpoint', null).slice();
}

function runCommand(component: Loaded, call: ThreadCall, input: Uint8Array): ThreadResult {
  const { wasi, stdout, truncated } = wasiOf(input, channel, MAX_OUTPUT_BYTES);
  const instance = instantiate(component, call, wasi);
  const code = exitCode(() => (instance.exports._start as () => void)());
  if (truncated()) return failed('output', `It wrote more than ${MAX_OUTPUT_BYTES} bytes to stdout.`, 'code');
  if (code !== 0) return failed('component', `It ended with exit code ${code}.`, 'code');
  const written = stdout();
  if (written.byteLength === 0) return { ok: true, json: undefined, keeps: 'code' };
  const json = jsonOf(written);
  return json === null
    ? failed('output', 'What it wrote to stdout is no JSON.', 'code')
    : { ok: true, json, keeps: 'code' };
}

function exitCode(work: () => void): number {
  try {
    work();
    return 0;
  } catch (error) {
    if (error instanceof WASIProcExit) return error.code;
    throw error;
  }
}

/** Calls a function that gives a pointer in the high half and a length in the low one. */
function takeBytes(exports: WebAssembly.Exports, name: string, given: bigint | null): Uint8Array {
  const callee = exports[name] as (...args: number[]) => unknown;
  const packed = given === null ? callee() : callee(Number(given >> 32n) | 0, Number(given & 0xffffffffn));
  if (typeof packed !== 'bigint') throw new Error(`Its function "${name}" does not return an i64`);
  return bytesAt(exports.memory, Number((packed >> 32n) & 0xffffffffn), Number(packed & 0xffffffffn));
}

function jsonOf(bytes: Uint8Array): string | null {
  if (bytes.byteLength > MAX_OUTPUT_BYTES) throw new Error(`Its output has more than ${MAX_OUTPUT_BYTES} bytes`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    return null;
  }
}

function fromBase64(source: string): Uint8Array {
  const plain = source.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) throw new ModuleRefusal('component', 'Its source is no base64.');
  return Buffer.from(plain, 'base64');
}

function failed(kind: Failed['kind'], message: string, keeps: ThreadKeeps = 'nothing'): Failed {
  return { ok: false, kind, message, keeps };
}

function describe(error: unknown): string {
  if (error instanceof WebAssembly.RuntimeError) return `It trapped: ${error.message}`;
  return messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
