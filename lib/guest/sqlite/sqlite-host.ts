/**
 * SQLite's thread as its worker sees it: started by the first request, ended when nobody has asked for a while, when a
 * request does not stop, and when its memory grew. Files come from and go to the file system that it is given; knows
 * nothing of SQL.
 */
import { join } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { IFileSystem } from 'just-bash';
import type { VfsAddress } from '../../vfs/types.ts';
import { type Run, TIMED_OUT_EXIT } from '../../workers/protocol/call.ts';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import { keepThread } from '../component-runner/kept-threads.ts';
import { resolveGuestPath } from '../shell/guest-paths.ts';
import { posixError } from '../shell/posix-error.ts';
import type { EngineRequest, EngineStart, FileAsk, FromEngine, ToEngine } from './engine-channel.ts';

const MIB = 1024 * 1024;
/** Memory of V8 beside SQLite's own: open files, rows, texts. */
const HEAP_MIB = 96;
/** How long an idle thread is kept for the next command of a script, in milliseconds. */
const KEEP_MS = 2000;
/** A thread that served this many requests is ended: SQLite's memory never shrinks. */
const MAX_REQUESTS = 200;
const MAX_FILE_BYTES = 64 * MIB;
/** Shares of the guest's memory. */
const MEMORY_SHARE = 2;
const FILE_SHARE = 4;
/** The longest that a timer waits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface EngineOutcome {
  exitCode: number;
  text: string;
  /** Why the thread was ended; null when it answered. */
  ended: 'timeout' | 'stopped' | 'memory' | 'crash' | null;
}

export interface EngineCall {
  request: EngineRequest;
  fs: IFileSystem;
  run: Run;
  /** Ends it earlier than the call. */
  signal?: AbortSignal;
  onOutput: (stream: 'stdout' | 'stderr', content: Uint8Array) => void;
}

interface Running {
  call: EngineCall;
  settle: (outcome: EngineOutcome) => void;
}

export class SqliteThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal: Int32Array;
  #running: Running | null = null;
  #requests = 0;
  #isEnded = false;

  constructor(memoryBytes: number) {
    const { port1, port2 } = new MessageChannel();
    const signal = new SharedArrayBuffer(4);
    const start: EngineStart = {
      port: port2,
      signal,
      memoryBytes: memoryBytes / MEMORY_SHARE,
      fileBytes: Math.min(MAX_FILE_BYTES, memoryBytes / FILE_SHARE),
    };
    this.#port = port1;
    this.#signal = new Int32Array(signal);
    this.#worker = new Worker(threadFile(), {
      workerData: start,
      transferList: [port2],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: 2 },
    });
    keepThread(this.#worker);
    port1.on('message', (message: FromEngine) => this.#receive(message));
    this.#worker.on('error', (error: Error & { code?: string }) =>
      this.#gone(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', error.message),
    );
    this.#worker.on('exit', () => this.#gone('crash', 'it ended'));
  }

  /** Whether it can take another request. */
  get isUsable(): boolean {
    return !this.#isEnded && this.#running === null && this.#requests < MAX_REQUESTS;
  }

  /** Runs one request. It is ended with its thread when the call is over. */
  async call(call: EngineCall): Promise<EngineOutcome> {
    const { run, request } = call;
    const settled = Promise.withResolvers<EngineOutcome>();
    this.#running = { call, settle: settled.resolve };
    this.#requests += 1;
    const stop = () => this.#stop(run.expired ? 'timeout' : 'stopped');
    const restMs = Math.max(0, run.deadline - monotonicMs());
    const timer = restMs > MAX_TIMER_MS ? undefined : setTimeout(stop, restMs);
    const signal = call.signal === undefined ? run.signal : AbortSignal.any([run.signal, call.signal]);
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (this.#isEnded) this.#gone('crash', 'it has ended');
      else if (signal.aborted) stop();
      else this.#send({ type: 'request', request });
      return await settled.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      this.#running = null;
    }
  }

  /** Ends the thread. Idempotent. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#port.close();
    void this.#worker.terminate();
  }

  #stop(why: 'timeout' | 'stopped'): void {
    const running = this.#running;
    this.end();
    running?.settle({ exitCode: TIMED_OUT_EXIT, text: '', ended: why });
  }

  #gone(why: 'memory' | 'crash', detail: string): void {
    const running = this.#running;
    this.end();
    running?.settle({ exitCode: 1, text: why === 'memory' ? 'out of memory' : detail, ended: why });
  }

  #send(message: ToEngine): void {
    if (this.#isEnded) return;
    this.#port.postMessage(message);
    Atomics.add(this.#signal, 0, 1);
    Atomics.notify(this.#signal, 0);
  }

  #receive(message: FromEngine): void {
    const running = this.#running;
    if (running === null) return;
    if (message.type === 'answer') running.settle({ exitCode: message.exitCode, text: message.text, ended: null });
    else if (message.type === 'output') {
      running.call.onOutput(message.stream, message.content);
      this.#send({ type: 'reply', content: null, error: null });
    } else {
      answerAsk(running.call, message.ask).then(
        (content) => this.#send({ type: 'reply', content, error: null }),
        (error: unknown) =>
          this.#send({ type: 'reply', content: null, error: error instanceof Error ? error.message : String(error) }),
      );
    }
  }
}

/**
 * A database is read and written whole. One that another call has committed in between is not written: its changes
 * would be gone.
 */
async function answerAsk({ fs, run }: EngineCall, ask: FileAsk): Promise<Uint8Array | null> {
  const at = addressOf(run, ask.path);
  switch (ask.op) {
    case 'read': {
      if (at !== null) run.files.guard(at.path, at.volume);
      if (!(await fs.exists(ask.path))) return null;
      return new Uint8Array(await fs.readFileBuffer(ask.path));
    }
    case 'size':
      return (await fs.exists(ask.path)) ? Buffer.from(String((await fs.stat(ask.path)).size)) : null;
    case 'write':
      if (at !== null && run.files.isOutdated(at.path, at.volume))
        throw posixError('EBUSY', 'another call has changed it', ask.path);
      await fs.writeFile(ask.path, ask.content);
      return null;
    case 'append':
      await fs.appendFile(ask.path, ask.content);
      return null;
    case 'delete':
      await fs.rm(ask.path, { force: true });
      return null;
  }
}

/** Null for what is in no volume. */
function addressOf({ files }: Run, path: string): VfsAddress | null {
  try {
    return resolveGuestPath(files, path).address;
  } catch {
    // A loop of links: the read or write says so.
    return null;
  }
}

let kept: { thread: SqliteThread; timer: NodeJS.Timeout } | null = null;

/** A thread for one request after another; give it back with `giveBack`. */
export function takeThread(memoryBytes: number): SqliteThread {
  const idle = kept;
  kept = null;
  if (idle === null) return new SqliteThread(memoryBytes);
  clearTimeout(idle.timer);
  return idle.thread.isUsable ? idle.thread : new SqliteThread(memoryBytes);
}

/** Keeps a thread for a moment, for the next command of a script. */
export function giveBack(thread: SqliteThread): void {
  if (!thread.isUsable || kept !== null) {
    thread.end();
    return;
  }
  const timer = setTimeout(dropIdleThread, KEEP_MS);
  timer.unref();
  kept = { thread, timer };
}

/** Ends an idle thread. */
function dropIdleThread(): void {
  if (kept === null) return;
  clearTimeout(kept.timer);
  kept.thread.end();
  kept = null;
}

/** Named in full, so that a package has it. */
const SOURCE = new URL('./sqlite-thread.ts', import.meta.url);

/** The thread's file: beside the worker's in a bundle, else the source. */
function threadFile(): string | URL {
  const own = process.argv[1] ?? '';
  return own.endsWith('.cjs') ? join(own, '..', 'sqlite-thread.cjs') : SOURCE;
}
