/**
 * Runs the components of one start: the steps of a call in the order of their dependencies, one at a time in each
 * interpreter, each with its own files, its limits and its commit. Loaded by the first call. Knows nothing of messages.
 */
import { isUnavailable, isWinterdockError, messageOf } from '../../base/errors.ts';
import { countJsonValues } from '../../base/json-weight.ts';
import type { Overlay } from '../../vfs/overlay.ts';
import { parseVfsPath } from '../../vfs/paths.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import { DEFAULT_VOLUME } from '../../vfs/volumes.ts';
import { isRecord, portProblem } from '../../workbooks/port-values.ts';
import {
  type ComponentFailure,
  type ComponentProgress,
  type ComponentSpec,
  type ComponentStep,
  type ComponentsCall,
  type ComponentsRequest,
  type ComponentsResult,
  MAX_OUTPUTS,
  type StepResult,
} from '../../workers/protocol/component-call.ts';
import type { GuestNetwork } from '../../workers/protocol/guest-network.ts';
import { elapsedSince, monotonicMs } from '../../workers/protocol/monotonic.ts';
import type { PolicyProfile } from '../../workers/protocol/policies.ts';
import { maxGrowthBytes } from '../../workers/protocol/process-memory.ts';
import { excessOf } from '../javascript/javascript-values.ts';
import type { Shell } from '../shell/shell.ts';
import { CallJournal } from './call-journal.ts';
import { CallLogs } from './call-logs.ts';
import { ComponentThread } from './component-thread.ts';
import type { ComponentInterpreter, ComponentRunResult } from './interpreter.ts';
import { JavaScriptComponents } from './javascript-components.ts';
import { decodeState, encodeState, STATE_VOLUME, StateError, stateOfFile, statePath } from './saved-state.ts';
import { ShellComponents } from './shell-components.ts';

/** Most bytes of a module in the workspace. */
const MAX_MODULE_BYTES = 16 * 1024 * 1024;
/** How long an entry of the event log may wait for a commit, in milliseconds. */
const LOG_WITHIN_MS = 1000;
/** Languages with a way to the network. */
const FETCHING: readonly ComponentSpec['lang'][] = ['js', 'ts', 'sh'];
/** Sources kept by their hash, in characters. */
const MAX_SOURCES = 8 * 1024 * 1024;

type Profile = PolicyProfile & { name: string };

interface Hooks {
  signal: AbortSignal;
  network: GuestNetwork;
  onProgress: ((progress: ComponentProgress) => void) | null;
}

/** A step that was run or skipped, and its output for the steps after it. */
interface Settled {
  result: StepResult;
  output: unknown;
}

export class ComponentRunner {
  readonly #vfs: Vfs;
  readonly #profile: Profile;
  readonly #interpreters: Readonly<Record<ComponentSpec['lang'], ComponentInterpreter>>;
  /** The end of what each interpreter was given to do. */
  readonly #queues = new Map<ComponentInterpreter, Promise<unknown>>();
  readonly #sources = new Map<string, string>();
  readonly #journal = new CallJournal();
  #running = 0;
  #flushTimer: NodeJS.Timeout | null = null;

  constructor(vfs: Vfs, profile: Profile, shell: Shell) {
    this.#vfs = vfs;
    this.#profile = profile;
    const memory = { memoryBytes: profile.memoryBytes, growthBytes: maxGrowthBytes(profile) };
    const javascript = new JavaScriptComponents(memory);
    this.#interpreters = {
      js: javascript,
      ts: javascript,
      python: new ComponentThread('python-thread', memory),
      wasm: new ComponentThread('wasm-thread', memory),
      sh: new ShellComponents(shell),
    };
  }

  async run(call: ComponentsCall, hooks: Hooks): Promise<ComponentsResult> {
    const started = monotonicMs();
    const deadline = started + call.timeoutMs;
    const logs = new CallLogs(hooks.onProgress);
    const input: unknown = JSON.parse(call.input);
    this.#running += 1;
    try {
      const settled: Promise<Settled>[] = [];
      let [bytes, values] = [0, 0];
      for (const [index, step] of call.steps.entries()) {
        const { src, hash } = step.component;
        if (src !== undefined) this.#keepSource(hash, src);
        const earlier = Promise.all(step.after.map((at) => settled[at]));
        settled[index] = earlier.then(async () => {
          const one = await this.#step(call, index, { input, settled, deadline, logs, hooks });
          bytes += Buffer.byteLength(one.result.json ?? '');
          values += countJsonValues(one.result.json ?? '');
          if (bytes > MAX_OUTPUTS.bytes || values > MAX_OUTPUTS.values) {
            delete one.result.json;
            one.result = failure(
              'output',
              `The outputs of this call have more than ${MAX_OUTPUTS.bytes} bytes or ${MAX_OUTPUTS.values} values.`,
              one.result.tookMs,
            );
          }
          hooks.onProgress?.({ step: index, ...one.result });
          return one;
        });
        // Awaited below, all together: one that throws must not count as unhandled until then.
        settled[index]?.catch(() => {});
      }
      const steps = (await Promise.all(settled)).map(({ result }) => result);
      // Who stops a call is not told that its time ran out, and neither is the ledger.
      const timedOut = !hooks.signal.aborted && steps.some(({ error }) => error?.kind === 'timeout');
      return { steps, logs: logs.take(), timedOut, tookMs: elapsedSince(started) };
    } finally {
      this.#running -= 1;
      this.#flushLater();
    }
  }

  /** Writes the entries of the event log that wait. Not while a call runs: its own commit would win. */
  flush(): void {
    if (this.#journal.isEmpty || this.#running > 0) return;
    const files = this.#vfs.overlay();
    try {
      this.#journal.write(files);
      files.commit();
      this.#journal.written();
    } catch {
      // A full sandbox keeps no log; the entries go with the next commit that succeeds.
    } finally {
      files.discard();
    }
  }

  /** Drops the interpreters in which no component has memory. */
  dropIdle(): void {
    this.flush();
    for (const interpreter of new Set(Object.values(this.#interpreters))) interpreter.dropIdle();
  }

  #flushLater(): void {
    if (this.#journal.isEmpty) return;
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = null;
      this.flush();
      this.#flushLater();
    }, LOG_WITHIN_MS);
  }

  async #step(call: ComponentsCall, index: number, at: StepContext): Promise<Settled> {
    const step = call.steps[index] as ComponentStep;
    const earlier = await Promise.all(step.after.map(async (number) => ({ number, ...(await at.settled[number]) })));
    const blocker = earlier.find(({ result }) => result?.state !== 'done');
    if (blocker !== undefined) {
      const state = blocker.result?.state === 'failed' ? 'failed' : 'was skipped';
      return skipped(`${call.steps[blocker.number]?.component.path} ${state}`);
    }
    if (at.hooks.signal.aborted) return skipped('the call was stopped');
    const input = await inputOf(step, at);
    if ('because' in input) return skipped(input.because);
    const interpreter = this.#interpreters[step.component.lang];
    const turn = (this.#queues.get(interpreter) ?? Promise.resolve()).then(() =>
      this.#runStep(call, index, step.component, input.value, at),
    );
    this.#queues.set(
      interpreter,
      turn.catch(() => {}),
    );
    return turn;
  }

  async #runStep(
    call: ComponentsCall,
    index: number,
    declared: ComponentSpec,
    input: unknown,
    { deadline, logs, hooks }: StepContext,
  ): Promise<Settled> {
    if (hooks.signal.aborted) return skipped('the call was stopped');
    hooks.onProgress?.({ step: index, state: 'running' });
    const started = monotonicMs();
    const files = this.#vfs.overlay();
    const component = withFile(declared, files);
    try {
      const refusal = this.#refusal(component, input);
      const ran =
        refusal === null
          ? await this.#interpreters[component.lang].run({
              component,
              source: () => this.#sourceOf(component, files),
              input: JSON.stringify(input),
              env: call.env ?? {},
              files,
              deadline: Math.min(started + call.stepMs, deadline),
              signal: hooks.signal,
              network: hooks.network,
              log: (stream, text) => logs.add(index, stream, text),
              savedState: () => this.#savedState(component, files),
            })
          : ({ ok: false, ...refusal } as const);
      return this.#finish(call, component, files, checked(component, ran), started);
    } catch (error) {
      return this.#finish(call, component, files, { failure: thrown(error) }, started);
    } finally {
      files.discard();
    }
  }

  /** Commits what a step did, in one transaction: its files, its state and its line in the event log. */
  #finish(call: ComponentsCall, component: ComponentSpec, files: Overlay, outcome: Outcome, started: number): Settled {
    if ('failure' in outcome) return this.#fail(call, component, files, outcome.failure, elapsedSince(started));
    const result: StepResult = { state: 'done', tookMs: elapsedSince(started) };
    if (outcome.json !== undefined) result.json = outcome.json;
    try {
      if (outcome.state !== undefined) keepState(component, call.workbook, outcome.state, files);
      this.#journal.note(call, component, result);
      if (files.isChanged) {
        this.#journal.write(files);
        files.commit();
        this.#journal.written();
      }
      result.tookMs = elapsedSince(started);
      return { result, output: outcome.output };
    } catch (error) {
      if (isUnavailable(error) || (isWinterdockError(error) && error.code === 'corrupt')) throw error;
      if (!isWinterdockError(error) && !(error instanceof StateError)) throw error;
      const kind = error instanceof StateError ? 'state' : 'component';
      const message = kind === 'state' ? error.message : `Its writes could not be kept: ${error.message}`;
      return this.#fail(call, component, files, { kind, message }, elapsedSince(started));
    }
  }

  /** A step that failed keeps nothing. One with `:persist` goes on from what was kept before. */
  #fail(
    call: ComponentsCall,
    component: ComponentSpec,
    files: Overlay,
    error: ComponentFailure,
    tookMs: number,
  ): Settled {
    files.discard();
    if (component.persist !== 'no') this.#interpreters[component.lang].forget(component.path);
    const result = failure(error.kind, error.message, tookMs);
    this.#journal.note(call, component, result);
    return { result, output: undefined };
  }

  /** Why a component does not even start; null when nothing forbids it. */
  #refusal(component: ComponentSpec, input: unknown): ComponentFailure | null {
    const { name, capabilities } = this.#profile;
    const { lang, path, uses } = component;
    const needed = lang === 'python' ? 'python' : lang === 'sh' ? 'shell' : null;
    if (needed !== null && !capabilities.includes(needed))
      return {
        kind: 'capability',
        message: `The policy "${name}" has no ${needed}, which the ${lang} component "${path}" needs.`,
      };
    const lacking = uses.find((use) => (use === 'vfs' || use === 'fetch') && !capabilities.includes(use));
    if (lacking !== undefined)
      return {
        kind: 'capability',
        message: `The policy "${name}" has no ${lacking}, which "${path}" declares to use.`,
      };
    if (uses.includes('fetch') && !FETCHING.includes(lang))
      return {
        kind: 'capability',
        message: `"${path}" declares to use fetch, which ${lang} components do not have: ${FETCHING.join(', ')} have it.`,
      };
    const problem = portProblem(component.in, input, { strict: true });
    return problem === null ? null : { kind: 'input', message: problem };
  }

  #savedState(component: ComponentSpec, files: Overlay): Uint8Array | null {
    const file = files.get(statePath(component.path), STATE_VOLUME);
    return file === null || file === undefined ? null : decodeState(component, file);
  }

  #sourceOf(component: ComponentSpec, files: Overlay): string | Uint8Array {
    if (component.file === undefined) {
      const source = this.#sources.get(component.hash);
      if (source === undefined) throw new Error('The server did not send the source of a component.');
      return source;
    }
    const path = parseVfsPath(component.file);
    const entry = files.entry(path, DEFAULT_VOLUME);
    if (entry === null) throw new ModuleMissing(`There is no file ${JSON.stringify(component.file)} in the workspace.`);
    if (entry.size > MAX_MODULE_BYTES)
      throw new ModuleMissing(`${component.file} has ${entry.size} bytes; a module may have ${MAX_MODULE_BYTES}.`);
    return files.get(path, DEFAULT_VOLUME) ?? '';
  }

  #keepSource(hash: string, source: string): void {
    this.#sources.set(hash, source);
    let characters = 0;
    for (const text of this.#sources.values()) characters += text.length;
    for (const [oldest, text] of this.#sources) {
      if (characters <= MAX_SOURCES) return;
      characters -= text.length;
      this.#sources.delete(oldest);
    }
  }
}

interface StepContext {
  input: unknown;
  settled: readonly Promise<Settled>[];
  deadline: number;
  logs: CallLogs;
  hooks: Hooks;
}

type Outcome =
  | { json: string | undefined; output: unknown; state: Uint8Array | undefined }
  | { failure: ComponentFailure };

/** A module in the workspace is another component after each write of its file. */
function withFile(component: ComponentSpec, files: Overlay): ComponentSpec {
  if (component.file === undefined) return component;
  const version = files.entry(parseVfsPath(component.file), DEFAULT_VOLUME)?.version ?? 0;
  return { ...component, hash: `${component.hash}:${version}` };
}

/** A module that is not in the workspace, or too large. */
class ModuleMissing extends Error {}

/** The input of a step: that of the call, or what earlier steps gave. */
async function inputOf(
  { inputs }: ComponentStep,
  { input, settled }: StepContext,
): Promise<{ value: unknown } | { because: string }> {
  if (inputs === null) return { value: input };
  const value: Record<string, unknown> = Object.create(null);
  for (const { name, from } of inputs) {
    const source = 'input' in from ? input : (await settled[from.step])?.output;
    const key = 'input' in from ? from.input : from.output;
    if (isRecord(source) && Object.hasOwn(source, key)) value[name] = source[key];
  }
  return { value };
}

/** What an interpreter gave, checked against the declared outputs. */
function checked({ out }: ComponentSpec, ran: ComponentRunResult): Outcome {
  if (!ran.ok) return { failure: { kind: ran.kind, message: ran.message } };
  const excess = ran.json === undefined ? null : excessOf(ran.json);
  if (excess !== null) return { failure: { kind: 'output', message: `Its output has ${excess}.` } };
  const output: unknown = ran.json === undefined ? undefined : JSON.parse(ran.json);
  const problem = portProblem(out, output, { strict: false });
  if (problem !== null) return { failure: { kind: 'output', message: problem } };
  return { json: ran.json, output, state: ran.state };
}

/** Puts the state into the files of the call, unless it is what is kept already. */
function keepState(
  component: ComponentSpec,
  workbook: ComponentsRequest['workbook'],
  state: Uint8Array,
  files: Overlay,
): void {
  const path = statePath(component.path);
  const kept = files.get(path, STATE_VOLUME);
  if (kept && Buffer.compare(stateOfFile(kept), state) === 0) return;
  files.put(path, encodeState(component, workbook, state), STATE_VOLUME);
}

function thrown(error: unknown): ComponentFailure {
  if (error instanceof StateError) return { kind: 'state', message: error.message };
  if (error instanceof ModuleMissing || (isWinterdockError(error) && !isUnavailable(error)))
    return { kind: 'component', message: messageOf(error) };
  throw error;
}

function failure(kind: ComponentFailure['kind'], message: string, tookMs: number): StepResult {
  return { state: 'failed', error: { kind, message: message.toWellFormed() }, tookMs };
}

function skipped(because: string): Settled {
  return { result: { state: 'skipped', because, tookMs: 0 }, output: undefined };
}
