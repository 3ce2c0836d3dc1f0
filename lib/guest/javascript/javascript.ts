/**
 * JavaScript for guests: QuickJS compiled to WebAssembly. Every run gets a fresh runtime with a deadline and a memory
 * limit, and reaches the host only through the functions that are passed in. Knows nothing of the VFS or the shell.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten';
import type { OutputChunk } from '../../workers/protocol/instance.ts';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import { collectGarbage, type GuestMemory, noteIdleMemory } from '../../workers/protocol/transfer-limit.ts';
import { type HostFunction, JavaScriptBridge } from './javascript-bridge.ts';
import { type FetchPort, JavaScriptFetch } from './javascript-fetch.ts';
import { PRELUDE } from './javascript-prelude.ts';
import { excessOf, failedResult, type JavaScriptResult, settleValue } from './javascript-values.ts';
import { changedBinary, keepTable, wordsOf } from './quickjs-binary.ts';

/** Stack size of a run in bytes; deeper recursion is an error inside the guest. */
export const STACK_BYTES = 512 * 1024;
const WASM_PAGE_BYTES = 65_536;
/** Initial WebAssembly memory. */
const INITIAL_BYTES = 16 * 1024 * 1024;
/** WebAssembly memory never shrinks, so an instance that grew past this is not reused. */
const MAX_REUSED_BYTES = 24 * 1024 * 1024;
/** QuickJS flags: top-level await, and a backtrace barrier that hides our own calls from stacks. */
const TOP_LEVEL_AWAIT = (1 << 7) | (1 << 6);
const WASM_FILE = '@jitl/quickjs-wasmfile-release-sync/wasm';

/** What the guest's globals reach on the host. */
export interface JavaScriptGlobals {
  /** Called with every line of `console.log` and the like. */
  print: (chunk: OutputChunk) => void;
  /** Called with every chunk of `stdout.write` and `stderr.write`. The bytes are valid only during the call. */
  write: (stream: OutputChunk['stream'], bytes: Uint8Array) => void;
  /** Content of `stdinBytes()`; the function is missing without it. */
  stdin?: Uint8Array;
  /** Host functions of the guest's `vfs` object; the object is missing without them. */
  vfs?: Record<string, HostFunction>;
  /** Global variables; each must be representable in JSON. */
  values?: Record<string, unknown>;
}

export interface JavaScriptRun extends GuestMemory, JavaScriptGlobals {
  code: string;
  /** File name in errors and stacks. */
  file: string;
  /** Deadline in milliseconds of `monotonicMs`. */
  deadline: number;
  /** What `fetch` sends with. */
  network?: FetchPort;
}

let compiledModule: WebAssembly.Module | null = null;
let instance: Promise<QuickJSWASMModule> | null = null;

/**
 * An instance whose memory cannot outgrow the guest's. QuickJS's own limit does not count bytes when it is compiled to
 * WebAssembly, so the WebAssembly memory itself is limited.
 */
function quickJs(memoryBytes: number): Promise<QuickJSWASMModule> {
  instance ??= newQuickJs(memoryBytes);
  return instance;
}

/**
 * QuickJS is loaded and compiled by the first run: most sandboxes never run JavaScript. Compiles on this thread: with
 * few V8 background threads, compiling in the background was seen to hang.
 */
export async function newQuickJs(memoryBytes: number): Promise<QuickJSWASMModule> {
  const maximum = Math.ceil((INITIAL_BYTES + memoryBytes) / WASM_PAGE_BYTES);
  const { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } = await import('quickjs-emscripten');
  const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  compiledModule ??= new WebAssembly.Module(changedBinary(readFileSync(require.resolve(WASM_FILE))));
  const compiled = compiledModule;
  const wasmMemory = () =>
    Promise.resolve(new WebAssembly.Memory({ initial: INITIAL_BYTES / WASM_PAGE_BYTES, maximum }));
  let made: WebAssembly.Instance | null = null;
  const instantiateWasm = (imports: WebAssembly.Imports, onSuccess: (instance: WebAssembly.Instance) => void) => {
    made = new WebAssembly.Instance(compiled, imports);
    onSuccess(made);
    return made.exports;
  };
  const variant = newVariant(RELEASE_SYNC, { wasmMemory, emscriptenModule: { instantiateWasm } });
  const module = await newQuickJSWASMModuleFromVariant(variant);
  if (made !== null) keepTable(module, made);
  return module;
}

/**
 * Drops the idle interpreter; the next run makes another. Call it only while none runs. Its compiled code stays: 0.7
 * MB, and making it again takes 20 ms of processor time.
 */
export function dropInterpreter(): void {
  instance = null;
}

/**
 * Runs code and its pending jobs until its last expression is settled, if that is a promise. Frees its memory
 * afterwards, so that the next run does not grow on top of it.
 */
export async function runJavaScript(run: JavaScriptRun): Promise<JavaScriptResult> {
  noteIdleMemory();
  const result = await runInside(run);
  tidyAfterRun();
  return result;
}

async function runInside(run: JavaScriptRun): Promise<JavaScriptResult> {
  const isLate = () => monotonicMs() > run.deadline;
  try {
    return await inRuntime(run.memoryBytes, isLate, ({ context, runtime }) => evaluate(context, runtime, run));
  } catch (error) {
    const timedOut = isLate();
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, error: timedOut ? 'InternalError: interrupted' : `InternalError: ${reason}`, timedOut };
  }
}

/** A runtime of its own with one context. */
export interface Realm {
  module: QuickJSWASMModule;
  runtime: QuickJSRuntime;
  context: QuickJSContext;
  /** What `wordsOf` found before the interrupt handler was set. */
  wordsBefore: Uint32Array;
}

/**
 * Runs `work` in a fresh runtime, which `isOver` interrupts. Throws an error of QuickJS itself, for example when it has
 * no memory left to report an error.
 */
export async function inRuntime<T>(
  memoryBytes: number,
  isOver: () => boolean,
  work: (realm: Realm) => Promise<T>,
  stackBytes = STACK_BYTES,
): Promise<T> {
  const module = await quickJs(memoryBytes);
  const runtime = module.newRuntime();
  let sound = false;
  try {
    const context = runtime.newContext();
    runtime.setMaxStackSize(stackBytes);
    const wordsBefore = wordsOf(runtime, context);
    runtime.setInterruptHandler(isOver);
    const result = await work({ module, runtime, context, wordsBefore });
    context.dispose();
    runtime.dispose();
    sound = true;
    return result;
  } finally {
    if (!sound || module.getWasmMemory().buffer.byteLength > MAX_REUSED_BYTES) instance = null;
  }
}

/** Frees what a run has left, so that the next does not grow on top of it. */
export function tidyAfterRun(): void {
  if (instance === null) collectGarbage();
}

async function evaluate(
  context: QuickJSContext,
  runtime: QuickJSRuntime,
  run: JavaScriptRun,
): Promise<JavaScriptResult> {
  const bridge = new JavaScriptBridge(context, run);
  const toJson = installGlobals(context, bridge, run);
  const network = run.network === undefined ? null : new JavaScriptFetch(context, bridge, run.network);
  try {
    const awaits = usesTopLevelAwait(context, run);
    const evaluated = context.evalCode(
      run.code,
      run.file,
      awaits ? TOP_LEVEL_AWAIT : { type: 'global', backtraceBarrier: true },
    );
    if (evaluated.error) return failedResult(context, bridge, evaluated.error, run);
    await network?.settle(runtime, run.deadline);
    let settled = settleValue(context, runtime, bridge, evaluated.value, run);
    if ('ok' in settled) return settled;
    if (awaits) {
      // The result is then wrapped in an object, so a last expression that is a promise is settled on its own.
      const last = settled.value.consume((given) => context.getProp(given, 'value'));
      settled = settleValue(context, runtime, bridge, last, run);
      if ('ok' in settled) return settled;
    }
    const json = context.callFunction(toJson, context.undefined, settled.value);
    settled.value.dispose();
    if (json.error) return failedResult(context, bridge, json.error, run);
    const text = json.value.consume((handle) =>
      context.typeof(handle) === 'string' ? context.getString(handle) : undefined,
    );
    const tooMuch = text === undefined ? null : excessOf(text);
    if (tooMuch !== null) return { ok: false, error: `RangeError: the value has ${tooMuch}`, timedOut: false };
    return { ok: true, json: text };
  } finally {
    network?.dispose();
    toJson.dispose();
    bridge.dispose();
  }
}

/**
 * Whether the code needs top-level `await`. Compiles it as a plain script first, where `await` is an ordinary name, and
 * runs nothing.
 */
function usesTopLevelAwait(context: QuickJSContext, { code, file }: JavaScriptRun): boolean {
  if (!/\bawait\b/.test(code)) return false;
  const plain = context.evalCode(code, file, { type: 'global', compileOnly: true });
  const wrong = plain.error !== undefined;
  plain.dispose();
  return wrong;
}

/**
 * Sets the guest's globals. Returns the function that serialises its values, taken before guest code can change
 * anything.
 */
export function installGlobals(
  context: QuickJSContext,
  bridge: JavaScriptBridge,
  run: JavaScriptGlobals,
): QuickJSHandle {
  const { print, vfs, values = {}, stdin } = run;
  const say: HostFunction = (name, content) => {
    const stream = name === 'stderr' ? 'stderr' : 'stdout';
    if (content instanceof Uint8Array) run.write(stream, content);
    else print({ stream, text: String(content) });
  };
  const read: HostFunction = () => stdin;
  const host = context.newObject();
  for (const [name, work] of Object.entries({ ...vfs, say, ...(stdin && { read }) })) {
    bridge.function(name, work).consume((handle) => context.setProp(host, name, handle));
  }
  bridge.newText(JSON.stringify(values)).consume((handle) => context.setProp(host, 'values', handle));
  const prelude = context.unwrapResult(context.evalCode(PRELUDE, 'prelude'));
  const names = context.newString(Object.keys(vfs ?? {}).join(' '));
  try {
    return context.unwrapResult(context.callFunction(prelude, context.undefined, host, names));
  } finally {
    for (const handle of [prelude, host, names]) handle.dispose();
  }
}
