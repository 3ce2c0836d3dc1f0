/**
 * JavaScript for guests: QuickJS compiled to WebAssembly, a fresh runtime for every run, with a clock and a memory limit and without any
 * access to the host. What it may reach is passed in. Loaded on first use.
 */
import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten';

/** Bytes of stack of a run; deeper recursion is an error inside the guest. */
const STACK_BYTES = 512 * 1024;

export interface JavaScriptLimits {
  /** Bytes that the guest's values may take. */
  memoryBytes: number;
  /** Deadline in milliseconds of `performance.now()`. */
  deadline: number;
}

/** A host function for guests: strings, bytes and numbers in and out. */
export type HostFunction = (...args: unknown[]) => unknown;

export interface JavaScriptOptions {
  limits: JavaScriptLimits;
  /** Name that errors and stacks show. */
  file: string;
  /** Called with each line of `console.log` and friends. */
  print: (stream: 'stdout' | 'stderr', text: string) => void;
  /** Global objects made of host functions, by name. */
  globals?: Record<string, Record<string, HostFunction>>;
  /** Global values, as JSON has them. */
  values?: Record<string, unknown>;
}

export type JavaScriptResult =
  | { ok: true; value: unknown; defined: boolean }
  | { ok: false; error: string; timedOut: boolean };

let loading: Promise<QuickJSWASMModule> | null = null;

async function load(): Promise<QuickJSWASMModule> {
  loading ??= import('quickjs-emscripten').then(({ getQuickJS }) => getQuickJS());
  return loading;
}

const PRELUDE = `(() => {
  const show = (value, depth = 0) => {
    if (typeof value === 'string') return depth === 0 ? value : JSON.stringify(value);
    if (typeof value === 'bigint') return value + 'n';
    if (typeof value === 'function') return '[Function ' + (value.name || 'anonymous') + ']';
    if (value instanceof Error) return value.stack ? value + '\\n' + value.stack.trimEnd() : String(value);
    if (typeof value !== 'object' || value === null) return String(value);
    try { return JSON.stringify(value, (_, inner) => typeof inner === 'bigint' ? inner + 'n' : inner) ?? String(value); } catch { return String(value); }
  };
  const print = globalThis.__print;
  delete globalThis.__print;
  const to = (stream) => (...args) => print(stream, args.map((arg) => show(arg)).join(' ') + '\\n');
  globalThis.console = { log: to('stdout'), info: to('stdout'), debug: to('stdout'), warn: to('stderr'), error: to('stderr') };
})()`;

/** Runs code as a script and waits for its promises. The last expression is the value, as JSON has it. */
export async function runJavaScript(code: string, options: JavaScriptOptions): Promise<JavaScriptResult> {
  const quickjs = await load();
  const { limits } = options;
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(limits.memoryBytes);
  runtime.setMaxStackSize(STACK_BYTES);
  runtime.setInterruptHandler(() => performance.now() > limits.deadline);
  const context = runtime.newContext();
  try {
    equip(context, options);
    const evaluated = context.evalCode(code, options.file, { type: 'global' });
    if (evaluated.error) return failureOf(context, evaluated.error, limits);
    return settle(context, evaluated.value, limits);
  } catch (error) {
    return {
      ok: false,
      error: error instanceof Error ? error.message : String(error),
      timedOut: performance.now() > limits.deadline,
    };
  } finally {
    dispose(context, runtime);
  }
}

function dispose(context: QuickJSContext, runtime: { dispose(): void }): void {
  try {
    context.dispose();
    runtime.dispose();
  } catch {
    // A run that was cut off may hold values that QuickJS asserts on; the module is then loaded afresh for the next run.
    loading = null;
  }
}

function equip(context: QuickJSContext, { print, globals = {}, values = {} }: JavaScriptOptions): void {
  const define = (target: QuickJSHandle, name: string, work: HostFunction) => {
    context
      .newFunction(name, (...args) => {
        const given = args.map((arg) => bytesOf(context, arg) ?? context.dump(arg));
        try {
          return toGuest(context, work(...given));
        } catch (error) {
          throw context.newError(error instanceof Error ? error.message : String(error));
        }
      })
      .consume((handle) => context.setProp(target, name, handle));
  };
  define(context.global, '__print', (stream, text) => print(stream === 'stderr' ? 'stderr' : 'stdout', String(text)));
  context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js')).dispose();
  for (const [name, functions] of Object.entries(globals)) {
    context.newObject().consume((object) => {
      for (const [key, work] of Object.entries(functions)) define(object, key, work);
      context.setProp(context.global, name, object);
    });
  }
  for (const [name, value] of Object.entries(values)) {
    toGuest(context, value).consume((handle) => context.setProp(context.global, name, handle));
  }
}

/** The bytes of a guest's Uint8Array or ArrayBuffer, or undefined for anything else. */
function bytesOf(context: QuickJSContext, handle: QuickJSHandle): Uint8Array | undefined {
  if (context.typeof(handle) !== 'object') return undefined;
  const buffer = context.getProp(handle, 'buffer');
  try {
    const view = context.typeof(buffer) === 'object';
    const length = context.getProp(handle, 'byteLength').consume((value) => context.dump(value));
    if (typeof length !== 'number') return undefined;
    const offset = view ? Number(context.getProp(handle, 'byteOffset').consume((value) => context.dump(value))) : 0;
    const content = context.getArrayBuffer(view ? buffer : handle);
    try {
      return Uint8Array.from(content.value.subarray(offset, offset + length));
    } finally {
      content.dispose();
    }
  } catch {
    // It only looked like bytes.
    return undefined;
  } finally {
    buffer.dispose();
  }
}

function toGuest(context: QuickJSContext, value: unknown): QuickJSHandle {
  if (value === undefined) return context.undefined.dup();
  if (value instanceof Uint8Array) {
    const content = Uint8Array.from(value);
    return context.newArrayBuffer(content.buffer).consume((buffer) =>
      context.getProp(context.global, 'Uint8Array').consume((constructor) => {
        context.setProp(context.global, '__bytes', buffer);
        constructor.dispose();
        return context.unwrapResult(
          context.evalCode(
            '(() => { const bytes = new Uint8Array(__bytes); delete globalThis.__bytes; return bytes; })()',
          ),
        );
      }),
    );
  }
  if (typeof value === 'string') return context.newString(value);
  const text = JSON.stringify(value) ?? 'null';
  return context
    .newString(text)
    .consume((json) =>
      context
        .getProp(context.global, 'JSON')
        .consume((namespace) =>
          context
            .getProp(namespace, 'parse')
            .consume((parse) => context.unwrapResult(context.callFunction(parse, namespace, json))),
        ),
    );
}

/** Runs the guest's jobs until its value, when it is a promise, is settled. */
function settle(context: QuickJSContext, value: QuickJSHandle, limits: JavaScriptLimits): JavaScriptResult {
  const { runtime } = context;
  for (;;) {
    const jobs = runtime.executePendingJobs();
    if (jobs.error) return failureOf(context, jobs.error, limits);
    jobs.dispose();
    if (!runtime.hasPendingJob()) break;
  }
  const state = context.getPromiseState(value);
  if (state.type === 'pending') {
    value.dispose();
    return { ok: false, error: 'The value is a promise that nothing settles.', timedOut: false };
  }
  if (state.type === 'rejected') {
    value.dispose();
    return failureOf(context, state.error, limits);
  }
  return { ok: true, ...jsonOf(context, state.value) };
}

function jsonOf(context: QuickJSContext, value: QuickJSHandle): { value: unknown; defined: boolean } {
  context.setProp(context.global, '__value', value);
  value.dispose();
  const text = context
    .unwrapResult(
      context.evalCode(
        "JSON.stringify(__value, (_, inner) => typeof inner === 'bigint' ? String(inner) : inner)",
        'value.js',
      ),
    )
    .consume((handle) => context.dump(handle));
  return typeof text === 'string' ? { value: JSON.parse(text), defined: true } : { value: undefined, defined: false };
}

function failureOf(context: QuickJSContext, handle: QuickJSHandle, limits: JavaScriptLimits): JavaScriptResult {
  const timedOut = performance.now() > limits.deadline;
  const dumped = handle.consume((error) => context.dump(error));
  if (dumped !== null && typeof dumped === 'object') {
    const { name = 'Error', message = '', stack = '' } = dumped as { name?: string; message?: string; stack?: string };
    return { ok: false, error: `${name}: ${message}${stack === '' ? '' : `\n${stack.trimEnd()}`}`, timedOut };
  }
  return { ok: false, error: String(dumped), timedOut };
}
