/**
 * The process of a sandbox with real programs: one, which runs all of its calls. Calls of a kind take turns, as
 * everywhere; those of different kinds run beside each other in the same jail. Owns the limits of calls and how the
 * process ends. Knows nothing of rows, drawers or HTTP.
 */
import type { WinterdockError } from '../../base/errors.ts';
import { deserializeError } from '../../base/serialized-error.ts';
import { execCall } from '../call-messages.ts';
import { type CallOutcome, QueuedCall } from '../call-queue.ts';
import type { HealthCheckTimes } from '../health-check.ts';
import { IdleWaiters } from '../idle-waiters.ts';
import { Liveness } from '../liveness.ts';
import { PendingRequests } from '../pending-requests.ts';
import type { Worker } from '../process.ts';
import { openFailedError, processGoneError } from '../process-gone-error.ts';
import { requireCapability } from '../protocol/capability-check.ts';
import type {
  CallAhead,
  Death,
  DeathCause,
  ExecOutcome,
  ExecRequest,
  InstanceProcess,
  OpenSpec,
  ProcessMember,
} from '../protocol/instance.ts';
import type { NativeStart } from '../protocol/native-start.ts';
import { type PolicyName, type PolicyProfile, profileOf } from '../protocol/policies.ts';
import { type FromInstance, type NumberedRequest, parseFromInstance, type ToInstance } from '../protocol/protocol.ts';
import { ACTION_MS, eachStop, type StopSignal } from '../protocol/stop-signals.ts';
import { type CallTurn, SandboxTurns } from '../turns.ts';
import { CallTimers } from './call-timers.ts';
import { noInterpreter } from './no-interpreter.ts';
import { treeCpuSeconds } from './tree-cpu.ts';

/** How long a process may take to mount its file and build its jail, its own start included. */
const OPEN_MS = 60_000;
/**
 * How long after its time a call may still be under way before its process is ended. No program can hold the process
 * up; this is for one that is broken.
 */
const OVERTIME_MS = 15_000;
/** The code with which the process ends when the disk failed: native-worker.ts has the same. */
const DISK_EXIT = 'exit code 74';

type CallOptions = NonNullable<Parameters<InstanceProcess['exec']>[1]>;

export class NativeInstance implements InstanceProcess, ProcessMember {
  readonly id: string;
  readonly isBackground = false;
  readonly opened: Promise<void>;
  readonly ended: Promise<Death>;
  identity: string | null = null;
  readonly pause = () => this.#liveness.pause();
  readonly thaw = () => this.#liveness.thaw();
  readonly watch: InstanceProcess['watch'] = (watcher) => this.#liveness.watch(watcher);
  readonly check = () => this.#liveness.check();
  readonly signal: ProcessMember['signal'] = (name) => this.#liveness.signal(name);
  readonly processes = () => this.#worker.processes();
  readonly #worker: Worker;
  readonly #policy: string;
  readonly #profile: PolicyProfile & { name: PolicyName };
  readonly #turns = new SandboxTurns();
  readonly #calls = new Map<number, QueuedCall>();
  readonly #limits = new CallTimers(() => void this.kill('timeout', 'A call did not end when its time was over.'));
  readonly #pending = new PendingRequests();
  readonly #liveness: Liveness;
  readonly #idle = new IdleWaiters(() => this.#isCalled);
  readonly #opening = Promise.withResolvers<void>();
  #nextId = 1;
  #isOpen = false;
  #openError: WinterdockError | null = null;
  #closeReply: PromiseWithResolvers<void> | null = null;
  #closing = false;
  #death: Death | null = null;
  #hasEnded = false;
  /** Programs in the background keep it awake. */
  #isHolding = false;
  #cpuSeconds = 0;

  /** Hands a process that starts to a file. */
  constructor(worker: Worker, spec: OpenSpec, native: NativeStart, times: Partial<HealthCheckTimes>) {
    this.id = spec.id;
    this.#worker = worker;
    this.#policy = spec.policy;
    this.#profile = profileOf(spec.policy);
    this.#liveness = new Liveness(
      {
        worker,
        send: (message) => this.#send(message),
        isQuiet: () => !this.#hasEnded && this.#isOpen && !this.#closing && this.#calls.size === 0,
        isPending: () => !this.#pending.isEmpty,
        onSilent: () => void this.#endSilent(),
      },
      times,
    );
    this.opened = this.#opening.promise;
    this.opened.catch(() => {});
    const late = setTimeout(() => void this.kill('crash', `It had no file open after ${OPEN_MS} ms.`), OPEN_MS).unref();
    void this.opened.catch(() => {}).finally(() => clearTimeout(late));
    worker.channel.onMessage((raw) => this.#receive(raw), { mostBytes: spec.maxFileBytes });
    this.ended = worker.exited.then((how) => this.#exited(how));
    const { file, policy, maxBytes, maxFileBytes, mustExist } = spec;
    const limits = { maxBytes, maxFileBytes, mustExist };
    this.#send({ type: 'open', spec: { file, policy, ...limits, joins: false, uid: null, native } });
  }

  get pid(): number {
    return this.#worker.pid;
  }

  get members(): readonly ProcessMember[] {
    return this.#hasEnded ? [] : [this];
  }

  get busy(): boolean {
    return this.#isCalled || this.#isHolding;
  }

  get thermal(): 'hot' | 'warm' {
    return this.#liveness.thermal;
  }

  readonly exec: InstanceProcess['exec'] = async (request, options = {}) => {
    requireCapability(this.#profile, 'shell', { id: this.id, policy: this.#policy });
    return this.#inTurn(request, options);
  };

  readonly eval: InstanceProcess['eval'] = async ({ language }) => {
    requireCapability(this.#profile, language, { id: this.id, policy: this.#policy });
    throw noInterpreter(this.id, language);
  };

  readonly callComponents: InstanceProcess['callComponents'] = async () => {
    throw noInterpreter(this.id, 'components');
  };

  readonly write: InstanceProcess['write'] = (operation) => this.#request((id) => ({ type: 'write', id, operation }));

  readonly read: InstanceProcess['read'] = (request) => this.#request((id) => ({ type: 'read', id, request }));

  /** A reader beside it answers. */
  readonly peek: InstanceProcess['peek'] = async () => null;

  async close({ drainMs, force }: Parameters<InstanceProcess['close']>[0]): Promise<boolean> {
    if (this.#isGone) throw this.#goneError(false);
    this.#closing = true;
    if (!(await this.#idle.wait(drainMs))) {
      if (!force) {
        this.#closing = false;
        return false;
      }
      this.#turns.clear(() => this.#goneError(false));
      for (const call of this.#calls.values()) this.#stop(call, 'closing', null);
      if (!(await this.#idle.wait(OVERTIME_MS))) {
        await this.kill('killed');
        throw this.#goneError(true);
      }
    }
    if (!(await this.#liveness.isAlive({ hurried: force }))) {
      await this.#endSilent();
      throw this.#goneError(false);
    }
    this.#closeReply = Promise.withResolvers<void>();
    this.#send({ type: 'close', rests: true, isLogKept: false });
    try {
      await this.#closeReply.promise;
    } catch (error) {
      this.#closing = false;
      throw error;
    } finally {
      this.#closeReply = null;
    }
    await this.kill('closed', 'It was closed.');
    return true;
  }

  /** Of it and of all its programs. */
  cpuSeconds(): number {
    if (!this.#hasEnded) this.#cpuSeconds = Math.max(this.#cpuSeconds, treeCpuSeconds(this.processes().pids));
    return this.#cpuSeconds;
  }

  end(): Promise<Death> {
    if (!this.#isOpen) return this.kill('killed');
    this.#closing = true;
    this.#turns.clear(() => this.#goneError(false));
    this.#death ??= { cause: 'killed', detail: 'It was told to end.' };
    this.cpuSeconds();
    this.#liveness.terminate();
    return this.ended;
  }

  kill(cause: DeathCause, detail = `It was ended (${cause}).`): Promise<Death> {
    this.#death ??= { cause, detail };
    this.cpuSeconds();
    if (!this.#hasEnded) this.#liveness.kill();
    return this.ended;
  }

  get #isGone(): boolean {
    return this.#hasEnded || this.#closing || this.#death !== null;
  }

  /** Whether a call, a write or a read runs or waits. */
  get #isCalled(): boolean {
    return !this.#turns.areFree || this.#calls.size > 0 || !this.#pending.isEmpty;
  }

  #endSilent(): Promise<Death> {
    return this.kill('silent', 'It did not answer health checks while no call ran, and was ended.');
  }

  #goneError(started: boolean): WinterdockError {
    return processGoneError(this.id, this.#death, started);
  }

  async #inTurn(request: ExecRequest, options: CallOptions): Promise<ExecOutcome> {
    if (this.#isGone) throw this.#goneError(false);
    const { signal, onWaiting } = options;
    // Every script takes the shell's turn: an interpreter that it starts is a program like any other.
    const kind = request.background ?? 'shell';
    const turn: CallTurn = { kind, code: request.command, begunMs: null, isHeldUp: false };
    const ahead = (): CallAhead | null => this.#turns.aheadOf(turn);
    const begun = this.#turns.enter(turn, this.id, signal);
    if (begun !== null) {
      onWaiting?.(ahead);
      await begun;
    }
    try {
      if (this.#hasEnded || this.#death !== null) throw this.#goneError(false);
      return await this.#call(request, options);
    } finally {
      this.#turns.leave(turn);
      this.#idle.release();
    }
  }

  #call(request: ExecRequest, { signal, onOutput, onStarted }: CallOptions): Promise<ExecOutcome> {
    const settled = Promise.withResolvers<CallOutcome>();
    const call = execCall(request, this.#profile, onOutput !== undefined);
    const queued = new QueuedCall(this.#nextId++, call, settled, { onOutput, onStarted });
    const isIdle = this.#calls.size === 0 && this.#pending.isEmpty;
    this.#calls.set(queued.id, queued);
    const cancel = () => eachStop(signal, (stopSignal) => this.#stop(queued, 'caller', stopSignal));
    signal?.addEventListener('abort', cancel, { once: true });
    this.#sendRequest({ type: 'call', id: queued.id, call }, isIdle);
    if (this.#isOpen) this.#begin(queued);
    if (signal?.aborted) cancel();
    return (settled.promise as Promise<ExecOutcome>).finally(() => signal?.removeEventListener('abort', cancel));
  }

  /** A call that has certainly begun has its time from now on. */
  #begin(queued: QueuedCall): void {
    if (this.#limits.has(queued.id) || this.#liveness.neverBegan(queued.id)) return;
    queued.begin();
    this.#limits.set(queued.id, queued.call.timeoutMs + OVERTIME_MS);
  }

  #stop(queued: QueuedCall, by: 'caller' | 'closing', signal: StopSignal | null): void {
    if (!this.#calls.has(queued.id)) return;
    if (by === 'closing' || queued.stoppedBy === null) queued.stoppedBy = by;
    this.#send({ type: 'abort', id: queued.id, ...(signal && { signal }) });
    // Who asks with a signal gets what the script's action leaves; then it is ended for good.
    if (signal !== null) setTimeout(() => this.#stop(queued, by, null), ACTION_MS).unref();
    else this.#limits.set(queued.id, OVERTIME_MS);
  }

  #request<T>(message: (id: number) => NumberedRequest): Promise<T> {
    if (this.#isGone) return Promise.reject(this.#goneError(false));
    const id = this.#nextId++;
    const isIdle = this.#calls.size === 0 && this.#pending.isEmpty;
    const answer = this.#pending.add(id) as Promise<T>;
    this.#sendRequest(message(id), isIdle);
    return answer.finally(() => this.#idle.release());
  }

  #sendRequest(message: NumberedRequest, isIdle: boolean): void {
    this.#send(this.#liveness.pass(message, this.#isOpen && isIdle));
    this.#idle.begin();
  }

  /** One that cannot be sent is lost; the process's exit settles its request. */
  #send(message: ToInstance): void {
    if (!this.#hasEnded) this.#liveness.beforeMessage();
    this.#worker.channel.send(message);
  }

  #receive(raw: unknown): void {
    this.#liveness.messageReceived();
    const message = parseFromInstance(raw);
    if (message !== null) this.#handle(message);
    else void this.kill('crash', 'Its process broke the protocol.');
  }

  #handle(message: FromInstance): void {
    switch (message.type) {
      case 'ready':
      case 'pong':
      case 'trimmed':
        this.#liveness.answered(message);
        return;
      case 'started': {
        const call = this.#calls.get(message.id);
        if (this.#liveness.acknowledged(message.id) && this.#isOpen && call !== undefined) this.#begin(call);
        return;
      }
      case 'trapped':
        this.#calls.get(message.id)?.trapped(message.id);
        return;
      case 'opened':
        this.#isOpen = true;
        for (const call of this.#calls.values()) this.#begin(call);
        this.#opening.resolve();
        return;
      case 'output':
        this.#takeOutput(this.#calls.get(message.id), message.chunks);
        return;
      case 'executed': {
        const call = this.#finish(message.id);
        if (call === undefined || !this.#takeOutput(call, message.result.rest)) return;
        const isClosing = call.stoppedBy === 'closing';
        call.resolve(isClosing ? call.cutOffOutcome('closing') : call.executed(message.result));
        return;
      }
      case 'done':
        this.#pending.resolve(message.id, message.result);
        return;
      case 'failed':
        this.#failed(message.id, deserializeError(message.failure));
        return;
      case 'holding':
        this.#isHolding = message.isHeld;
        return;
      case 'closed':
        this.identity = message.identity;
        this.#closeReply?.resolve();
        return;
      default:
        void this.kill('crash', 'Its process broke the protocol.');
    }
  }

  #takeOutput(call: QueuedCall | undefined, chunks: Parameters<QueuedCall['add']>[0]): boolean {
    if (call === undefined || call.add(chunks)) return true;
    void this.kill('crash', 'Its process sent more output than a call may have.');
    return false;
  }

  #finish(id: number): QueuedCall | undefined {
    const call = this.#calls.get(id);
    this.#limits.clear(id);
    this.#calls.delete(id);
    call?.end();
    return call;
  }

  #failed(id: number | null, error: WinterdockError): void {
    if (id !== null) {
      this.#pending.reject(id, error);
      this.#finish(id)?.reject(error);
    } else if (this.#closeReply !== null) this.#closeReply.reject(error);
    else {
      this.#openError = error;
      this.#opening.reject(error);
      void this.kill('killed', error.message);
    }
  }

  #exited(how: string): Death {
    this.#hasEnded = true;
    this.#liveness.processExited();
    const cause = how === DISK_EXIT ? 'disk' : 'crash';
    this.#death ??= { cause, detail: `Its process ended with ${how}.`, stderrTail: this.#worker.stderr().trim() };
    const death = this.#death;
    this.#opening.reject(openFailedError(this.id, death));
    this.#closeReply?.reject(this.#goneError(true));
    const error = (id: number) => this.#openError ?? this.#goneError(this.#isOpen && !this.#liveness.neverBegan(id));
    this.#pending.clear(error);
    for (const id of [...this.#calls.keys()]) this.#finish(id)?.cutOff(death.cause, false, () => error(id));
    this.#turns.clear(() => this.#openError ?? this.#goneError(false));
    this.#idle.release();
    return death;
  }
}
