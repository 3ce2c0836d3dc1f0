/**
 * One supervised process on one VFS file: its queue of calls, its limits by clock and memory, its orderly and disorderly ends.
 * The first cause of death wins. Knows nothing of rows, drawers or HTTP.
 */
import { readFileSync } from 'node:fs';
import { WinterdockError } from '../errors.ts';
import type { ReadAnswer, ReadRequest } from '../vfs/read.ts';
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
  WriteOperation,
  WriteOutcome,
} from './instance.ts';
import { Output } from './output.ts';
import { type Capability, profileOf } from './policies.ts';
import type { Worker } from './process.ts';
import { type Call, errorOf, type FromInstance, fromInstanceSchema, type ToInstance } from './protocol.ts';

const MAX_WAITING = 64;
/** How long an interpreter may take to stop by itself before its process is ended. */
const GRACE_MS = 300;
const WATCH_MS = 25;
/** Memory that a process may take beyond its own baseline and its profile: what interpreters need to run at all. */
const ALLOWANCE_BYTES = 64 * 1024 * 1024;
const PYTHON_ALLOWANCE_BYTES = 160 * 1024 * 1024;
const PAGE_BYTES = 4096;
const TIMED_OUT_EXIT = 124;

interface Pending {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

interface QueuedCall extends Pending {
  id: number;
  call: Call;
  output: Output;
  onOutput: ((chunk: OutputChunk) => void) | undefined;
  started: number | null;
}

export class SupervisedInstance implements InstanceProcess {
  readonly id: string;
  readonly opened: Promise<void>;
  readonly ended: Promise<Death>;
  readonly #worker: Worker;
  readonly #profile: ReturnType<typeof profileOf>;
  readonly #pending = new Map<number, Pending>();
  readonly #queue: QueuedCall[] = [];
  #running: QueuedCall | null = null;
  #nextId = 1;
  #cause: { cause: DeathCause; detail: string } | null = null;
  #dead = false;
  #closing = false;
  #baselineBytes = 0;
  #watcher: NodeJS.Timeout | null = null;
  #deadline: NodeJS.Timeout | null = null;
  #settleOpened: Pending = { resolve: () => {}, reject: () => {} };
  #settleClosed: Pending | null = null;
  #idle: (() => void)[] = [];

  /** Hands a started (or starting) worker to a file. */
  constructor(worker: Worker, spec: OpenSpec) {
    this.id = spec.id;
    this.#worker = worker;
    this.#profile = profileOf(spec.policy);
    this.opened = new Promise((resolve, reject) => {
      this.#settleOpened = { resolve: () => resolve(), reject };
    });
    this.opened.catch(() => {});
    worker.child.on('message', (raw) => this.#receive(fromInstanceSchema.parse(raw)));
    this.ended = worker.exited.then((how) => this.#exited(how));
    const { file, policy, maxBytes, maxFileBytes, mustExist } = spec;
    this.#send({ type: 'open', spec: { file, policy, maxBytes, maxFileBytes, mustExist } });
  }

  get pid(): number {
    return this.#worker.pid;
  }

  get busy(): boolean {
    return this.#running !== null || this.#queue.length > 0 || this.#pending.size > 0;
  }

  exec(
    request: ExecRequest,
    { onOutput, signal }: { onOutput?: (chunk: OutputChunk) => void; signal?: AbortSignal } = {},
  ): Promise<ExecOutcome> {
    return this.#guarded(() => {
      this.#require('shell');
      const { command, cwd, env, stdin } = request;
      const timeoutMs = this.#timeout(request.timeoutMs);
      return this.#call<ExecOutcome>(
        { kind: 'exec', command, cwd, env, stdin, timeoutMs, streaming: true },
        onOutput,
        signal,
      );
    });
  }

  eval(request: EvalRequest, { signal }: { signal?: AbortSignal } = {}): Promise<EvalOutcome> {
    return this.#guarded(() => {
      this.#require(request.language);
      const timeoutMs = this.#timeout(request.timeoutMs);
      return this.#call<EvalOutcome>(
        { kind: 'eval', language: request.language, code: request.code, timeoutMs },
        undefined,
        signal,
      );
    });
  }

  write(operation: WriteOperation): Promise<WriteOutcome> {
    return this.#ask<WriteOutcome>((id) => ({ type: 'write', id, operation }));
  }

  read(request: ReadRequest): Promise<ReadAnswer> {
    return this.#ask<ReadAnswer>((id) => ({ type: 'read', id, request }));
  }

  async close({ drainMs, force }: { drainMs: number; force: boolean }): Promise<boolean> {
    if (this.#dead) throw this.#gone(false);
    this.#closing = true;
    if (!(await this.#idleWithin(drainMs))) {
      if (!force) {
        this.#closing = false;
        return false;
      }
      this.#abortRunning();
      if (!(await this.#idleWithin(GRACE_MS))) {
        await this.kill('killed');
        throw this.#gone(true);
      }
    }
    const closed = new Promise<void>((resolve, reject) => {
      this.#settleClosed = { resolve: () => resolve(), reject };
    });
    this.#send({ type: 'close' });
    await closed;
    this.#cause ??= { cause: 'closed', detail: 'It was closed.' };
    this.#worker.child.kill('SIGKILL');
    await this.ended;
    return true;
  }

  kill(cause: DeathCause, detail = `It was ended (${cause}).`): Promise<Death> {
    this.#cause ??= { cause, detail };
    if (!this.#dead) this.#worker.child.kill('SIGKILL');
    return this.ended;
  }

  /** Turns what is thrown at once into a rejection. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  #timeout(asked: number | undefined): number {
    return Math.min(asked ?? this.#profile.timeMs, this.#profile.timeMs);
  }

  #require(capability: Capability): void {
    if (this.#profile.capabilities.includes(capability)) return;
    throw new WinterdockError(
      'capability',
      `The policy "${this.#profile.name}" of "${this.id}" has no ${capability}.`,
      {
        hint: 'Give it a policy that has it.',
        extra: { needs: capability, policy: this.#profile.name },
      },
    );
  }

  #send(message: ToInstance): void {
    if (!this.#dead && this.#worker.child.connected) this.#worker.child.send(message, () => {});
  }

  #ask<T>(message: (id: number) => ToInstance): Promise<T> {
    if (this.#dead || this.#closing) return Promise.reject(this.#gone(false));
    const id = this.#nextId++;
    return new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send(message(id));
    }) as Promise<T>;
  }

  #call<T>(call: Call, onOutput: QueuedCall['onOutput'], signal: AbortSignal | undefined): Promise<T> {
    if (this.#dead || this.#closing) return Promise.reject(this.#gone(false));
    if (this.#queue.length >= MAX_WAITING) {
      throw new WinterdockError('rate_limited', `${MAX_WAITING} calls wait for "${this.id}" already.`, {
        retryAfterSeconds: 1,
      });
    }
    const id = this.#nextId++;
    return new Promise<unknown>((resolve, reject) => {
      const queued: QueuedCall = { id, call, onOutput, output: new Output(onOutput), started: null, resolve, reject };
      this.#queue.push(queued);
      signal?.addEventListener('abort', () => this.#abort(queued), { once: true });
      if (signal?.aborted) this.#abort(queued);
      this.#next();
    }) as Promise<T>;
  }

  #next(): void {
    if (this.#running !== null || this.#dead) return;
    const next = this.#queue.shift();
    if (next === undefined) {
      if (this.#pending.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    this.#running = next;
    next.started = performance.now();
    this.#send({ type: 'call', id: next.id, call: next.call });
    this.#deadline = setTimeout(
      () => void this.kill('timeout', `A call ran longer than ${next.call.timeoutMs} ms and did not stop.`),
      next.call.timeoutMs + GRACE_MS,
    );
    this.#watch(next);
  }

  /** Looks at the resident memory of the process while a call runs. */
  #watch(queued: QueuedCall): void {
    const python = queued.call.kind === 'eval' ? queued.call.language === 'python' : /python/.test(queued.call.command);
    const allowance = ALLOWANCE_BYTES + (python ? PYTHON_ALLOWANCE_BYTES : 0);
    const limit = this.#baselineBytes + this.#profile.memoryBytes + allowance;
    this.#watcher = setInterval(() => {
      const resident = residentBytes(this.pid);
      if (this.#baselineBytes > 0 && resident > limit) {
        void this.kill('memory', `It took more memory than its policy "${this.#profile.name}" allows.`);
      }
    }, WATCH_MS);
  }

  #finishCall(): QueuedCall | null {
    const finished = this.#running;
    if (this.#watcher !== null) clearInterval(this.#watcher);
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#running = null;
    return finished;
  }

  #abort(queued: QueuedCall): void {
    const waiting = this.#queue.indexOf(queued);
    if (waiting >= 0) {
      this.#queue.splice(waiting, 1);
      queued.reject(
        new WinterdockError('conflict', 'The call was given up before it began.', { extra: { started: true } }),
      );
      return;
    }
    if (this.#running === queued) this.#abortRunning();
  }

  /** Asks the running script to stop; a process that does not hear is ended. */
  #abortRunning(): void {
    const running = this.#running;
    if (running === null) return;
    this.#send({ type: 'abort', id: running.id });
    setTimeout(() => {
      if (this.#running === running) void this.kill('timeout', 'A call that was given up did not stop.');
    }, GRACE_MS).unref();
  }

  #idleWithin(milliseconds: number): Promise<boolean> {
    if (!this.busy) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(!this.busy), milliseconds);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  #receive(message: FromInstance): void {
    switch (message.type) {
      case 'ready':
        return;
      case 'opened':
        this.#baselineBytes = residentBytes(this.pid);
        this.#settleOpened.resolve(undefined);
        return;
      case 'output':
        if (this.#running?.id === message.id) this.#running.output.add(message.stream, Buffer.from(message.text));
        return;
      case 'closed':
        this.#settleClosed?.resolve(undefined);
        return;
      case 'done':
        this.#done(message.id, message.result);
        return;
      case 'failed':
        this.#failed(message.id, errorOf(message.failure));
        return;
    }
  }

  #done(id: number, result: unknown): void {
    if (this.#running?.id === id) {
      const finished = this.#finishCall();
      if (finished?.call.kind === 'exec') this.#sendRest(finished, result as ExecOutcome);
      finished?.resolve(result);
    } else {
      this.#pending.get(id)?.resolve(result);
      this.#pending.delete(id);
    }
    this.#next();
  }

  /** What came with the end of a script and not before it. */
  #sendRest({ output, onOutput }: QueuedCall, result: ExecOutcome): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const text = result[stream].slice(output.text(stream).length);
      if (text !== '') onOutput?.({ stream, text });
    }
  }

  #failed(id: number | null, error: WinterdockError): void {
    if (id === null) {
      this.#settleClosed?.reject(error);
      this.#settleOpened.reject(error);
      this.#cause ??= { cause: 'killed', detail: error.message };
      return;
    }
    if (this.#running?.id === id) this.#finishCall()?.reject(error);
    else {
      this.#pending.get(id)?.reject(error);
      this.#pending.delete(id);
    }
    this.#next();
  }

  #gone(started: boolean): WinterdockError {
    const detail = this.#cause?.detail ?? 'It is being closed.';
    return new WinterdockError('conflict', `The process of "${this.id}" is gone: ${detail}`, {
      hint: 'The next request starts another one.',
      extra: { cause: this.#cause?.cause ?? 'closed', started },
    });
  }

  #exited(how: string): Death {
    this.#dead = true;
    const stderr = this.#worker.stderr().trim();
    this.#cause ??= { cause: 'crash', detail: `Its process ended with ${how}.${stderr === '' ? '' : ` ${stderr}`}` };
    const cause = this.#cause;
    const running = this.#finishCall();
    this.#settleOpened.reject(new WinterdockError('internal', `The process of "${this.id}" ended: ${cause.detail}`));
    this.#settleClosed?.reject(this.#gone(true));
    for (const { reject } of this.#pending.values()) reject(this.#gone(true));
    for (const queued of this.#queue.splice(0)) queued.reject(this.#gone(false));
    this.#pending.clear();
    if (running !== null) this.#endCall(running, cause.cause);
    for (const resolve of this.#idle.splice(0)) resolve();
    return cause;
  }

  /** A call whose process is gone: out of time is an answer, anything else an error. */
  #endCall({ call, output, started, resolve, reject }: QueuedCall, cause: DeathCause): void {
    if (cause !== 'timeout') {
      reject(this.#gone(true));
      return;
    }
    const tookMs = Math.round((performance.now() - (started ?? performance.now())) * 100) / 100;
    const said = { stdout: output.text('stdout'), stderr: output.text('stderr') };
    const ended = 'The call was ended; tmp is gone at the next wake.';
    if (call.kind === 'exec') {
      const stderr = `${said.stderr}winterdock: ran out of time after ${call.timeoutMs} ms. ${ended}\n`;
      const outcome: ExecOutcome = {
        exitCode: TIMED_OUT_EXIT,
        stdout: said.stdout,
        stderr,
        cwd: call.cwd ?? '/workspace',
        timedOut: true,
        truncated: output.truncated,
        tookMs,
      };
      resolve(outcome);
    } else {
      const outcome: EvalOutcome = { ok: false, ...said, error: `Ran out of time. ${ended}`, timedOut: true, tookMs };
      resolve(outcome);
    }
  }
}

/** Resident bytes of a process, or 0 where the system does not say. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1] ?? 0) * PAGE_BYTES;
  } catch {
    // No /proc here, or the process is gone, which its exit tells.
    return 0;
  }
}
