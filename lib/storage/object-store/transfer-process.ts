/**
 * The server's side of the transfer processes of one store: a few at most, each with one file at a time, kept for a
 * while for the next one. They get what the credentials' chain needs and nothing else of the server's environment.
 */
import { fileURLToPath } from 'node:url';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { HelperProcess } from '../../base/helper-process.ts';
import type { StoreAddress, StoreConnection } from '../../base/store-url.ts';
import type { Transferred } from './object-store.ts';
import {
  parseTransferMessage,
  type ToTransferProcess,
  type TransferMessage,
  type TransferTask,
} from './transfer-messages.ts';

const ENTRY = fileURLToPath(new URL('./transfer-worker.ts', import.meta.url));
/** At the same time, of each kind: what is brought back never waits for what goes away. */
const MOST = 2;
/** Until one without a task is ended. */
const IDLE_MS = 60_000;
/** It takes some 60 MiB with Amazon's SDK, and 15 for parts. */
const MEMORY_BYTES = 256 * 1024 * 1024;
const MEMORY_INTERVAL_MS = 250;
/** It tells how far it is four times a second. */
const SILENT_MS = 30_000;
/** From calling a task off to ending the process. */
const ABORT_MS = 3000;
/** A transfer may take as long as it makes progress; this is the longest of a timer. */
const TASK_MS = 2 ** 31 - 1;
/** Between two words to whoever waits for a process. */
const WAITING_MS = 1000;
const FLAGS = [
  '--no-warnings',
  '--expose-gc',
  '--max-old-space-size=96',
  '--max-semi-space-size=4',
  '--v8-pool-size=2',
];

type Kind = TransferTask['kind'];

export interface TransferSettings {
  signal?: AbortSignal | undefined;
  progress?: ((bytes: number) => void) | undefined;
  /** Removes what a process left that ended before its answer. */
  clear: () => Promise<void>;
}

/** One process, and who is told how far it is. */
interface Started {
  process: HelperProcess<TransferMessage>;
  progress: (bytes: number) => void;
  idle: NodeJS.Timeout | null;
}

export class TransferProcesses {
  readonly #store: StoreAddress;
  readonly #connection: StoreConnection;
  readonly #free: Record<Kind, Started[]> = { upload: [], download: [] };
  readonly #all = new Set<Started>();
  readonly #taken: Record<Kind, number> = { upload: 0, download: 0 };
  readonly #waiting: Record<Kind, (() => void)[]> = { upload: [], download: [] };
  #isClosed = false;

  constructor(store: StoreAddress, connection: StoreConnection) {
    this.#store = store;
    this.#connection = connection;
  }

  /** Their ids, for tests. */
  get pids(): number[] {
    return [...this.#all].map(({ process }) => process.pid);
  }

  /**
   * Runs a task. Throws what it throws, the reason of `signal`, `capacity` when no process can be started, and
   * `storage_unavailable` when the process ended before its answer.
   */
  async run(task: TransferTask, { signal, progress, clear }: TransferSettings): Promise<Transferred> {
    await this.#turn(task.kind, signal, progress);
    try {
      const started = await this.#process(task.kind);
      started.progress = progress ?? (() => undefined);
      const transferred = await this.#runOn(started, task, signal, clear);
      this.#keep(task.kind, started);
      return transferred;
    } finally {
      this.#taken[task.kind] -= 1;
      this.#waiting[task.kind].shift()?.();
    }
  }

  /** Ends all of them; what they do fails. May be repeated. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((started) => this.#end(started)));
  }

  async #turn(kind: Kind, signal: AbortSignal | undefined, progress: TransferSettings['progress']): Promise<void> {
    signal?.throwIfAborted();
    const telling = setInterval(() => progress?.(0), WAITING_MS);
    try {
      while (this.#taken[kind] >= MOST) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const abort = () => reject(signal?.reason);
        signal?.addEventListener('abort', abort, { once: true });
        this.#waiting[kind].push(resolve);
        try {
          await promise;
        } catch (error) {
          this.#waiting[kind] = this.#waiting[kind].filter((one) => one !== resolve);
          throw error;
        } finally {
          signal?.removeEventListener('abort', abort);
        }
      }
    } finally {
      clearInterval(telling);
    }
    this.#taken[kind] += 1;
  }

  async #process(kind: Kind): Promise<Started> {
    for (let free = this.#free[kind].pop(); free !== undefined; free = this.#free[kind].pop()) {
      if (free.idle !== null) clearTimeout(free.idle);
      if (free.process.isRunning) return free;
    }
    let isSilent = false;
    let lastWord = 0;
    const { credentials, ...connection } = this.#connection;
    const started: Started = {
      process: await HelperProcess.start<TransferMessage>({
        name: 'transfer',
        entry: ENTRY,
        flags: FLAGS,
        env: this.#store.driver === 's3' ? credentials : {},
        stdout: 'ignore',
        walls: null,
        memoryBytes: MEMORY_BYTES,
        memoryIntervalMs: MEMORY_INTERVAL_MS,
        tooMuchMemory: () => ended('needed too much memory'),
        parse: parseTransferMessage,
        notice(message) {
          lastWord = performance.now();
          if (!('gone' in message)) return false;
          if (!isSilent) started.progress(message.gone);
          return true;
        },
      }),
      progress: () => undefined,
      idle: null,
    };
    const { process } = started;
    this.#all.add(started);
    lastWord = performance.now();
    const watch = setInterval(() => {
      if (this.#free[kind].includes(started)) lastWord = performance.now();
      else if (performance.now() - lastWord > SILENT_MS) {
        isSilent = true;
        process.kill(ended('did not answer'));
      }
    }, MEMORY_INTERVAL_MS);
    watch.unref();
    void process.exited.then(() => {
      clearInterval(watch);
      this.#all.delete(started);
    });
    process.send({ store: this.#store, connection } satisfies ToTransferProcess);
    if (this.#isClosed) await this.#end(started);
    return started;
  }

  async #runOn(
    started: Started,
    task: TransferTask,
    signal: AbortSignal | undefined,
    clear: () => Promise<void>,
  ): Promise<Transferred> {
    const { process } = started;
    let late: NodeJS.Timeout | null = null;
    const abort = () => {
      process.send({ abort: true } satisfies ToTransferProcess);
      late = setTimeout(() => process.kill(ended('did not stop')), ABORT_MS);
    };
    process.send({ task } satisfies ToTransferProcess);
    const answered = process.next(
      (message) => 'transferred' in message || 'system' in message,
      TASK_MS,
      () => ended('took too long'),
    );
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    try {
      const answer = await answered;
      if ('transferred' in answer) return answer.transferred;
      const { code, syscall } = 'system' in answer ? answer.system : { code: 'EPROTO', syscall: 'transfer' };
      throw Object.assign(new Error(`${code}: ${syscall} of a local file`), { code, syscall });
    } catch (error) {
      const isGone = !process.isRunning;
      if (isGone) {
        await this.#end(started);
        await clear();
      } else this.#keep(task.kind, started);
      if (signal?.aborted) throw signal.reason;
      throw isGone && isWinterdockError(error) && error.code === 'internal' ? ended('ended', error) : error;
    } finally {
      if (late !== null) clearTimeout(late);
      signal?.removeEventListener('abort', abort);
      started.progress = () => undefined;
    }
  }

  /** Keeps a process for the next task, for a while. */
  #keep(kind: Kind, started: Started): void {
    if (this.#isClosed || !started.process.isRunning || this.#free[kind].includes(started)) return;
    this.#free[kind].push(started);
    started.idle = setTimeout(() => {
      this.#free[kind] = this.#free[kind].filter((one) => one !== started);
      void this.#end(started);
    }, IDLE_MS);
    started.idle.unref();
  }

  async #end(started: Started): Promise<void> {
    if (started.idle !== null) clearTimeout(started.idle);
    started.process.kill();
    await started.process.exited;
  }
}

function ended(how: string, cause?: unknown): WinterdockError {
  return new WinterdockError('storage_unavailable', `The process that transfers files ${how}.`, {
    retryAfterSeconds: 5,
    cause,
  });
}
