/**
 * A thread that runs components, as its worker sees it: started by the first call, kept for the start, ended when a
 * call does not stop. Knows nothing of the language.
 */
import { join } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import type { GuestMemory } from '../../workers/protocol/transfer-limit.ts';
import { vfsFunctions } from '../vfs-functions.ts';
import {
  type ComponentInterpreter,
  type ComponentRun,
  type ComponentRunResult,
  lossSentence,
  UndeclaredUse,
} from './interpreter.ts';
import { keepThread } from './kept-threads.ts';
import type { FromThread, ThreadResult, ThreadStart, ToThread } from './thread-channel.ts';

/** Memory of V8 beside the guest's own: results, texts, compiled code. */
const HEAP_MIB = 96;
/** Hosts the guest's stack too: deep recursion in a guest ends with an error of its own. */
const STACK_MIB = 4;

interface StartedThread {
  worker: Worker;
  port: MessagePort;
  signal: Int32Array;
}

interface Running {
  run: ComponentRun;
  settle: (result: ThreadResult | Ended) => void;
  undeclared: UndeclaredUse | null;
  /** Why what is kept cannot be read. */
  stateError: string | null;
}

/** The thread ended in the middle of a call. */
interface Ended {
  ended: 'timeout' | 'stopped' | 'memory' | 'crash';
  detail: string;
}

export class ComponentThread implements ComponentInterpreter {
  readonly #entry: ThreadEntry;
  readonly #memory: GuestMemory;
  /** What the thread has loaded, by path. */
  readonly #kept = new Map<string, { hash: string; hasMemory: boolean }>();
  #thread: { worker: Worker; port: MessagePort; signal: Int32Array } | null = null;
  #running: Running | null = null;

  constructor(entry: ThreadEntry, memory: GuestMemory) {
    this.#entry = entry;
    this.#memory = memory;
  }

  get paths(): readonly string[] {
    return [...this.#kept].flatMap(([path, { hasMemory }]) => (hasMemory ? [path] : []));
  }

  async run(run: ComponentRun): Promise<ComponentRunResult> {
    const { component, source, input, env, deadline, signal } = run;
    const settled = Promise.withResolvers<ThreadResult | Ended>();
    const running: Running = { run, settle: settled.resolve, undeclared: null, stateError: null };
    this.#running = running;
    const stop = () => this.#end({ ended: 'stopped', detail: 'It was stopped' });
    const timer = setTimeout(
      () => this.#end({ ended: 'timeout', detail: 'It ran out of time and was stopped' }),
      Math.max(0, deadline - monotonicMs()),
    );
    signal.addEventListener('abort', stop, { once: true });
    try {
      const { path, hash, uses, persist } = component;
      const isLoaded = this.#kept.get(path)?.hash === hash;
      this.#send({ type: 'call', call: { path, hash, source: isLoaded ? null : source(), input, env, uses, persist } });
      const result = await settled.promise;
      if (running.undeclared !== null) return { ok: false, kind: 'capability', message: running.undeclared.message };
      if (running.stateError !== null) return { ok: false, kind: 'state', message: running.stateError };
      if ('ended' in result) return this.#endedResult(result, component.path);
      if (result.keeps === 'nothing') this.#kept.delete(path);
      else this.#kept.set(path, { hash, hasMemory: result.keeps === 'memory' });
      return result;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      this.#running = null;
    }
  }

  forget(path: string): void {
    if (this.#kept.delete(path)) this.#send({ type: 'forget', path });
  }

  dropIdle(): void {
    if (this.paths.length > 0 || this.#running !== null) return;
    this.#kept.clear();
    this.#end(null);
  }

  #endedResult({ ended, detail }: Ended, path: string): ComponentRunResult {
    const lost = lossSentence(this.paths, path);
    this.#kept.clear();
    const kind = ended === 'memory' ? 'memory' : ended === 'crash' ? 'component' : 'timeout';
    return { ok: false, kind, message: `${detail}: its memory is lost.${lost}` };
  }

  #send(message: ToThread): void {
    const { port, signal } = this.#started();
    port.postMessage(message);
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  }

  #started(): StartedThread {
    if (this.#thread !== null) return this.#thread;
    const { port1, port2 } = new MessageChannel();
    const signal = new SharedArrayBuffer(4);
    const start: ThreadStart = { port: port2, signal, memoryBytes: this.#memory.memoryBytes };
    const worker = new Worker(threadFile(this.#entry), {
      workerData: start,
      transferList: [port2],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: 2, stackSizeMb: STACK_MIB },
    });
    keepThread(worker);
    const thread = { worker, port: port1, signal: new Int32Array(signal) };
    this.#thread = thread;
    port1.on('message', (message: FromThread) => this.#receive(message));
    worker.on('error', (error: Error & { code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#gone(thread, {
        ended: isMemory ? 'memory' : 'crash',
        detail: isMemory ? 'It took more memory than it may' : `Its interpreter ended: ${error.message}`,
      });
    });
    worker.on('exit', () => this.#gone(thread, { ended: 'crash', detail: 'Its interpreter ended' }));
    return thread;
  }

  #gone(thread: StartedThread, how: Ended): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    thread.port.close();
    if (this.#running === null) this.#kept.clear();
    else this.#running.settle(how);
  }

  /** Ends the thread. `how`: what the running call comes to. */
  #end(how: Ended | null): void {
    const thread = this.#thread;
    if (thread === null) return;
    this.#thread = null;
    thread.port.close();
    void thread.worker.terminate().then(() => {
      if (how !== null) this.#running?.settle(how);
    });
  }

  #receive(message: FromThread): void {
    const running = this.#running;
    if (running === null) return;
    if (message.type === 'result') running.settle(message.result);
    else if (message.type === 'ask') this.#send(this.#reply(running, message.name, message.args));
  }

  #reply(running: Running, name: string, args: unknown[]): ToThread {
    try {
      return { type: 'reply', value: this.#answer(running, name, args) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof UndeclaredUse) running.undeclared ??= error;
      else if (name === 'savedState') running.stateError = message;
      return { type: 'reply', error: message };
    }
  }

  #answer({ run }: Running, name: string, args: unknown[]): unknown {
    const { component, log, savedState, files } = run;
    if (name === 'log') {
      const stream = args[0] === 'stdout' || args[0] === 'stderr' ? args[0] : 'log';
      return log(stream, String(args[1]));
    }
    if (name === 'savedState') return savedState();
    const [capability = '', operation = ''] = name === 'use' ? [String(args[0])] : name.split('.');
    if (!(component.uses as readonly string[]).includes(capability))
      throw new UndeclaredUse(component.path, capability);
    if (capability !== 'vfs') return null;
    const reach = vfsFunctions(() => files, this.#memory);
    if (!Object.hasOwn(reach, operation)) throw new Error(`There is no vfs.${operation}.`);
    const given = args.map((arg) =>
      arg instanceof Uint8Array || arg === undefined ? arg : arg === null ? undefined : String(arg),
    );
    const value = reach[operation]?.(...given);
    return typeof value === 'object' && value !== null && 'bytes' in value ? (value.bytes as Buffer).toString() : value;
  }
}

type ThreadEntry = 'python-thread' | 'wasm-thread';

/** Named in full, so that a package has them. */
const SOURCES: Readonly<Record<ThreadEntry, URL>> = {
  'python-thread': new URL('./python-thread.ts', import.meta.url),
  'wasm-thread': new URL('./wasm-thread.ts', import.meta.url),
};

/** The thread's file: beside the worker's in a bundle, else the source. */
function threadFile(entry: ThreadEntry): string | URL {
  const own = process.argv[1] ?? '';
  return own.endsWith('.cjs') ? join(own, '..', `${entry}.cjs`) : SOURCES[entry];
}
