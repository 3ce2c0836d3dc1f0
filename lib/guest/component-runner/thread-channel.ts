/**
 * The thread's end of the channel between the worker and a thread that runs components. It blocks until a message
 * comes, so guest code can ask for a file in the middle of a call and get its answer as a return value.
 */
import type { MessagePort } from 'node:worker_threads';

/** What the thread is started with. */
export interface ThreadStart {
  port: MessagePort;
  /** One number, which the worker raises with every message. */
  signal: SharedArrayBuffer;
  memoryBytes: number;
}

/** Worker to thread. */
export type ToThread =
  | { type: 'call'; call: ThreadCall }
  | { type: 'forget'; path: string }
  | { type: 'reply'; value?: unknown; error?: string };

export interface ThreadCall {
  path: string;
  hash: string;
  /** Null: the thread has it loaded. */
  source: string | Uint8Array | null;
  input: string;
  env: Readonly<Record<string, string>>;
  uses: readonly string[];
  persist: 'no' | 'state' | 'memory';
}

/** Thread to worker. */
export type FromThread = { type: 'ask'; name: string; args: unknown[] } | { type: 'result'; result: ThreadResult };

/** What the thread keeps of a component until its next call. */
export type ThreadKeeps = 'memory' | 'code' | 'nothing';

export type ThreadResult =
  | { ok: true; json: string | undefined; state?: Uint8Array; keeps: ThreadKeeps }
  | { ok: false; kind: 'component' | 'output' | 'state' | 'memory'; message: string; keeps: ThreadKeeps };

/** Most characters that a call may log; beyond them the worker is not even told. */
const MAX_LOG_CHARACTERS = 1024 * 1024 + 1;

/** Node's threads. Its constants have no import in a bundle, where only functions are loaded late. */
const threads = () => process.getBuiltinModule('node:worker_threads');

export class ThreadChannel {
  readonly memoryBytes: number;
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  readonly #receive: (port: MessagePort) => { message: unknown } | undefined;
  #logged = 0;

  constructor() {
    const { workerData, receiveMessageOnPort } = threads();
    const { port, signal, memoryBytes } = workerData as ThreadStart;
    this.memoryBytes = memoryBytes;
    this.#port = port;
    this.#signal = new Int32Array(signal);
    this.#receive = receiveMessageOnPort;
  }

  /** Waits for the next message. */
  next(): ToThread {
    for (;;) {
      const seen = Atomics.load(this.#signal, 0);
      const received = this.#receive(this.#port);
      if (received !== undefined) return received.message as ToThread;
      Atomics.wait(this.#signal, 0, seen);
    }
  }

  /** Starts a call's count of what it logs. */
  begin(): void {
    this.#logged = 0;
  }

  send(message: FromThread): void {
    this.#port.postMessage(message);
  }

  /** Asks the worker, and waits for its answer. Throws what it refuses. */
  ask(name: string, ...args: unknown[]): unknown {
    this.send({ type: 'ask', name, args });
    const reply = this.next();
    if (reply.type !== 'reply') throw new Error('The worker sent no answer.');
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply.value;
  }

  /** Logs, and waits until that has arrived: a guest that prints without end does not fill the channel. */
  log(stream: 'stdout' | 'stderr' | 'log', text: string): void {
    if (this.#logged >= MAX_LOG_CHARACTERS) return;
    const kept = text.slice(0, MAX_LOG_CHARACTERS - this.#logged);
    this.#logged += kept.length;
    this.ask('log', stream, kept);
  }
}
