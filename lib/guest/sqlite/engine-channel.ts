/**
 * The channel between a worker and its SQLite thread: the thread waits for a request, asks for files while it runs, and
 * answers. Types, and the thread's end of it, which blocks.
 */
import type { MessagePort } from 'node:worker_threads';

/** What the thread is started with. */
export interface EngineStart {
  port: MessagePort;
  /** One number, which the worker raises with every message. */
  signal: SharedArrayBuffer;
  /** Most bytes of SQLite's own memory. */
  memoryBytes: number;
  /** Most bytes of all open files together. */
  fileBytes: number;
}

export type EngineRequest =
  /** A command line of `sqlite3`. */
  | { kind: 'shell'; args: string[]; stdin: Uint8Array; cwd: string }
  /** An operation of Python's module, in JSON. */
  | { kind: 'python'; request: string };

export type FileAsk =
  | { op: 'read'; path: string }
  /** Its answer is a number, written out. */
  | { op: 'size'; path: string }
  | { op: 'write'; path: string; content: Uint8Array }
  | { op: 'append'; path: string; content: Uint8Array }
  | { op: 'delete'; path: string };

/** Worker to thread. */
export type ToEngine =
  | { type: 'request'; request: EngineRequest }
  | { type: 'reply'; content: Uint8Array | null; error: string | null };

/** Thread to worker. */
export type FromEngine =
  | { type: 'ask'; ask: FileAsk }
  | { type: 'output'; stream: 'stdout' | 'stderr'; content: Uint8Array }
  | { type: 'answer'; exitCode: number; text: string };

/** Node's threads. Its constants have no import in a bundle, where only functions are loaded late. */
const threads = () => process.getBuiltinModule('node:worker_threads');

export class EngineChannel {
  readonly start: EngineStart;
  readonly #signal: Int32Array;
  readonly #receive: (port: MessagePort) => { message: unknown } | undefined;

  constructor() {
    const { workerData, receiveMessageOnPort } = threads();
    this.start = workerData as EngineStart;
    this.#signal = new Int32Array(this.start.signal);
    this.#receive = receiveMessageOnPort;
  }

  /** Waits for the next request. */
  nextRequest(): EngineRequest {
    for (;;) {
      const message = this.#next();
      if (message.type === 'request') return message.request;
    }
  }

  send(message: FromEngine): void {
    // What is written is a copy already.
    const content = message.type === 'ask' && message.ask.op === 'write' ? message.ask.content.buffer : null;
    this.start.port.postMessage(message, content instanceof ArrayBuffer ? [content] : []);
  }

  /** Asks the worker for a file, and waits for it. Throws what the worker refuses. */
  ask(ask: FileAsk): Uint8Array | null {
    this.send({ type: 'ask', ask });
    return this.#reply();
  }

  /** Prints, and waits until that has arrived: what prints without end does not fill the channel. */
  print(stream: 'stdout' | 'stderr', content: Uint8Array): void {
    this.send({ type: 'output', stream, content });
    this.#reply();
  }

  #reply(): Uint8Array | null {
    const reply = this.#next();
    if (reply.type !== 'reply') throw new Error('The worker sent no answer.');
    if (reply.error !== null) throw new Error(reply.error);
    return reply.content;
  }

  #next(): ToEngine {
    for (;;) {
      const seen = Atomics.load(this.#signal, 0);
      const received = this.#receive(this.start.port);
      if (received !== undefined) return received.message as ToEngine;
      Atomics.wait(this.#signal, 0, seen);
    }
  }
}
