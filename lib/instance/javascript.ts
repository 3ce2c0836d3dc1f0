/**
 * JavaScript for guests: QuickJS compiled to WebAssembly, a fresh runtime for every run, with a clock and a memory
 * limit and no way to the host but the functions that are passed in. Knows nothing of the VFS or the shell.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from 'quickjs-emscripten';
import { isHeavyJson } from '../base/json-weight.ts';
import type { OutputChunk } from './instance.ts';
import { type HostFunction, JavaScriptBridge } from './javascript-bridge.ts';
import { PRELUDE } from './javascript-prelude.ts';
import { monotonicMs } from './monotonic.ts';
import { MAX_STREAM_BYTES } from './output.ts';
import { collectGarbage, type GuestMemory, noteIdleMemory } from './transfer-limit.ts';

/** Bytes of stack of a run; deeper recursion is an error inside the guest. */
const STACK_BYTES = 512 * 1024;
const WASM_PAGE_BYTES = 65_536;
/** What an instance begins with. */
const INITIAL_BYTES = 16 * 1024 * 1024;
/** WebAssembly memory never shrinks: an instance whose memory grew past this is not used again. */
const KEPT_MEMORY_BYTES = 24 * 1024 * 1024;
/** The value of an evaluation, as JSON, has at most as many characters as a stream has bytes. */
const MAX_VALUE_CHARACTERS = MAX_STREAM_BYTES;
/** Values in it: the server parses it. */
const MAX_VALUES = 250_000;
const MAX_ERROR_CHARACTERS = 64 * 1024;
/**
 * QuickJS's flags for a script that may await at its top, with the barrier that keeps our own calls out of its stacks.
 */
const AWAITING = (1 << 7) | (1 << 6);
const WASM_FILE = '@jitl/quickjs-wasmfile-release-sync/wasm';

export interface JavaScriptRun extends GuestMemory {
  code: string;
  /** Name that errors and stacks show. */
  file: string;
  /** When it is interrupted, in milliseconds of `monotonicMs`. */
  deadline: number;
  /** Called with every line of `console.log` and the like. */
  print: (chunk: OutputChunk) => void;
  /**
   * Called with every piece of bytes that `stdout.write` and `stderr.write` are given; they are there until it returns.
   */
  write: (stream: OutputChunk['stream'], bytes: Uint8Array) => void;
  /** What `stdinBytes` gives; without it there is none. */
  stdin?: Uint8Array;
  /** What the guest's `vfs` object calls; without it there is none. */
  vfs?: Record<string, HostFunction>;
  /** Global values, as JSON has them. */
  values?: Record<string, unknown>;
}

export type JavaScriptResult =
  /** `json` is the last expression, undefined when JSON has no word for it. */
  { ok: true; json: string | undefined } | { ok: false; error: string; timedOut: boolean };

let compiled: WebAssembly.Module | null = null;
let instance: Promise<QuickJSWASMModule> | null = null;

/**
 * Compiles QuickJS, so that the first run need not. On this thread: compiling in the background locks up about one
 * process in a hundred when V8 has a single background thread.
 */
export function warmJavaScript(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('quickjs-emscripten'));
  compiled ??= new WebAssembly.Module(readFileSync(require.resolve(WASM_FILE)));
}

/**
 * An instance whose memory cannot grow past the guest's. QuickJS's own limit counts its allocations and not their bytes
 * when it is compiled to WebAssembly, so the memory itself is what is limited.
 */
function quickJs(memoryBytes: number): Promise<QuickJSWASMModule> {
  warmJavaScript();
  const wasmModule = compiled;
  if (wasmModule === null) throw new Error('QuickJS was not compiled.');
  const maximum = Math.ceil((INITIAL_BYTES + memoryBytes) / WASM_PAGE_BYTES);
  const wasmMemory = () =>
    Promise.resolve(new WebAssembly.Memory({ initial: INITIAL_BYTES / WASM_PAGE_BYTES, maximum }));
  instance ??= newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmModule, wasmMemory }));
  return instance;
}

/**
 * Runs code and the jobs that it leaves, until its last expression, when that is a promise, is settled. What it took is
 * given back: what is done next has the memory, and the next run's does not grow beside it.
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
    // Not the guest's error but QuickJS's own, as when it has no memory left to report one in.
    const timedOut = monotonicMs() > run.deadline;
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, error: timedOut ? 'InternalError: interrupted' : `InternalError: ${reason}`, timedOut };
  } finally {
    if (!sound || module.getWasmMemory().buffer.byteLength > KEPT_MEMORY_BYTES) {
      instance = null;
    }
  }
}

function evaluate(context: QuickJSContext, runtime: QuickJSRuntime, run: JavaScriptRun): JavaScriptResult {
  const bridge = new JavaScriptBridge(context, run);
  const toJson = equip(context, bridge, run);
  try {
    const awaits = awaitsAtTop(context, run);
    const evaluated = context.evalCode(
      run.code,
      run.file,
      awaits ? AWAITING : { type: 'global', backtraceBarrier: true },
    );
    if (evaluated.error) return failed(context, bridge, evaluated.error, run);
    let settled = settle(context, runtime, bridge, evaluated.value, run);
    if ('ok' in settled) return settled;
    if (awaits) {
      // What it gives is then in an object, so that a last expression which is a promise is not awaited unseen.
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
    const tooMuch = text === undefined ? null : whyTooMuch(text);
    if (tooMuch !== null) return { ok: false, error: `RangeError: the value has ${tooMuch}`, timedOut: false };
    return { ok: true, json: text };
  } finally {
    toJson.dispose();
    bridge.dispose();
  }
}

/**
 * Whether code makes sense only with an `await` outside of functions. It is compiled to find out, and not run: as a
 * plain script first, because there `await` is a name like others.
 */
function awaitsAtTop(context: QuickJSContext, { code, file }: JavaScriptRun): boolean {
  if (!/\bawait\b/.test(code)) return false;
  const plain = context.evalCode(code, file, { type: 'global', compileOnly: true });
  const wrong = plain.error !== undefined;
  plain.dispose();
  return wrong;
}

/** Why the JSON of a value is more than the server takes, or null. */
function whyTooMuch(json: string): string | null {
  if (json.length > MAX_VALUE_CHARACTERS) return `more than ${MAX_VALUE_CHARACTERS} characters of JSON`;
  return isHeavyJson(Buffer.from(json), MAX_VALUES) ? 'too many values, or too many in each other' : null;
}

/**
 * Gives the guest its globals. Returns the function that makes JSON of its values, taken before the guest can change
 * anything.
 */
function equip(context: QuickJSContext, bridge: JavaScriptBridge, run: JavaScriptRun): QuickJSHandle {
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

/** Runs the guest's jobs until its value, when it is a promise, is settled. */
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
  // A job that was interrupted leaves its promise pending, as one does that waits for something that never comes.
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
  const error = handle.consume((thrown) => described(context, bridge, thrown));
  const long = error.length > MAX_ERROR_CHARACTERS;
  return { ok: false, error: long ? `${error.slice(0, MAX_ERROR_CHARACTERS)} … (cut)` : error, timedOut };
}

/** What was thrown, in words. */
function described(context: QuickJSContext, bridge: JavaScriptBridge, thrown: QuickJSHandle): string {
  if (context.typeof(thrown) === 'string') return `Uncaught ${bridge.text(thrown)}`;
  const dumped: unknown = context.dump(thrown);
  if (typeof dumped !== 'object' || dumped === null) return `Uncaught ${String(dumped)}`;
  const { name, message, stack } = dumped as { name?: unknown; message?: unknown; stack?: unknown };
  if (name === undefined && message === undefined && stack === undefined) return `Uncaught ${JSON.stringify(dumped)}`;
  const where = String(stack ?? '').trimEnd();
  return `${name ?? 'Error'}: ${message ?? ''}${where === '' ? '' : `\n${where}`}`;
}
