/**
 * One supervised process on a VFS file: its messages, its time and memory limits, its close and its death. The first
 * cause of death wins. Knows nothing of rows, drawers or HTTP.
 */
import { WinterdockError } from '../base/errors.ts';
import { deserializeError } from '../base/serialized-error.ts';
import { CallWatch } from './call-limits.ts';
import { componentsCall, evalCall, execCall } from './call-messages.ts';
import { type CallFollower, type CallOutcome, CallQueue, QueuedCall } from './call-queue.ts';
import type { HealthCheckTimes } from './health-check.ts';
import { HotReads, isSmallRead } from './hot-reads.ts';
import { type BusyListener, IdleWaiters } from './idle-waiters.ts';
import { Liveness } from './liveness.ts';
import { PendingRequests } from './pending-requests.ts';
import type { Worker } from './process.ts';
import { openFailedError, processGoneError } from './process-gone-error.ts';
import type { Death, InstanceProcess, OpenSpec, OutputChunk, ProcessMember } from './protocol/instance.ts';
import { profileOf } from './protocol/policies.ts';
import {
  type Call,
  type FromInstance,
  type NumberedRequest,
  parseFromInstance,
  type ToInstance,
} from './protocol/protocol.ts';
import { SentSources } from './protocol/sent-sources.ts';
import { CALL_STOP_MS, eachStop, type StopSignal } from './protocol/stop-signals.ts';

/** How long a process may take to open its file, its own start included. Clearing a large tmp takes seconds. */
const OPEN_MS = 60_000;

/** `joins`: another process of the sandbox has the file open. `uid`: the user to become; null: it stays who it is. */
type ServeOptions = { joins?: boolean; isBackground?: boolean; uid?: number | null; onBusy?: BusyListener };
type Closing = Parameters<InstanceProcess['close']>[0] & { rests: boolean };

export class SupervisedInstance implements ProcessMember {
  readonly id: string;
  readonly isBackground: boolean;
  readonly opened: Promise<void>;
  readonly ended: Promise<Death>;
  identity: string | null = null;
  /** Whether the sandbox would go on with another process, and with tmp, if this one ended now. */
  isReplaceable: () => boolean = () => false;
  readonly pause = () => this.#liveness.pause();
  readonly thaw = () => this.#liveness.thaw();
  readonly watch = (watcher: Parameters<Liveness['watch']>[0]) => this.#liveness.watch(watcher);
  readonly check = () => this.#callWatch.check(() => this.#liveness.check());
  readonly signal: ProcessMember['signal'] = (name) => this.#liveness.signal(name);
  readonly processes = () => this.#worker.processes();
  readonly cpuSeconds = () => this.#liveness.cpuSeconds();
  readonly #worker: Worker;
  readonly #profile: ReturnType<typeof profileOf>;
  readonly #queue = new CallQueue();
  readonly #sentSources = new SentSources();
  readonly #pending = new PendingRequests();
  readonly #hotReads = new HotReads((message) => this.#send(message));
  readonly #liveness: Liveness;
  #nextId = 1;
  readonly #opening = Promise.withResolvers<unknown>();
  #isOpen = false;
  #openError: WinterdockError | null = null;
  #closeReply: PromiseWithResolvers<unknown> | null = null;
  #closing = false;
  #death: Death | null = null;
  #dead = false;
  readonly #callWatch: CallWatch;
  readonly #idle: IdleWaiters;

  /** Hands a started (or starting) worker to a file. */
  constructor(
    worker: Worker,
    spec: OpenSpec,
    times: Partial<HealthCheckTimes> = {},
    { joins = false, isBackground = false, uid = null, onBusy }: ServeOptions = {},
  ) {
    this.isBackground = isBackground;
    this.id = spec.id;
    this.#worker = worker;
    this.#idle = new IdleWaiters(() => this.busy, onBusy);
    this.#profile = profileOf(spec.policy);
    this.#queue.onFetch = this.#profile.capabilities.includes('fetch') ? spec.onFetch : undefined;
    this.#callWatch = new CallWatch(worker, this.#profile, (cause, detail) => void this.kill(cause, detail));
    this.#liveness = new Liveness(
      {
        worker,
        send: (message: ToInstance) => this.#send(message),
        isQuiet: () => this.#isQuiet,
        isPending: () => !this.#pending.isEmpty,
        onSilent: () => void this.#endSilent(),
      },
      times,
    );
    this.opened = this.#opening.promise.then(() => undefined);
    const late = setTimeout(() => void this.kill('crash', `It had no file open after ${OPEN_MS} ms.`), OPEN_MS).unref();
    void this.opened.catch(() => {}).finally(() => clearTimeout(late));
    worker.channel.onMessage((raw) => this.#receive(raw), { mostBytes: spec.maxFileBytes });
    this.ended = worker.exited.then((how) => this.#exited(how));
    const { file, policy, maxBytes, maxFileBytes, mustExist, shipsLog = false } = spec;
    this.#send({ type: 'open', spec: { file, policy, maxBytes, maxFileBytes, mustExist, joins, shipsLog, uid } });
  }

  get pid(): number {
    return this.#worker.pid;
  }

  get isCalling(): boolean {
    return !this.#queue.empty;
  }

  get isEnding(): boolean {
    return this.#dead || this.#closing || this.#death !== null;
  }

  get busy(): boolean {
    return !this.#queue.empty || !this.#pending.isEmpty || this.#hotReads.underWay;
  }

  get #isQuiet(): boolean {
    return !this.#dead && this.#isOpen && !this.#closing && this.#queue.empty;
  }

  get thermal(): 'hot' | 'warm' {
    return this.#liveness.thermal;
  }

  readonly exec: InstanceProcess['exec'] = async (request, { onOutput, signal, ...follower } = {}) => {
    return this.#call(execCall(request, this.#profile, onOutput !== undefined), signal, { onOutput, ...follower });
  };

  readonly eval: InstanceProcess['eval'] = async (request, { onStarted, signal } = {}) => {
    return this.#call(evalCall(request, this.#profile), signal, { onStarted });
  };

  readonly callComponents: InstanceProcess['callComponents'] = async (request, { onProgress, signal } = {}) =>
    this.#call(componentsCall(request, this.#profile, onProgress !== undefined), signal, { onProgress });

  readonly write: InstanceProcess['write'] = (operation) => this.#request((id) => ({ type: 'write', id, operation }));

  readonly read: InstanceProcess['read'] = (request) => this.#request((id) => ({ type: 'read', id, request }));

  readonly peek: InstanceProcess['peek'] = async (request) => {
    if (!this.#isQuiet || this.thermal !== 'hot' || !isSmallRead(request)) return null;
    return this.#hotReads.ask(this.#nextId++, request);
  };

  /** `rests`: it is the last process that has the file open, and puts it to rest. */
  async close({ drainMs, force, rests, keepLog }: Closing): Promise<boolean> {
    if (this.#dead) throw this.#goneError(false);
    this.#closing = true;
    if (!(await this.#idle.wait(drainMs))) {
      if (!force) {
        this.#closing = false;
        return false;
      }
      for (const call of this.#queue.clear()) call.reject(this.#goneError(false));
      this.#stopRunning('closing');
      if (!(await this.#idle.wait(CALL_STOP_MS))) {
        await this.kill('killed');
        throw this.#goneError(true);
      }
    }
    if (!(await this.#liveness.isAlive({ hurried: force }))) {
      await this.#endSilent();
      throw this.#goneError(false);
    }
    this.#closeReply = Promise.withResolvers<unknown>();
    this.#send({ type: 'close', rests, isLogKept: keepLog?.() ?? false });
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

  kill(cause: Death['cause'], detail = `It was ended (${cause}).`): Promise<Death> {
    this.#death ??= { cause, detail };
    if (!this.#dead) this.#liveness.kill();
    return this.ended;
  }

  end(): Promise<Death> {
    // Without an open file there is nothing to put to rest.
    if (!this.#isOpen) return this.kill('killed');
    this.#closing = true;
    this.#death ??= { cause: 'killed', detail: 'It was told to end.' };
    this.#liveness.terminate();
    return this.ended;
  }

  #endSilent(): Promise<Death> {
    return this.kill('silent', 'It did not answer health checks while no call ran, and was ended.');
  }

  #sendRequest(message: NumberedRequest, idle: boolean): void {
    this.#send(this.#liveness.pass(message, this.#isOpen && idle));
    this.#idle.begin();
  }

  /** One that cannot be sent is lost; the process's exit settles its request. `done`: it is taken, or never will be. */
  #send(message: ToInstance, done?: () => void): void {
    if (!this.#dead) this.#liveness.beforeMessage();
    this.#worker.channel.send(message, done);
  }

  #request<T>(message: (id: number) => NumberedRequest): Promise<T> {
    if (this.#dead || this.#closing) return Promise.reject(this.#goneError(false));
    const id = this.#nextId++;
    this.#sendRequest(message(id), this.#queue.running === null && this.#pending.isEmpty);
    return this.#pending.add(id) as Promise<T>;
  }

  #call<T>(call: Call, signal?: AbortSignal, follower: CallFollower = {}): Promise<T> {
    if (this.#dead || this.#closing) throw this.#goneError(false);
    const settled = Promise.withResolvers<unknown>();
    const queued = new QueuedCall(this.#nextId++, call, settled, follower);
    this.#queue.add(queued, this.id);
    const cancel = () => eachStop(signal, (stopSignal) => this.#cancel(queued, stopSignal));
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    this.#next();
    return (settled.promise as Promise<T>).finally(() => signal?.removeEventListener('abort', cancel));
  }

  #next(): void {
    if (this.#dead) return;
    const call = this.#queue.next();
    if (call) {
      const sent = this.#sentSources.withoutSent(call.call);
      this.#sendRequest({ type: 'call', id: call.id, call: sent }, this.#pending.isEmpty);
      if (this.#isOpen) this.#startLimits();
    }
    this.#idle.release();
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

  #cancel(queued: QueuedCall, signal: StopSignal | null): void {
    if (this.#queue.remove(queued)) {
      queued.reject(
        new WinterdockError('conflict', 'The call was given up before it began.', { extra: { cause: 'aborted' } }),
      );
    } else if (this.#queue.running === queued) {
      this.#stopRunning('caller', signal);
    }
  }

  #stopRunning(by: 'caller' | 'closing', signal: StopSignal | null = null): void {
    const { running } = this.#queue;
    if (running === null || (running.stoppedBy && (by !== 'caller' || running.stoppedBy !== by))) return;
    if (signal === null) running.endAtOnce();
    this.#send({ type: 'abort', id: running.id, ...(signal && { signal }) });
    if (running.stoppedBy === null) this.#requireStop(running);
    running.stoppedBy = by;
  }

  /** Kills the process when the call has not stopped in time. A call that it has not begun costs it nothing. */
  #requireStop(running: QueuedCall): void {
    setTimeout(() => {
      if (this.#queue.running !== running) return;
      if (this.#liveness.neverBegan(running.id) || running.isActing) this.#requireStop(running);
      else void this.kill('timeout', 'A call did not stop when it was told to.');
    }, CALL_STOP_MS).unref();
  }

  /** Every message is validated. A process that breaks the protocol is killed. */
  #receive(raw: unknown): void {
    this.#liveness.messageReceived();
    const message = parseFromInstance(raw);
    if (message !== null) this.#handle(message);
    else this.#protocolBroken();
  }

  #handle(message: FromInstance): void {
    switch (message.type) {
      case 'ready':
      case 'pong':
      case 'trimmed':
        this.#liveness.answered(message);
        return;
      case 'started':
        if (this.#liveness.acknowledged(message.id) && this.#queue.running?.id === message.id) this.#startLimits();
        return;
      case 'trapped':
        return void this.#queue.running?.trapped(message.id);
      case 'opened':
        this.#isOpen = true;
        this.#callWatch.measure();
        this.#startLimits();
        this.#opening.resolve(undefined);
        this.#idle.release();
        return;
      case 'output':
        if (this.#queue.running?.id === message.id) this.#takeOutput(this.#queue.running, message.chunks);
        return;
      case 'progress':
        if (this.#queue.running?.id === message.id) this.#queue.running.progress(message.progress);
        return;
      case 'job':
      case 'fetch':
        if (!this.#queue.ask(message, this.id, (answer, done) => this.#send(answer, done))) this.#protocolBroken();
        return;
      case 'called':
        this.#endCall(message.id, [], () => message.result);
        return;
      case 'executed':
        this.#endCall(message.id, message.result.rest, (call) => call.executed(message.result));
        return;
      case 'evaluated':
        this.#endCall(
          message.id,
          message.result.rest,
          (call) => call.evaluated(message.result) || this.#protocolBroken(),
        );
        return;
      case 'done':
        if (!this.#hotReads.settle(message.id, message.result)) this.#pending.resolve(message.id, message.result);
        this.#next();
        return;
      case 'failed':
        this.#requestFailed(message.id, deserializeError(message.failure));
        return;
      case 'closed':
        this.identity = message.identity;
        this.#closeReply?.resolve(undefined);
    }
  }

  #takeOutput(call: QueuedCall, chunks: OutputChunk[]): boolean {
    if (call.add(chunks)) return true;
    void this.kill('crash', 'Its process sent more output than a call may have.');
    return false;
  }

  #protocolBroken(): false {
    void this.kill('crash', 'Its process broke the protocol.');
    return false;
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
      this.#pending.reject(id, error);
      this.#finish(id)?.reject(error);
      this.#next();
      return;
    }
    if (this.#closeReply) return void this.#closeReply.reject(error);
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
    const cause = how === 'SIGBUS' ? 'disk' : 'crash';
    this.#death ??= { cause, detail: `Its process ended with ${how}.`, stderrTail };
    const death = this.#death;
    this.#opening.reject(openFailedError(this.id, death));
    this.#closeReply?.reject(this.#goneError(true));
    const error = (begun: boolean) => this.#openError ?? this.#goneError(begun);
    this.#pending.clear((id) => error(!this.#liveness.neverBegan(id)));
    this.#hotReads.end();
    for (const call of this.#queue.clear()) call.reject(error(false));
    const running = this.#queue.finish();
    if (running && this.#liveness.neverBegan(running.id)) running.reject(error(false));
    else running?.cutOff(death.cause, this.isReplaceable(), () => error(this.#isOpen));
    this.#idle.release();
    return death;
  }
}
