/**
 * A program of the shell's `js`: its modules, its timers and its end, as Node has them. Owns the order in which its
 * parts run; what they reach outside are texts and bytes. Knows nothing of the shell.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import { noteIdleMemory } from '../../workers/protocol/transfer-limit.ts';
import { ABSENT, BUILTINS, GUEST_PARTS, guestPath, guestSource } from './guest-sources.ts';
import { inRuntime, installGlobals, type JavaScriptRun, type Realm, tidyAfterRun } from './javascript.ts';
import { type HostFunction, JavaScriptBridge } from './javascript-bridge.ts';
import { JavaScriptFetch } from './javascript-fetch.ts';
import { failedResult } from './javascript-values.ts';
import { declaredKind, type ModuleFiles, resolveModule } from './module-files.ts';
import type { ProgramFiles } from './program-files.ts';
import { programHost, zoneIn } from './program-host.ts';
import { ProgramModules, withMeta } from './program-modules.ts';
import { Rejections } from './quickjs-binary.ts';

/** What process.version says: there is no Node.js. */
const VERSION = 'quickjs-2025-09-13';
/**
 * Stack of a program in bytes: QuickJS's own limit is met before V8's (984 KB), so that a program can catch it. At 256
 * KiB some ways of calling met V8's first; a larger stack of V8 takes a flag, and 8 ms more of every worker's start.
 */
const PROGRAM_STACK_BYTES = 208 * 1024;
const UID = 1000;
/** As Node's: the program waits at its top for what nothing settles. */
const UNSETTLED_EXIT = 13;
const FAILED_EXIT = 1;
/** The longest time without a look at what else the process has to do, in milliseconds. */
const TURN_MS = 20;
const SHARE_OF_MEMORY = 4;

export interface Program extends Omit<JavaScriptRun, 'values' | 'vfs' | 'file'> {
  /** The command's name. */
  name: string;
  /** The absolute path from which its modules are found. */
  main: string;
  /** It is the file of that path. */
  isFile: boolean;
  /** `print`: the value of the code is printed; `check`: nothing runs. */
  mode: 'run' | 'module' | 'print' | 'check';
  args: readonly string[];
  /** What `process.argv` names as the script where that is no file. */
  script?: string;
  env: Record<string, string>;
  /** Its input as the shell has it. */
  stdinText: string;
  cwd: string;
  umask: number;
  files: ProgramFiles;
  modules: ModuleFiles;
  /** Ends what it waits for. */
  signal: AbortSignal;
}

interface ProgramEnd {
  exitCode: number;
  timedOut: boolean;
  /** Why QuickJS itself has failed, if it has. */
  error: string | null;
}

/** Runs a program to its end. */
export async function runProgram(program: Program): Promise<ProgramEnd> {
  noteIdleMemory();
  const running = new RunningProgram(program);
  try {
    return await inRuntime(
      program.memoryBytes,
      () => running.isOver,
      (realm) => running.run(realm),
      PROGRAM_STACK_BYTES,
    );
  } catch (error) {
    const timedOut = monotonicMs() > program.deadline;
    const reason = error instanceof Error ? error.message : String(error);
    return { exitCode: FAILED_EXIT, timedOut, error: timedOut ? null : reason };
  } finally {
    program.files.closeAll();
    tidyAfterRun();
  }
}

/** The functions of the guest's `boot`. */
type Boot = Record<
  'run' | 'print' | 'tick' | 'turn' | 'idle' | 'rejected' | 'fatal' | 'end' | 'namesOf',
  QuickJSHandle
>;
const BOOT = ['run', 'print', 'tick', 'turn', 'idle', 'rejected', 'fatal', 'end', 'namesOf'] as const;

class RunningProgram {
  readonly #program: Program;
  readonly #began = performance.now();
  /** Set by `process.exit` and an error that nothing caught: nothing it does has an effect any more. */
  #exitCode: number | null = null;
  #context!: QuickJSContext;
  #bridge!: JavaScriptBridge;
  #boot!: Boot;
  #modules!: ProgramModules;
  #yielded = 0;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Whether the interpreter has to stop. */
  get isOver(): boolean {
    return this.#exitCode !== null || this.#isLate;
  }

  get #isLate(): boolean {
    return monotonicMs() > this.#program.deadline || this.#program.signal.aborted;
  }

  async run(realm: Realm): Promise<ProgramEnd> {
    const { context, runtime, module, wordsBefore } = realm;
    const rejections = new Rejections(module, runtime, context, wordsBefore);
    this.#context = context;
    this.#bridge = new JavaScriptBridge(context, this.#program);
    this.#modules = new ProgramModules({
      context,
      bridge: this.#bridge,
      files: this.#program.modules,
      namesOf: () => this.#boot.namesOf,
    });
    const { args, env, stdinText, network } = this.#program;
    const globals = { ...this.#program, values: { args, env, stdin: stdinText } };
    const toJson = installGlobals(context, this.#bridge, this.#guarded(globals));
    const fetching = network === undefined ? null : new JavaScriptFetch(context, this.#bridge, network);
    runtime.setModuleLoader(
      (path) => this.#modules.sourceOf(path),
      (base, asked) => this.#modules.pathOf(base, asked),
    );
    try {
      const failure = this.#start();
      if (failure !== null) return failure;
      const main = this.#runMain();
      await this.#loop(realm, fetching, rejections);
      return this.#ended(main);
    } finally {
      for (const name of BOOT) this.#boot?.[name]?.dispose();
      rejections.dispose();
      fetching?.dispose();
      toJson.dispose();
      this.#bridge.dispose();
    }
  }

  /** Evaluates the guest's own part. */
  #start(): ProgramEnd | null {
    const context = this.#context;
    const host = this.#host();
    const run = this.#modules.compiled(guestSource('boot'), 'node:boot', 'exports, require, module, host');
    const holder = context.newObject();
    const exports = context.newObject();
    if (run.error) {
      const failed = failedResult(context, this.#bridge, run.error, this.#program);
      throw new Error(failed.ok ? '' : failed.error);
    }
    context.setProp(holder, 'exports', exports);
    const called = context.callFunction(run.value, context.undefined, exports, context.undefined, holder, host);
    const made = context.getProp(holder, 'exports');
    try {
      if (called.error) {
        const failed = failedResult(context, this.#bridge, called.error, this.#program);
        return { exitCode: FAILED_EXIT, timedOut: this.#isLate, error: failed.ok ? null : failed.error };
      }
      called.value.dispose();
      this.#boot = Object.fromEntries(BOOT.map((name) => [name, context.getProp(made, name)])) as Boot;
      return null;
    } finally {
      for (const handle of [run.value, holder, exports, host, made]) handle.dispose();
    }
  }

  /** Runs the program's own code; the promise of a module. */
  #runMain(): QuickJSHandle | null {
    const { code, main, mode } = this.#program;
    if (mode === 'print') {
      const value = this.#context.evalCode(code, main, { type: 'global' });
      if (value.error) this.#call('fatal', value.error);
      else this.#call('print', value.value);
      return null;
    }
    const source = this.#modules.plain(code, main);
    const declared = this.#program.isFile ? declaredKind(this.#program.modules, main) : null;
    const isModule = mode === 'module' || declared === 'module';
    const body = isModule ? null : this.#modules.compiled(source, main);
    if (body === null || (body.error && declared === null && this.#modules.isModuleText(source, main))) {
      body?.error?.dispose();
      return mode === 'check' ? null : this.#runModule(source, main);
    }
    if (body.error) this.#call('fatal', body.error);
    else if (mode !== 'check') this.#call('run', body.value);
    else body.value.dispose();
    return null;
  }

  #runModule(source: string, main: string): QuickJSHandle | null {
    const evaluated = this.#context.evalCode(withMeta(source, main, true), main, { type: 'module' });
    if (evaluated.error === undefined) return evaluated.value;
    this.#call('fatal', evaluated.error);
    return null;
  }

  /** Runs jobs, timers and answers until nothing is left to wait for. */
  async #loop({ runtime }: Realm, fetching: JavaScriptFetch | null, rejections: Rejections): Promise<void> {
    this.#yielded = monotonicMs();
    this.#call('tick')?.dispose();
    for (;;) {
      while (!this.isOver && runtime.hasPendingJob()) {
        const jobs = runtime.executePendingJobs();
        if (jobs.error) this.#call('fatal', jobs.error);
        else jobs.dispose();
        this.#call('tick')?.dispose();
      }
      if (this.isOver) return;
      const rejection = rejections.take();
      if (rejection !== null) {
        this.#call('rejected', rejection.reason, rejection.promise);
        continue;
      }
      const wait = this.#numberOf('turn');
      if (this.isOver) return;
      if (wait === 0) await this.#yield();
      else if (wait > 0 || fetching?.isBusy) await this.#wait(wait, fetching);
      else if (!this.#isTrue('idle')) return;
    }
  }

  async #yield(): Promise<void> {
    if (monotonicMs() - this.#yielded < TURN_MS) return;
    await pause(0);
    this.#yielded = monotonicMs();
  }

  /** Waits for the next timer or answer; -1: there is no timer. */
  async #wait(milliseconds: number, fetching: JavaScriptFetch | null): Promise<void> {
    const { deadline, signal } = this.#program;
    const stop = new AbortController();
    const rest = Math.max(0, deadline - monotonicMs()) + 1;
    const time = Math.ceil(milliseconds < 0 ? rest : Math.min(milliseconds, rest));
    const slept = pause(time, undefined, { signal: AbortSignal.any([stop.signal, signal]) }).catch(() => undefined);
    await (fetching?.isBusy ? Promise.race([slept, fetching.answered()]) : slept);
    stop.abort();
    this.#yielded = monotonicMs();
    fetching?.deliver();
  }

  #ended(main: QuickJSHandle | null): ProgramEnd {
    const isLate = this.#exitCode === null && this.#isLate;
    const isUnsettled = main !== null && this.#isPending(main);
    if (main?.alive) main.dispose();
    if (isLate) return { exitCode: FAILED_EXIT, timedOut: true, error: null };
    if (this.#exitCode === null && isUnsettled) {
      this.#say('stderr', Buffer.from('Warning: Detected unsettled top-level await\n'));
      this.#exitCode = UNSETTLED_EXIT;
    }
    const code = this.#exitCode ?? this.#numberOf('end');
    return { exitCode: this.#exitCode ?? code, timedOut: false, error: null };
  }

  #isPending(main: QuickJSHandle): boolean {
    const state = this.#context.getPromiseState(main);
    if (state.type === 'fulfilled') state.value.dispose();
    else if (state.type === 'rejected') state.error.dispose();
    return state.type === 'pending';
  }

  #call(name: keyof Boot, ...given: QuickJSHandle[]): QuickJSHandle | null {
    const called = this.#context.callFunction(this.#boot[name], this.#context.undefined, ...given);
    for (const handle of given) if (handle.alive) handle.dispose();
    if (called.error === undefined) return called.value;
    if (this.isOver || name === 'fatal') called.error.dispose();
    else this.#call('fatal', called.error);
    return null;
  }

  #isTrue(name: keyof Boot): boolean {
    const answer = this.#call(name);
    return answer?.consume((handle) => this.#context.sameValue(handle, this.#context.true)) ?? false;
  }

  #numberOf(name: keyof Boot): number {
    return this.#call(name)?.consume((handle) => this.#context.getNumber(handle)) ?? 0;
  }

  #say(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    if (this.#exitCode === null) this.#program.write(stream, bytes);
  }

  /** The same, without an effect after the program's end. */
  #guarded<Globals extends Program>(globals: Globals): Globals {
    return {
      ...globals,
      print: (chunk) => {
        if (this.#exitCode === null) globals.print(chunk);
      },
      write: (stream, bytes) => this.#say(stream, bytes),
      vfs: undefined,
    };
  }

  /** The object of the functions that the guest's part reaches. */
  #host(): QuickJSHandle {
    const { modules, files, stdin } = this.#program;
    const context = this.#context;
    const host = context.newObject();
    const functions: Record<string, HostFunction> = {
      ...programHost(Math.floor(this.#program.memoryBytes / SHARE_OF_MEMORY)),
      settings: () => JSON.stringify(this.#settings()),
      internal: (id) => guestSource(String(id)),
      internalPath: (asked, from) => guestPath(String(asked), String(from)),
      resolve: (specifier, from) => resolveModule(modules, String(specifier), String(from), 'require'),
      source: (path) => this.#modules.plain(modules.text(String(path)), String(path)),
      isEsModule: (path) => String(this.#modules.isEsModule(String(path))),
      files: files.answer,
      stdin: () => stdin ?? new Uint8Array(0),
      now: () => String(performance.now() - this.#began),
      nanoseconds: () => String(process.hrtime.bigint()),
      memory: () => JSON.stringify(this.#memory()),
      say: (stream, content) => {
        const name = stream === 'stderr' ? 'stderr' : 'stdout';
        if (content instanceof Uint8Array) this.#program.write(name, content);
        else this.#program.print({ stream: name, text: String(content) });
      },
      exit: (code) => {
        this.#exitCode = Number(code) & 255;
      },
    };
    for (const [name, work] of Object.entries(functions)) {
      const guarded: HostFunction = (...given) => {
        if (this.#exitCode !== null) throw new Error('The program has ended.');
        return work(...given);
      };
      this.#bridge.function(name, guarded).consume((handle) => context.setProp(host, name, handle));
    }
    const raw: Record<string, (...handles: QuickJSHandle[]) => QuickJSHandle | { error: QuickJSHandle }> = {
      compile: (code, file, names) => this.#compileFor(code, file, names),
      importNow: (path) => this.#modules.importNow(path),
      promiseState: (promise) => this.#promiseState(promise),
    };
    for (const [name, work] of Object.entries(raw))
      context.newFunction(name, work).consume((handle) => context.setProp(host, name, handle));
    return host;
  }

  #compileFor(code?: QuickJSHandle, file?: QuickJSHandle, names?: QuickJSHandle) {
    if (code === undefined || file === undefined || names === undefined) return this.#context.undefined;
    const text = this.#bridge.text(code);
    const compiled = this.#modules.compiled(text, this.#bridge.text(file), this.#bridge.text(names));
    return compiled.error ? { error: compiled.error } : compiled.value;
  }

  /** `[state, value]`; the state of what is no promise is "none". */
  #promiseState(handle?: QuickJSHandle): QuickJSHandle {
    const context = this.#context;
    const answer = context.newArray();
    const state = handle === undefined ? null : context.getPromiseState(handle);
    const isPromise = state !== null && !(state.type === 'fulfilled' && state.notAPromise);
    context.newString(isPromise ? state.type : 'none').consume((name) => context.setProp(answer, 0, name));
    if (state === null || !isPromise || state.type === 'pending') return answer;
    const value = state.type === 'fulfilled' ? state.value : state.error;
    value.consume((one) => context.setProp(answer, 1, one));
    return answer;
  }

  #settings(): Record<string, unknown> {
    const { name, main, mode, isFile, args, script, cwd, umask, modules } = this.#program;
    const argv = [`/usr/bin/${name}`, ...(isFile ? [main] : script === undefined ? [] : [script]), ...args];
    return {
      name,
      main,
      isFile,
      argv,
      cwd,
      umask,
      uid: UID,
      isModule: mode === 'module' || (isFile && declaredKind(modules, main) === 'module'),
      isPrinted: mode === 'print',
      version: VERSION,
      zone: zoneIn(this.#program.env),
      builtins: BUILTINS,
      parts: GUEST_PARTS,
      absent: ABSENT,
    };
  }

  #memory(): Record<string, number> {
    const limit = this.#program.memoryBytes;
    const used = this.#context.runtime.computeMemoryUsage().consume((usage) => this.#context.dump(usage)) as {
      memory_used_size?: number;
    };
    const heapUsed = Math.max(0, used.memory_used_size ?? 0);
    return { rss: limit, heapTotal: limit, heapUsed, external: 0, arrayBuffers: 0, limit };
  }
}
