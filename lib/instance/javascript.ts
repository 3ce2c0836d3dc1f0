/**
 * JavaScript for guests: QuickJS compiled to WebAssembly. Every run gets a fresh runtime with a deadline and a memory
 * limit, and reaches the host only through the functions that are passed in. Knows nothing of the VFS or the shell.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten';
import { isHeavyJson } from '../base/json-weight.ts';
import type { OutputChunk } from './instance.ts';
import { type HostFunction, JavaScriptBridge } from './javascript-bridge.ts';
import { PRELUDE } from './javascript-prelude.ts';
import { monotonicMs } from './monotonic.ts';
import { MAX_STREAM_BYTES } from './output.ts';
import { collectGarbage, type GuestMemory, noteIdleMemory } from './transfer-limit.ts';

/** Stack size of a run in bytes; deeper recursion is an error inside the guest. */
const STACK_BYTES = 512 * 1024;
const WASM_PAGE_BYTES = 65_536;
/** Initial WebAssembly memory. */
const INITIAL_BYTES = 16 * 1024 * 1024;
/** WebAssembly memory never shrinks, so an instance that grew past this is not reused. */
const MAX_REUSED_BYTES = 24 * 1024 * 1024;
/** Maximum length of a result as JSON: as many characters as a stream has bytes. */
const MAX_VALUE_CHARACTERS = MAX_STREAM_BYTES;
/** Maximum number of JSON values in a result: the server has to parse it. */
const MAX_VALUES = 250_000;
const MAX_ERROR_CHARACTERS = 64 * 1024;
/** QuickJS flags: top-level await, and a backtrace barrier that hides our own calls from stacks. */
const TOP_LEVEL_AWAIT = (1 << 7) | (1 << 6);
const WASM_FILE = '@jitl/quickjs-wasmfile-release-sync/wasm';

export interface JavaScriptRun extends GuestMemory {
  code: string;
  /** File name in errors and stacks. */
  file: string;
  /** Deadline in milliseconds of `monotonicMs`. */
  deadline: number;
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

export type JavaScriptResult =
  /** `json` is the last expression; undefined when JSON cannot represent it. */
  { ok: true; json: string | undefined } | { ok: false; error: string; timedOut: boolean };

let compiledModule: WebAssembly.Module | null = null;
let instance: Promise<QuickJSWASMModule> | null = null;

/**
 * An instance whose memory cannot outgrow the guest's. QuickJS's own limit does not count bytes when it is compiled to
 * WebAssembly, so the WebAssembly memory itself is limited.
 */
function quickJs(memoryBytes: number): Promise<QuickJSWASMModule> {
  instance ??= newInstance(Math.ceil((INITIAL_BYTES + memoryBytes) / WASM_PAGE_BYTES));
  return instance;
}

/**
 * QuickJS is loaded and compiled by the first run: most sandboxes never run JavaScript. Compiles on this thread: with
 * few V8 background threads, compiling in the background was seen to hang.
 */
async function newInstance(maximum: number): Promise<QuickJSWASMModule> {
  const { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } = await import('quickjs-emscripten');
  const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  compiledModule ??= new WebAssembly.Module(readFileSync(require.resolve(WASM_FILE)));
  const wasmModule = compiledModule;
  const wasmMemory = () =>
    Promise.resolve(new WebAssembly.Memory({ initial: INITIAL_BYTES / WASM_PAGE_BYTES, maximum }));
  return newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmModule, wasmMemory }));
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
  if (instance === null) collectGarbage();
  return result;
}

async function runInside(run: JavaScriptRun): Promise<JavaScriptResult> {
  const module = await quickJs(run.memoryBytes);
  const runtime = module.newRuntime();
  runtime.setMaxStackSize(STACK_BYTES);
  runtime.setInterruptHandler(() => monotonicMs() > run.deadline);
  let sound = false;
  try {
    const context = runtime.newContext();
    const result = evaluate(context, runtime, run);
    context.dispose();
    runtime.dispose();
    sound = true;
    return result;
  } catch (error) {
    // An error of QuickJS itself, for example when it has no memory left to report an error.
    const timedOut = monotonicMs() > run.deadline;
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, error: timedOut ? 'InternalError: interrupted' : `InternalError: ${reason}`, timedOut };
  } finally {
    if (!sound || module.getWasmMemory().buffer.byteLength > MAX_REUSED_BYTES) {
      instance = null;
    }
  }
}

function evaluate(context: QuickJSContext, runtime: QuickJSRuntime, run: JavaScriptRun): JavaScriptResult {
  const bridge = new JavaScriptBridge(context, run);
  const toJson = installGlobals(context, bridge, run);
  try {
    const awaits = usesTopLevelAwait(context, run);
    const evaluated = context.evalCode(
      run.code,
      run.file,
      awaits ? TOP_LEVEL_AWAIT : { type: 'global', backtraceBarrier: true },
    );
    if (evaluated.error) return failed(context, bridge, evaluated.error, run);
    let settled = settle(context, runtime, bridge, evaluated.value, run);
    if ('ok' in settled) return settled;
    if (awaits) {
      // The result is then wrapped in an object, so a last expression that is a promise is settled on its own.
      const last = settled.value.consume((given) => context.getProp(given, 'value'));
      settled = settle(context, runtime, bridge, last, run);
      if ('ok' in settled) return settled;
    }
    const json = context.callFunction(toJson, context.undefined, settled.value);
    settled.value.dispose();
    if (json.error) return failed(context, bridge, json.error, run);
    const text = json.value.consume((handle) =>
      context.typeof(handle) === 'string' ? context.getString(handle) : undefined,
    );
    const tooMuch = text === undefined ? null : excessOf(text);
    if (tooMuch !== null) return { ok: false, error: `RangeError: the value has ${tooMuch}`, timedOut: false };
    return { ok: true, json: text };
  } finally {
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

/** Why the JSON of a value is too large for the server; null when it is not. */
function excessOf(json: string): string | null {
  if (json.length > MAX_VALUE_CHARACTERS) return `more than ${MAX_VALUE_CHARACTERS} characters of JSON`;
  return isHeavyJson(Buffer.from(json), MAX_VALUES) ? 'too many values, or too many in each other' : null;
}

/**
 * Sets the guest's globals. Returns the function that serialises its values, taken before guest code can change
 * anything.
 */
function installGlobals(context: QuickJSContext, bridge: JavaScriptBridge, run: JavaScriptRun): QuickJSHandle {
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

/** Runs the guest's pending jobs until its value is settled, if that is a promise. */
function settle(
  context: QuickJSContext,
  runtime: QuickJSRuntime,
  bridge: JavaScriptBridge,
  value: QuickJSHandle,
  run: JavaScriptRun,
): { value: QuickJSHandle } | JavaScriptResult {
  const jobs = runtime.executePendingJobs();
  if (jobs.error) {
    value.dispose();
    return failed(context, bridge, jobs.error, run);
  }
  jobs.dispose();
  const state = context.getPromiseState(value);
  if (state.type === 'fulfilled') {
    if (!state.notAPromise) value.dispose();
    return { value: state.value };
  }
  value.dispose();
  if (state.type === 'rejected') return failed(context, bridge, state.error, run);
  // A job that was interrupted leaves its promise pending, like a promise that nothing settles.
  if (monotonicMs() > run.deadline) return { ok: false, error: 'InternalError: interrupted', timedOut: true };
  return { ok: false, error: 'The value is a promise that nothing settles.', timedOut: false };
}

function failed(
  context: QuickJSContext,
  bridge: JavaScriptBridge,
  handle: QuickJSHandle,
  run: JavaScriptRun,
): JavaScriptResult {
  const timedOut = monotonicMs() > run.deadline;
  const error = handle.consume((thrown) => describeThrown(context, bridge, thrown));
  const long = error.length > MAX_ERROR_CHARACTERS;
  return { ok: false, error: long ? `${error.slice(0, MAX_ERROR_CHARACTERS)} … (cut)` : error, timedOut };
}

/** The message of a thrown value. */
function describeThrown(context: QuickJSContext, bridge: JavaScriptBridge, thrown: QuickJSHandle): string {
  if (context.typeof(thrown) === 'string') return `Uncaught ${bridge.text(thrown)}`;
  const dumped: unknown = context.dump(thrown);
  if (typeof dumped !== 'object' || dumped === null) return `Uncaught ${String(dumped)}`;
  const { name, message, stack } = dumped as { name?: unknown; message?: unknown; stack?: unknown };
  if (name === undefined && message === undefined && stack === undefined) return `Uncaught ${JSON.stringify(dumped)}`;
  const where = String(stack ?? '').trimEnd();
  return `${name ?? 'Error'}: ${message ?? ''}${where === '' ? '' : `\n${where}`}`;
}
