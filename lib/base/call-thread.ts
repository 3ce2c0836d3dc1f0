/**
 * A thread that answers calls: it begins with the first one, may end once none came for a while, and gives nobody a
 * reason to wait for it at the end of the process. Both sides of it; knows nothing of what is asked.
 */
import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads';
import { isWinterdockError } from './errors.ts';
import { deserializeError, type SerializedError, serializeError } from './serialized-error.ts';

type ThreadCall<Task> = { call: number } & ({ task: Task } | { abort: true });

/** `system`: an error of the system, of a file that the task names. */
type ThreadAnswer = { call: number } & (
  | { result: unknown }
  | { failure: SerializedError }
  | { system: { code: string; syscall: string; message: string } }
);

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

export interface CallThreadOptions extends Pick<WorkerOptions, 'resourceLimits' | 'workerData'> {
  /** What it is, as a sentence begins. */
  name: string;
  /** Milliseconds from its last answer to its end; by default it stays. */
  keepMs?: number;
}

/** A thread that runs, and who waits for its answers. */
interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

export class CallThread<Task> {
  readonly #entry: URL;
  readonly #options: CallThreadOptions;
  #running: Running | null = null;
  #calls = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(entry: URL, options: CallThreadOptions) {
    this.#entry = entry;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Resolves with what the thread makes of a task; rejects with its error. Once `signal` is aborted it should end. */
  ask(task: Task, signal?: AbortSignal): Promise<unknown> {
    const { worker, waiting } = this.#started();
    this.#calls += 1;
    const call = this.#calls;
    const abort = () => worker.postMessage({ call, abort: true } satisfies ThreadCall<Task>);
    const answered = new Promise((resolve, reject) => {
      waiting.set(call, { resolve, reject });
      worker.ref();
      worker.postMessage({ call, task } satisfies ThreadCall<Task>);
    });
    if (signal === undefined) return answered;
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    return answered.finally(() => signal.removeEventListener('abort', abort));
  }

  /** Ends it at once; calls that wait are rejected. The next call begins another one. */
  async end(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    this.#keep();
    await running?.worker.terminate();
  }

  #started(): Running {
    this.#keep();
    if (this.#running !== null) return this.#running;
    const { name, keepMs: _, ...options } = this.#options;
    const worker = new Worker(this.#entry, options);
    const running: Running = { worker, waiting: new Map() };
    this.#running = running;
    worker.unref();
    worker.on('message', (answer: ThreadAnswer) => this.#answered(running, answer));
    let cause: unknown = null;
    worker.once('error', (error) => {
      cause = error;
    });
    worker.once('exit', () => {
      if (this.#running === running) this.#running = null;
      const error = new Error(`${name} ended.`, { cause });
      for (const { reject } of running.waiting.values()) reject(error);
      running.waiting.clear();
    });
    return running;
  }

  #answered({ worker, waiting }: Running, answer: ThreadAnswer): void {
    const one = waiting.get(answer.call);
    waiting.delete(answer.call);
    if (waiting.size === 0) {
      worker.unref();
      const { keepMs } = this.#options;
      if (keepMs !== undefined) this.#timer = setTimeout(() => void this.end(), keepMs).unref();
    }
    if ('result' in answer) one?.resolve(answer.result);
    else if ('failure' in answer) one?.reject(deserializeError(answer.failure));
    else {
      const { code, syscall, message } = answer.system;
      one?.reject(Object.assign(new Error(message), { code, syscall }));
    }
  }

  #keep(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/**
 * In the thread: answers each call with what `work` makes of its task. `unexpected`: what is said of an error outside
 * the contract.
 */
export function answerCalls<Task>(
  work: (task: Task, signal: AbortSignal) => Promise<unknown>,
  unexpected: string,
): void {
  const running = new Map<number, AbortController>();
  parentPort?.on('message', async (message: ThreadCall<Task>) => {
    const { call } = message;
    if ('abort' in message) return running.get(call)?.abort();
    const ending = new AbortController();
    running.set(call, ending);
    const answer = await answerTo(call, () => work(message.task, ending.signal), unexpected);
    running.delete(call);
    parentPort?.postMessage(answer);
  });
}

async function answerTo(call: number, work: () => Promise<unknown>, unexpected: string): Promise<ThreadAnswer> {
  try {
    return { call, result: await work() };
  } catch (error) {
    if (!isWinterdockError(error) && error instanceof Error && 'code' in error && 'syscall' in error) {
      const { code, syscall, message } = error;
      return { call, system: { code: String(code), syscall: String(syscall), message } };
    }
    return { call, failure: serializeError(error, unexpected) };
  }
}
