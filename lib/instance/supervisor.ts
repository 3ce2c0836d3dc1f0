/**
 * One supervised process on one VFS file: its messages, its time and memory limits, its close and its death. The first
 * cause of death wins. Knows nothing of rows, drawers or HTTP.
 */
import { WinterdockError } from '../base/errors.ts';
import { deserializeError } from '../base/serialized-error.ts';
import type { ReadAnswer, ReadRequest } from '../vfs/types.ts';
import { CallWatch, cappedTimeout } from './call-limits.ts';
import { CallQueue, QueuedCall } from './call-queue.ts';
import { requireCapability } from './capability-check.ts';
import type { HealthCheckTimes } from './health-check.ts';
import { HotReads, isSmallRead } from './hot-reads.ts';
import { IdleWaiters } from './idle-waiters.ts';
import type {
  Death,
  DeathCause,
  EvalOutcome,
  EvalRequest,
  ExecOutcome,
  ExecRequest,
  InstanceProcess,
  OpenSpec,
  OutputChunk,
  ProcessWatcher,
  WriteOperation,
  WriteOutcome,
} from './instance.ts';
import { Liveness } from './liveness.ts';
import { profileOf } from './policies.ts';
import type { Worker } from './process.ts';
import { openFailedError, processGoneError } from './process-gone-error.ts';
import {
  type Call,
  type EvalResult,
  type FromInstance,
  type NumberedRequest,
  parseFromInstance,
  type ToInstance,
} from './protocol.ts';

/** How long a call may take to stop after an abort, before its process is killed. */
const STOP_MS = 1000;
/** How long a process may take to open its file, its own start included. Clearing a large tmp takes seconds. */
const OPEN_MS = 60_000;

type Pending = Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>;
type CallOutcome = ExecOutcome | EvalOutcome;

export class SupervisedInstance implements InstanceProcess {
  readonly id: string;
  readonly opened: Promise<void>;
  readonly ended: Promise<Death>;
  identity: string | null = null;
  readonly pause = () => this.#liveness.pause();
  readonly thaw = () => this.#liveness.thaw();
  readonly watch = (watcher: ProcessWatcher) => this.#liveness.watch(watcher);
  /** One check of an idle process, to be called every few seconds. */
  readonly check = () => this.#liveness.check();
  readonly #worker: Worker;
  readonly #profile: ReturnType<typeof profileOf>;
  /** The requested policy. An unknown one runs with the profile `compute`. */
  readonly #policy: string;
  readonly #queue = new CallQueue();
  /** Writes and reads under way. */
  readonly #pending = new Map<number, Pending>();
  readonly #hotReads = new HotReads((message) => this.#send(message));
  readonly #liveness: Liveness;
  #nextId = 1;
  #opening: Pending = { resolve: () => {}, reject: () => {} };
  #isOpen = false;
  /** Why the file could not be opened. */
  #openError: WinterdockError | null = null;
  #closeReply: Pending | null = null;
  #closing = false;
  #death: Death | null = null;
  #dead = false;
  readonly #callWatch: CallWatch;
  readonly #idle = new IdleWaiters(() => this.busy);

  /** Hands a started (or starting) worker to a file. */
  constructor(worker: Worker, spec: OpenSpec, times: Partial<HealthCheckTimes> = {}) {
    this.id = spec.id;
    this.#worker = worker;
    this.#profile = profileOf(spec.policy);
    this.#policy = spec.policy;
    this.#callWatch = new CallWatch(worker.pid, this.#profile, (cause, detail) => void this.kill(cause, detail));
    const watched = {
      pid: worker.pid,
      send: (message: ToInstance) => this.#send(message),
      signal: (name: NodeJS.Signals) => void worker.child.kill(name),
      isQuiet: () => this.#isQuiet,
      isPending: () => this.#pending.size > 0,
      onSilent: () => void this.#endSilent(),
    };
    this.#liveness = new Liveness(watched, times);
    const opened = Promise.withResolvers<unknown>();
    this.#opening = opened;
    this.opened = opened.promise.then(() => undefined);
    this.opened.catch(() => {});
    const late = setTimeout(() => void this.kill('crash', `It had no file open after ${OPEN_MS} ms.`), OPEN_MS).unref();
    void this.opened.catch(() => {}).finally(() => clearTimeout(late));
    worker.child.on('message', (raw) => this.#receive(raw));
    this.ended = worker.exited.then((how) => this.#exited(how));
    const { file, policy, maxBytes, maxFileBytes, mustExist } = spec;
    this.#send({ type: 'open', spec: { file, policy, maxBytes, maxFileBytes, mustExist } });
  }

  get pid(): number {
    return this.#worker.pid;
  }

  get busy(): boolean {
    return !this.#queue.empty || this.#pending.size > 0 || this.#hotReads.underWay;
  }

  get #isQuiet(): boolean {
    return !this.#dead && this.#isOpen && !this.#closing && this.#queue.empty;
  }

  get thermal(): 'hot' | 'warm' {
    return this.#liveness.thermal;
  }

  async exec(
    { command, cwd, env, stdin, timeoutMs }: ExecRequest,
    { onOutput, signal }: { onOutput?: (chunk: OutputChunk) => void; signal?: AbortSignal } = {},
  ): Promise<ExecOutcome> {
    requireCapability(this.#profile, 'shell', { id: this.id, policy: this.#policy });
    const limits = { timeoutMs: cappedTimeout(timeoutMs, this.#profile), streaming: onOutput !== undefined };
    const call: Call = { kind: 'exec', command, cwd, env, stdin, ...limits };
    return this.#call(call, signal, onOutput) as Promise<ExecOutcome>;
  }

  async eval(
    { language, code, timeoutMs }: EvalRequest,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<EvalOutcome> {
    requireCapability(this.#profile, language, { id: this.id, policy: this.#policy });
    const call: Call = { kind: 'eval', language, code, timeoutMs: cappedTimeout(timeoutMs, this.#profile) };
    return this.#call(call, signal) as Promise<EvalOutcome>;
  }

  write(operation: WriteOperation): Promise<WriteOutcome> {
    return this.#request<WriteOutcome>((id) => ({ type: 'write', id, operation }));
  }

  read(request: ReadRequest): Promise<ReadAnswer> {
    return this.#request<ReadAnswer>((id) => ({ type: 'read', id, request }));
  }

  async peek(request: ReadRequest): Promise<ReadAnswer | null> {
    if (!this.#isQuiet || this.thermal !== 'hot' || !isSmallRead(request)) return null;
    return this.#hotReads.ask(this.#nextId++, request);
  }

  async close({ drainMs, force }: { drainMs: number; force: boolean }): Promise<boolean> {
    if (this.#dead) throw this.#goneError(false);
    this.#closing = true;
    if (!(await this.#idle.wait(drainMs))) {
      if (!force) {
        this.#closing = false;
        return false;
      }
      for (const call of this.#queue.clear()) call.reject(this.#goneError(false));
      this.#stopRunning('closing');
      if (!(await this.#idle.wait(STOP_MS))) {
        await this.kill('killed');
        throw this.#goneError(true);
      }
    }
    if (!(await this.#liveness.isAlive({ hurried: force }))) {
      await this.#endSilent();
      throw this.#goneError(false);
    }
    const closed = Promise.withResolvers<unknown>();
    this.#closeReply = closed;
    this.#send({ type: 'close' });
    try {
      await closed.promise;
    } catch (error) {
      this.#closing = false;
      throw error;
    } finally {
      this.#closeReply = null;
    }
    await this.kill('closed', 'It was closed.');
    return true;
  }

  kill(cause: DeathCause, detail = `It was ended (${cause}).`): Promise<Death> {
    this.#death ??= { cause, detail };
    if (!this.#dead) this.#worker.child.kill('SIGKILL');
    return this.ended;
  }

  #endSilent(): Promise<Death> {
    return this.kill('silent', 'It did not answer health checks while no call ran, and was ended.');
  }

  #sendRequest(message: NumberedRequest, idle: boolean): void {
    this.#send(this.#liveness.pass(message, this.#isOpen && idle));
  }

  #send(message: ToInstance): void {
    // A message that cannot be sent is lost; the process's exit settles its request.
    if (this.#dead || !this.#worker.child.connected) return;
    this.#liveness.beforeMessage();
    this.#worker.child.send(message, () => {});
  }

  #request<T>(message: (id: number) => NumberedRequest): Promise<T> {
    if (this.#dead || this.#closing) return Promise.reject(this.#goneError(false));
    const id = this.#nextId++;
    return new Promise<unknown>((resolve, reject) => {
      this.#sendRequest(message(id), this.#queue.running === null && this.#pending.size === 0);
      this.#pending.set(id, { resolve, reject });
    }) as Promise<T>;
  }

  #call(call: Call, signal?: AbortSignal, onOutput?: (chunk: OutputChunk) => void): Promise<unknown> {
    if (this.#dead || this.#closing) throw this.#goneError(false);
    const settled = Promise.withResolvers<unknown>();
    const queued = new QueuedCall(this.#nextId++, call, settled, onOutput);
    this.#queue.add(queued, this.id);
    const cancel = () => this.#cancel(queued);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    this.#next();
    return settled.promise.finally(() => signal?.removeEventListener('abort', cancel));
  }

  #next(): void {
    if (this.#dead) return;
    const call = this.#queue.next();
    if (call) {
      this.#sendRequest({ type: 'call', id: call.id, call: call.call }, this.#pending.size === 0);
      if (this.#isOpen) this.#startLimits();
    }
    if (!this.busy) this.#idle.release();
  }

  /** Starts the time and memory limits of the running call, if it has begun. The process has its file open. */
  #startLimits(): void {
    const queued = this.#queue.running;
    if (queued !== null && !this.#liveness.neverBegan(queued.id)) this.#callWatch.start(queued);
  }

  #finish(id: number): QueuedCall | null {
    if (this.#queue.running?.id !== id) return null;
    this.#callWatch.stop();
    return this.#queue.finish();
  }

  /** Cancels a call: a waiting one never runs, a running one is aborted. */
  #cancel(queued: QueuedCall): void {
    if (this.#queue.remove(queued)) {
      queued.reject(
        new WinterdockError('conflict', 'The call was given up before it began.', { extra: { cause: 'aborted' } }),
      );
    } else if (this.#queue.running === queued) {
      this.#stopRunning('caller');
    }
  }

  /** Aborts the running call, and kills the process when the call does not stop. */
  #stopRunning(by: 'caller' | 'closing'): void {
    const { running } = this.#queue;
    if (running === null || running.stoppedBy) return;
    running.stoppedBy = by;
    this.#send({ type: 'abort', id: running.id });
    this.#requireStop(running);
  }

  /** Kills the process when the call has not stopped in time. A call that it has not begun costs it nothing. */
  #requireStop(running: QueuedCall): void {
    setTimeout(() => {
      if (this.#queue.running !== running) return;
      if (this.#liveness.neverBegan(running.id)) this.#requireStop(running);
      else void this.kill('timeout', 'A call did not stop when it was told to.');
    }, STOP_MS).unref();
  }

  /** Every message is validated. A process that breaks the protocol is killed. */
  #receive(raw: unknown): void {
    this.#liveness.messageReceived();
    const message = parseFromInstance(raw);
    if (message !== null) this.#handle(message);
    else void this.kill('crash', 'Its process broke the protocol.');
  }

  #handle(message: FromInstance): void {
    switch (message.type) {
      case 'ready':
        return;
      case 'pong':
        this.#liveness.pongReceived();
        return;
      case 'started':
        if (this.#liveness.acknowledged(message.id) && this.#queue.running?.id === message.id) this.#startLimits();
        return;
      case 'trimmed':
        this.#liveness.trimmed(message.id, message.holds);
        return;
      case 'opened':
        this.#isOpen = true;
        this.#callWatch.measure();
        this.#startLimits();
        this.#opening.resolve(undefined);
        return;
      case 'output':
        if (this.#queue.running?.id === message.id) this.#takeOutput(this.#queue.running, message.chunks);
        return;
      case 'executed':
        this.#endCall(message.id, message.result.rest, (call) => call.executed(message.result));
        return;
      case 'evaluated':
        this.#endCall(message.id, message.result.rest, (call) => this.#evalOutcome(call, message.result));
        return;
      case 'done':
        if (!this.#hotReads.settle(message.id, message.result)) this.#pending.get(message.id)?.resolve(message.result);
        this.#pending.delete(message.id);
        this.#next();
        return;
      case 'failed':
        this.#requestFailed(message.id, deserializeError(message.failure));
        return;
      case 'closed':
        this.identity = message.identity;
        this.#closeReply?.resolve(undefined);
        return;
    }
  }

  #takeOutput(call: QueuedCall, chunks: OutputChunk[]): boolean {
    if (call.add(chunks)) return true;
    void this.kill('crash', 'Its process sent more output than a call may have.');
    return false;
  }

  #evalOutcome(call: QueuedCall, result: EvalResult): EvalOutcome | false {
    const outcome = call.evaluated(result);
    if (outcome === false) void this.kill('crash', 'Its process broke the protocol.');
    return outcome;
  }

  #endCall(id: number, rest: OutputChunk[], outcomeOf: (call: QueuedCall) => CallOutcome | false): void {
    const call = this.#finish(id);
    const result = call && this.#takeOutput(call, rest) && outcomeOf(call);
    if (result) call.resolve(call.stoppedBy === 'closing' ? call.cutOffOutcome('closing') : result);
    else call?.reject(this.#goneError(true));
    this.#next();
  }

  #requestFailed(id: number | null, error: WinterdockError): void {
    if (id !== null) {
      this.#hotReads.settle(id, null);
      this.#pending.get(id)?.reject(error);
      this.#pending.delete(id);
      this.#finish(id)?.reject(error);
      this.#next();
      return;
    }
    if (this.#closeReply) {
      this.#closeReply.reject(error);
      return;
    }
    this.#openError = error;
    this.#opening.reject(error);
    void this.kill('killed', error.message);
  }

  #goneError(started: boolean): WinterdockError {
    return processGoneError(this.id, this.#death, started);
  }

  #exited(how: string): Death {
    this.#dead = true;
    this.#callWatch.stop();
    this.#liveness.processExited();
    const stderrTail = this.#worker.stderr().trim();
    this.#death ??= { cause: 'crash', detail: `Its process ended with ${how}.`, stderrTail };
    const death = this.#death;
    this.#opening.reject(openFailedError(this.id, death));
    this.#closeReply?.reject(this.#goneError(true));
    for (const [id, { reject }] of this.#pending)
      reject(this.#openError ?? this.#goneError(!this.#liveness.neverBegan(id)));
    this.#pending.clear();
    this.#hotReads.end();
    for (const call of this.#queue.clear()) call.reject(this.#openError ?? this.#goneError(false));
    const running = this.#queue.finish();
    const error = (begun: boolean) => () => this.#openError ?? this.#goneError(begun);
    if (running && this.#liveness.neverBegan(running.id)) running.reject(error(false)());
    else running?.cutOff(death.cause, error(this.#isOpen));
    this.#idle.release();
    return death;
  }
}
