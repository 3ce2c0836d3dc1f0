/**
 * One open sandbox inside its worker process. Runs calls, and serves writes and reads between them. Knows the messages,
 * not the channel.
 */
import { WinterdockError } from '../../base/errors.ts';
import { answerPeek, answerRead } from '../../vfs/answer.ts';
import { putPieces } from '../../vfs/tree-pieces.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import { Run } from '../../workers/protocol/call.ts';
import type { ComponentProgress, ComponentsCall } from '../../workers/protocol/component-call.ts';
import { GuestNetwork } from '../../workers/protocol/guest-network.ts';
import type { OutputChunk, WriteOperation, WriteOutcome } from '../../workers/protocol/instance.ts';
import { elapsedSince, monotonicMs } from '../../workers/protocol/monotonic.ts';
import { inMessages } from '../../workers/protocol/output.ts';
import { DEFAULT_POLICY, type PolicyProfile } from '../../workers/protocol/policies.ts';
import type { Call, EvalCall, ExecCall, FromInstance, ToInstance } from '../../workers/protocol/protocol.ts';
import type { ShellJobAnswer, ShellJobRequest } from '../../workers/protocol/shell-jobs.ts';
import type { StopSignal } from '../../workers/protocol/stop-signals.ts';
import type { ComponentRunner } from '../component-runner/component-runner.ts';
import { dropInterpreter } from '../javascript/javascript.ts';
import { Shell } from '../shell/shell.ts';
import { evaluate } from './evaluate.ts';

type Request = Exclude<ToInstance, { type: 'open' | 'close' | 'ping' | 'trim' }>;

export class OpenSandbox {
  readonly vfs: Vfs;
  readonly #profile: PolicyProfile & { name: string };
  readonly #shell: Shell;
  readonly #send: (message: FromInstance) => void;
  /** Made by the first call of a component. */
  #components: Promise<ComponentRunner> | null = null;
  #running: { id: number; stop: (signal?: StopSignal) => void } | null = null;
  /** Questions about jobs that have no answer yet, by number. */
  readonly #questions = new Map<number, (answer: ShellJobAnswer) => void>();
  #nextQuestion = 1;
  /** That of the running call. */
  #network: GuestNetwork | null = null;

  /** `warmShell`: a shell of the default policy. It is reused when the sandbox has that policy. */
  constructor(
    vfs: Vfs,
    profile: PolicyProfile & { name: string },
    warmShell: Shell,
    send: (message: FromInstance) => void,
  ) {
    this.vfs = vfs;
    this.#profile = profile;
    this.#send = send;
    this.#shell = profile.name === DEFAULT_POLICY ? warmShell : new Shell(vfs, profile);
  }

  /**
   * Handles one request. The server sends one call at a time. Writes and reads may come during a call and see only
   * committed data.
   */
  async handle(request: Request): Promise<void> {
    switch (request.type) {
      case 'call':
        return this.#call(request.id, request.call);
      case 'abort':
        if (this.#running?.id === request.id) this.#running.stop(request.signal);
        return;
      case 'job':
        this.#questions.get(request.question)?.(request.answer);
        this.#questions.delete(request.question);
        return;
      case 'fetched':
        return this.#network?.settle(request.question, request.answer);
      case 'write':
        return this.#send({
          type: 'done',
          id: request.id,
          result: applyWrite(this.vfs, request.operation),
        });
      case 'peek': {
        const result = answerPeek(this.vfs, request.request, request.maxBytes);
        return this.#send({ type: 'done', id: request.id, result });
      }
      case 'read':
        return this.#send({
          type: 'done',
          id: request.id,
          result: answerRead(this.vfs, request.request),
        });
    }
  }

  /** What it holds at this moment, so that its process must not be paused; null when nothing. */
  get holds(): string | null {
    return this.#running === null ? this.vfs.holds : 'a call';
  }

  /** Drops what the next call can make again. Call it only while nothing is held. */
  async shrink(): Promise<void> {
    dropInterpreter();
    if (this.#components !== null) (await this.#components).dropIdle();
    this.vfs.shrink();
  }

  /** Writes down what waits for a commit. Call it before the file is closed. */
  async settle(): Promise<void> {
    if (this.#components !== null) (await this.#components).flush();
  }

  async #call(id: number, call: Call): Promise<void> {
    if (call.kind === 'components') return this.#callComponents(id, call);
    const started = monotonicMs();
    const network = new GuestNetwork(this.#profile, id, this.#send);
    this.#network = network;
    const run = new Run(this.vfs.overlay(), {
      timeoutMs: call.timeoutMs,
      streaming: call.kind === 'exec' && call.streaming,
      endless: call.kind === 'exec' && call.endless,
      commitsMeanwhile: call.commitsMeanwhile,
      send: (chunks) => this.#sendOutput(id, chunks),
      ask: (question) => this.#ask(id, question),
      network,
    });
    const stop = (signal?: StopSignal) => {
      if (signal !== undefined && run.interrupt(signal)) this.#send({ type: 'trapped', id });
      else run.stop();
    };
    this.#running = { id, stop };
    try {
      this.#send(
        call.kind === 'exec' ? await this.#exec(id, call, run, started) : await this.#eval(id, call, run, started),
      );
    } finally {
      this.#running = null;
      this.#network = null;
      network.end();
      this.#questions.clear();
      run.dispose();
    }
  }

  #ask(id: number, request: ShellJobRequest): Promise<ShellJobAnswer> {
    const question = this.#nextQuestion++;
    const { promise, resolve } = Promise.withResolvers<ShellJobAnswer>();
    this.#questions.set(question, resolve);
    this.#send({ type: 'job', id, question, request });
    return promise;
  }

  async #callComponents(id: number, call: ComponentsCall): Promise<void> {
    const stop = new AbortController();
    const network = new GuestNetwork(this.#profile, id, this.#send);
    this.#network = network;
    const end = () => {
      network.end();
      stop.abort();
    };
    this.#running = { id, stop: end };
    try {
      this.#components ??= this.#loadComponents();
      const runner = await this.#components;
      const onProgress = (progress: ComponentProgress) => this.#send({ type: 'progress', id, progress });
      const result = await runner.run(call, {
        signal: stop.signal,
        network,
        onProgress: call.streaming ? onProgress : null,
      });
      this.#send({ type: 'called', id, result });
    } finally {
      this.#running = null;
      this.#network = null;
      network.end();
    }
  }

  async #loadComponents(): Promise<ComponentRunner> {
    const { ComponentRunner: Runner } = await import('../component-runner/component-runner.ts');
    return new Runner(this.vfs, this.#profile, this.#shell);
  }

  async #exec(id: number, call: ExecCall, run: Run, started: number): Promise<FromInstance> {
    const outcome = await this.#shell.exec(call, run);
    run.finish();
    const rest = this.#restOf(id, run);
    return {
      type: 'executed',
      id,
      result: { ...outcome, truncated: run.output.truncated, rest, tookMs: elapsedSince(started) },
    };
  }

  async #eval(id: number, call: EvalCall, run: Run, started: number): Promise<FromInstance> {
    const outcome = await evaluate(call, run, { shell: this.#shell, profile: this.#profile });
    run.finish();
    return {
      type: 'evaluated',
      id,
      result: { ...outcome, rest: this.#restOf(id, run), tookMs: elapsedSince(started) },
    };
  }

  #sendOutput(id: number, output: readonly OutputChunk[]): void {
    for (const chunks of inMessages(output)) this.#send({ type: 'output', id, chunks });
  }

  /** The output that goes with the result. What is too much for one message is sent before. */
  #restOf(id: number, run: Run): OutputChunk[] {
    const messages = inMessages(run.output.end());
    const rest = messages.pop() ?? [];
    for (const chunks of messages) this.#send({ type: 'output', id, chunks });
    return rest;
  }
}

function applyWrite(vfs: Vfs, operation: WriteOperation): WriteOutcome {
  const { volume } = operation;
  switch (operation.op) {
    case 'put':
      return vfs.put(operation.path, operation.content, volume, { condition: operation.condition });
    case 'delete':
      if (!vfs.delete(operation.path, volume, { condition: operation.condition })) {
        throw new WinterdockError('not_found', `There is no file ${JSON.stringify(operation.path)} in ${volume}.`);
      }
      return { created: false, stat: null };
    case 'move':
      vfs.move({ volume, path: operation.from }, { volume, path: operation.to });
      return { created: false, stat: null };
    case 'mkdir':
      if (vfs.entry(operation.path, volume) !== null) {
        throw new WinterdockError('conflict', `${JSON.stringify(operation.path)} in ${volume} already exists.`);
      }
      vfs.mkdir(operation.path, volume, { recursive: true });
      return { created: true, stat: null };
    case 'rmdir':
      removeFolder(vfs, operation);
      return { created: false, stat: null };
    case 'replace':
      putPieces(vfs, operation, operation);
      return { created: false, stat: null };
  }
}

function removeFolder(vfs: Vfs, { path, volume, recursive }: Extract<WriteOperation, { op: 'rmdir' }>): void {
  if (!recursive || path === '/') {
    vfs.rmdir(path, volume);
    return;
  }
  const kind = vfs.entry(path, volume)?.kind;
  if (kind !== 'dir') {
    const what = kind === undefined ? 'There is no folder' : 'It is no folder:';
    const code = kind === undefined ? 'not_found' : 'conflict';
    throw new WinterdockError(code, `${what} ${JSON.stringify(path)} in ${volume}.`);
  }
  vfs.delete(path, volume, { recursive: true });
}
