/**
 * JavaScript components: one QuickJS kept for a start, and in it a runtime of its own for each component, so that none
 * reaches another. A component that runs too long loses its own runtime alone.
 */
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten';
import type { ComponentSpec } from '../../workers/protocol/component-call.ts';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import type { GuestMemory } from '../../workers/protocol/transfer-limit.ts';
import { installGlobals, newQuickJs, STACK_BYTES } from '../javascript/javascript.ts';
import { escapeLoneSurrogates, type HostFunction, JavaScriptBridge } from '../javascript/javascript-bridge.ts';
import { JavaScriptFetch } from '../javascript/javascript-fetch.ts';
import { failedResult, type JavaScriptResult, settleValue } from '../javascript/javascript-values.ts';
import { sourceText } from '../source-text.ts';
import { vfsFunctions } from '../vfs-functions.ts';
import {
  type ComponentInterpreter,
  type ComponentRun,
  type ComponentRunResult,
  GUARDED_USES,
  lossSentence,
  UndeclaredUse,
} from './interpreter.ts';
import { GUARD } from './javascript-guard.ts';
import { settleRequests } from './javascript-requests.ts';
import { stripTypes } from './strip-types.ts';

/** Runtimes kept for a start; the one that was used longest ago goes. Each takes a third of a megabyte. */
const MAX_REALMS = 128;

/** The guest's side: taken before the component's code can change anything. */
const CALLER = `((parse, apply) => (callee, self, text, isJson) =>
  apply(callee, self, text === undefined ? [] : [isJson ? parse(text) : text]))(JSON.parse, Reflect.apply)`;

/** Gives the guest the variables of a call. */
const ENV_SETTER = `((parse, define) => (text) => {
  define(globalThis, 'env', { value: parse(text), writable: true, enumerable: true, configurable: true });
})(JSON.parse, Reflect.defineProperty)`;

/**
 * Remembers the state in the guest, and gives it out only when it has changed: a large one that has not need not cross.
 * A state that is one string is remembered as it is, any other one as its JSON: only that tells whether an object has
 * changed.
 */
const KEEPER = sourceText(new URL('./keeper.cjs', import.meta.url));

/** What a guest's function is given: a value as its JSON, or a string as it is. */
interface GuestArgument {
  text: string;
  isJson: boolean;
}

type Failed = Extract<ComponentRunResult, { ok: false }>;

interface Realm {
  component: ComponentSpec;
  runtime: QuickJSRuntime;
  context: QuickJSContext;
  bridge: JavaScriptBridge;
  caller: QuickJSHandle;
  /** The function of ENV_SETTER. */
  setEnv: QuickJSHandle;
  toJson: QuickJSHandle;
  /** A function of KEEPER. */
  keeper: QuickJSHandle;
  /** The function that it exports, and its state object if it has one. */
  main: QuickJSHandle;
  state: QuickJSHandle | null;
  /** Of a component that declares `fetch`. */
  network: JavaScriptFetch | null;
}

export class JavaScriptComponents implements ComponentInterpreter {
  readonly #memory: GuestMemory;
  readonly #realms = new Map<string, Realm>();
  #module: Promise<QuickJSWASMModule> | null = null;
  #current: ComponentRun | null = null;
  /** What the current call used without having declared it. */
  #undeclared: UndeclaredUse | null = null;

  constructor(memory: GuestMemory) {
    this.#memory = memory;
  }

  get paths(): readonly string[] {
    return [...this.#realms.keys()];
  }

  async run(run: ComponentRun): Promise<ComponentRunResult> {
    const { component } = run;
    this.#module ??= newQuickJs(this.#memory.memoryBytes);
    const module = await this.#module;
    this.#current = run;
    this.#takeUndeclared();
    try {
      const realm = this.#realmOf(component) ?? (await this.#start(module, run));
      const result = 'ok' in realm ? realm : await this.#call(realm, run);
      const undeclared = this.#takeUndeclared();
      if (undeclared !== null) return { ok: false, kind: 'capability', message: undeclared.message };
      if (!result.ok && (result.kind === 'timeout' || result.kind === 'memory')) this.forget(component.path);
      return result;
    } catch (error) {
      return this.#abandon(component.path, run.deadline, error);
    } finally {
      this.#realms.get(component.path)?.network?.abandon();
      this.#current = null;
    }
  }

  forget(path: string): void {
    const realm = this.#realms.get(path);
    if (realm === undefined) return;
    this.#realms.delete(path);
    try {
      disposeRealm(realm);
    } catch {
      // The interpreter is unsound: nothing in it can be used again.
      this.#realms.clear();
      this.#module = null;
    }
  }

  dropIdle(): void {
    if (this.#realms.size === 0) this.#module = null;
  }

  /** The kept realm, when it is of the same code. The one that was used last is the last of the map. */
  #realmOf({ path, hash }: ComponentSpec): Realm | null {
    const realm = this.#realms.get(path);
    if (realm === undefined) return null;
    if (realm.component.hash !== hash) {
      this.forget(path);
      return null;
    }
    this.#realms.delete(path);
    this.#realms.set(path, realm);
    return realm;
  }

  /** An error of QuickJS itself, for example when it has no memory left to report an error. */
  #abandon(path: string, deadline: number, error: unknown): Failed {
    const lost = lossSentence(this.paths, path);
    this.#realms.clear();
    this.#module = null;
    if (monotonicMs() > deadline) return { ok: false, kind: 'timeout', message: `It ran out of time.${lost}` };
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, kind: 'memory', message: `Its interpreter had to be ended: ${reason}.${lost}` };
  }

  async #start(module: QuickJSWASMModule, run: ComponentRun): Promise<Realm | Failed> {
    const { component, source, deadline } = run;
    const plain = component.lang === 'ts' ? stripTypes(String(source())) : { code: String(source()) };
    if ('problem' in plain) return { ok: false, kind: 'component', message: plain.problem };
    this.#makeRoom(run);
    const runtime = module.newRuntime();
    runtime.setMaxStackSize(STACK_BYTES);
    runtime.setInterruptHandler(() => monotonicMs() > (this.#current?.deadline ?? 0));
    const context = runtime.newContext();
    const bridge = new JavaScriptBridge(context, this.#memory);
    const toJson = installGlobals(context, bridge, this.#globals(component));
    this.#guard(context, bridge, component);
    const network = component.uses.includes('fetch') ? new JavaScriptFetch(context, bridge, this.#port()) : null;
    const begun = { component, runtime, context, bridge, state: null, network };
    const caller = context.unwrapResult(context.evalCode(CALLER, 'caller'));
    const setEnv = context.unwrapResult(context.evalCode(ENV_SETTER, 'env'));
    giveEnv({ context, bridge, setEnv }, run);
    const keeper = context
      .unwrapResult(context.evalCode(KEEPER, 'keeper'))
      .consume((make) => context.unwrapResult(context.callFunction(make, context.undefined, toJson)));
    const file = `${component.path}.${component.lang}`;
    const evaluated = context.evalCode(plain.code, file, { type: 'module', backtraceBarrier: true });
    if (!evaluated.error) await settleRequests(begun, run);
    const exported = evaluated.error
      ? failedResult(context, bridge, evaluated.error, { deadline })
      : settleValue(context, runtime, bridge, evaluated.value, { deadline });
    const main = 'ok' in exported ? context.undefined : context.getProp(exported.value, 'default');
    const realm: Realm = { ...begun, toJson, keeper, caller, setEnv, main };
    this.#realms.set(component.path, realm);
    const failure = 'ok' in exported ? failureOf(exported) : await this.#connect(realm, exported.value, run);
    if (failure === null) return realm;
    if (failure.kind !== 'timeout' && failure.kind !== 'memory') this.forget(component.path);
    return failure;
  }

  /** Takes what the module exports, and gives it the state that it kept. */
  async #connect(realm: Realm, exported: QuickJSHandle, run: ComponentRun): Promise<Failed | null> {
    const { context, main, component } = realm;
    const state = exported.consume((namespace) => context.getProp(namespace, 'state'));
    if (context.typeof(main) !== 'function') {
      state.dispose();
      return { ok: false, kind: 'component', message: 'Its module has no default export that is a function.' };
    }
    if (component.persist === 'no') {
      state.dispose();
      return null;
    }
    realm.state = state;
    const isComplete =
      context.typeof(state) === 'object' && ['get', 'set'].every((name) => isFunction(context, state, name));
    if (!isComplete)
      return {
        ok: false,
        kind: 'state',
        message: 'It has :persist and exports no "state" with the functions get and set.',
      };
    const saved = savedStateOf(run);
    if (saved === null || 'ok' in saved) return saved;
    const json = Buffer.from(saved.buffer, saved.byteOffset, saved.byteLength).toString();
    const restored = await this.#invoke(realm, run, 'set', argumentOf(json));
    if (restored.ok) return null;
    const kind = restored.kind === 'component' ? 'state' : restored.kind;
    return { ...restored, kind, message: `state.set refused what was kept: ${restored.message}` };
  }

  async #call(realm: Realm, run: ComponentRun): Promise<ComponentRunResult> {
    giveEnv(realm, run);
    const answer = await this.#invoke(realm, run, null, { text: run.input, isJson: true });
    if (!answer.ok || realm.state === null) return answer;
    const state = await this.#invoke(realm, run, 'get', null);
    if (!state.ok) return { ...state, kind: state.kind === 'component' ? 'state' : state.kind };
    if (state.isUnchanged) return answer;
    if (state.json === undefined) return { ok: false, kind: 'state', message: 'state.get gave nothing that JSON has.' };
    return { ...answer, state: Buffer.from(state.json) };
  }

  /** Calls the component, or a function of its state, and awaits what it gives. */
  async #invoke(
    realm: Realm,
    run: ComponentRun,
    method: 'get' | 'set' | null,
    argument: GuestArgument | null,
  ): Promise<ComponentRunResult & { isUnchanged?: boolean }> {
    const { deadline } = run;
    const { context, runtime, bridge, caller, toJson, keeper } = realm;
    const self = method === null ? context.undefined : (realm.state ?? context.undefined);
    const callee = method === null ? realm.main.dup() : context.getProp(self, method);
    const text = argument === null ? context.undefined : bridge.newText(argument.text);
    const isJson = argument?.isJson === false ? context.false : context.true;
    const called = context.callFunction(caller, context.undefined, callee, self, text, isJson);
    if (method === 'set') context.callFunction(keeper, context.undefined, context.undefined, text, isJson).dispose();
    callee.dispose();
    text.dispose();
    if (called.error) return failureOf(failedResult(context, bridge, called.error, { deadline }));
    await settleRequests(realm, run);
    const settled = settleValue(context, runtime, bridge, called.value, { deadline });
    if ('ok' in settled) return failureOf(settled);
    if (method === 'set') {
      settled.value.dispose();
      return { ok: true, json: undefined };
    }
    const written = settled.value.consume((value) =>
      context.callFunction(method === 'get' ? keeper : toJson, context.undefined, value),
    );
    if (written.error) return failureOf(failedResult(context, bridge, written.error, { deadline }));
    const isUnchanged = context.typeof(written.value) === 'boolean';
    const output = written.value.consume((value) =>
      context.typeof(value) === 'string' ? bridge.text(value) : undefined,
    );
    if (isUnchanged) return { ok: true, json: undefined, isUnchanged };
    return { ok: true, json: output };
  }

  #globals(component: ComponentSpec): Parameters<typeof installGlobals>[2] {
    const current = () => {
      if (this.#current === null) throw new Error('No call runs.');
      return this.#current;
    };
    const reach = vfsFunctions(() => current().files, this.#memory);
    const refuse: HostFunction = () => this.#refuse(component, 'vfs');
    const vfs = component.uses.includes('vfs')
      ? reach
      : Object.fromEntries(Object.keys(reach).map((name) => [name, refuse]));
    return {
      print: ({ stream, text }) => this.#current?.log(stream, escapeLoneSurrogates(text)),
      write: (stream, bytes) => this.#current?.log(stream, Buffer.from(bytes).toString()),
      vfs,
    };
  }

  /** Takes from the guest what its component did not declare. */
  #guard(context: QuickJSContext, bridge: JavaScriptBridge, component: ComponentSpec): void {
    const undeclared = GUARDED_USES.filter((use) => !component.uses.includes(use));
    if (undeclared.length === 0) return;
    const guard = context.unwrapResult(context.evalCode(GUARD, 'guard'));
    const refuse = bridge.function('refuse', (use) => this.#refuse(component, String(use)));
    const names = context.newString(undeclared.join(' '));
    context.unwrapResult(context.callFunction(guard, context.undefined, refuse, names)).dispose();
    for (const handle of [guard, refuse, names]) handle.dispose();
  }

  #refuse(component: ComponentSpec, use: string): never {
    this.#undeclared ??= new UndeclaredUse(component.path, use);
    throw this.#undeclared;
  }

  #port(): ConstructorParameters<typeof JavaScriptFetch>[2] {
    return {
      fetch: async (request, cancel) =>
        (await this.#current?.network.fetch(request, cancel)) ?? { failure: 'aborted', message: 'the call has ended' },
    };
  }

  #takeUndeclared(): UndeclaredUse | null {
    const undeclared = this.#undeclared;
    this.#undeclared = null;
    return undeclared;
  }

  #makeRoom({ log }: ComponentRun): void {
    const [oldest] = this.#realms.keys();
    if (this.#realms.size < MAX_REALMS || oldest === undefined) return;
    this.forget(oldest);
    log('log', `The memory of "${oldest}" is dropped: ${MAX_REALMS} components have memory in this start.\n`);
  }
}

/** A large string is decoded here, in a tenth of the time that the guest needs for it. */
function argumentOf(json: string): GuestArgument {
  if (!json.startsWith('"')) return { text: json, isJson: true };
  try {
    return { text: JSON.parse(json), isJson: false };
  } catch {
    return { text: json, isJson: true };
  }
}

function savedStateOf({ savedState }: ComponentRun): Uint8Array | null | Failed {
  try {
    return savedState();
  } catch (error) {
    return { ok: false, kind: 'state', message: error instanceof Error ? error.message : String(error) };
  }
}

function isFunction(context: QuickJSContext, object: QuickJSHandle, name: string): boolean {
  return context.getProp(object, name).consume((member) => context.typeof(member) === 'function');
}

function failureOf(result: JavaScriptResult): Failed {
  if (result.ok) throw new Error('It did not fail.');
  const { error, timedOut } = result;
  if (timedOut)
    return { ok: false, kind: 'timeout', message: 'It ran out of time and was stopped: its memory is lost.' };
  const kind = /^InternalError: out of memory/.test(error) ? 'memory' : 'component';
  return { ok: false, kind, message: error };
}

function giveEnv(
  { context, bridge, setEnv }: Pick<Realm, 'context' | 'bridge' | 'setEnv'>,
  { env }: ComponentRun,
): void {
  const given = bridge
    .newText(JSON.stringify(env))
    .consume((text) => context.callFunction(setEnv, context.undefined, text));
  (given.error ?? given.value).dispose();
}

function disposeRealm({ main, state, caller, setEnv, toJson, keeper, bridge, context, runtime, network }: Realm): void {
  network?.dispose();
  for (const handle of [main, state, caller, setEnv, toJson, keeper]) handle?.dispose();
  bridge.dispose();
  context.dispose();
  runtime.dispose();
}
