/**
 * The way of whatever passes in or out: a folder of its own that is gone when it has passed, a turn, a process that
 * takes it apart, and one stop for all. Knows nothing of what passes.
 */
import { finished, type Readable } from 'node:stream';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import { BundleProcess } from './bundle-process.ts';
import { TransferFolders } from './transfer-folders.ts';

const MIB = 1024 * 1024;

/** Bytes on their way out. What they came from is removed when the stream closes, however it does. */
export interface OutgoingStream {
  stream: Readable;
  /** Null: only its end will tell. */
  bytes: number | null;
}

export class Transfers {
  readonly #config: Pick<Config, 'dataFolder' | 'maxFileBytes'>;
  readonly #folders: TransferFolders;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(config: Pick<Config, 'dataFolder' | 'maxFileBytes'>) {
    this.#config = config;
    this.#folders = new TransferFolders(config.dataFolder);
  }

  /** Removes what an earlier run left. */
  start(): Promise<void> {
    return this.#folders.start();
  }

  /** Breaks off what is on its way and waits until it is gone. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([...this.#running]);
  }

  /**
   * Opens a folder for something that goes out; it is removed when the stream closes, or at once when there is none.
   * Throws `rate_limited`.
   */
  async outbound<T>(
    actor: string,
    make: (folder: string) => Promise<{ result: T; stream: Readable; bytes: number | null }>,
  ): Promise<{ result: T; outgoing: OutgoingStream }> {
    return this.#tracked(async () => {
      const folder = await this.#folders.open(actor);
      try {
        const { result, stream, bytes } = await make(folder.path);
        const stop = () => stream.destroy();
        this.#stopping.signal.addEventListener('abort', stop, { once: true });
        const gone = new Promise<void>((resolve) => finished(stream, () => resolve(folder.close())));
        this.#running.add(gone);
        void gone.then(() => {
          this.#running.delete(gone);
          this.#stopping.signal.removeEventListener('abort', stop);
        });
        return { result, outgoing: { stream, bytes } };
      } catch (error) {
        await folder.close();
        throw error;
      }
    });
  }

  /**
   * Runs `work` with a folder of its own, of which nothing outlives it but what that put elsewhere. Throws
   * `rate_limited`.
   */
  withFolder<T>(actor: string, work: (folder: string) => Promise<T>): Promise<T> {
    return this.#tracked(async () => {
      const folder = await this.#folders.open(actor);
      try {
        return await work(folder.path);
      } finally {
        await folder.close();
      }
    });
  }

  /** Runs `work` in its turn. */
  withSlot<T>(work: () => Promise<T>): Promise<T> {
    return this.#folders.withSlot(work);
  }

  /** Runs `work` in its turn; the process that it may ask for, once, is gone afterwards. */
  withProcess<T>(
    signal: AbortSignal | undefined,
    work: (start: () => Promise<BundleProcess>) => Promise<T>,
  ): Promise<T> {
    return this.withSlot(async () => {
      let started: BundleProcess | null = null;
      try {
        return await work(async () => {
          started = await this.startProcess(signal);
          return started;
        });
      } finally {
        await (started as BundleProcess | null)?.end();
      }
    });
  }

  /** A process that the caller ends. It is ended when `signal` or the stop says so. Throws `capacity`. */
  startProcess(signal: AbortSignal | undefined): Promise<BundleProcess> {
    const { dataFolder, maxFileBytes } = this.#config;
    return BundleProcess.start({
      dataFolder,
      // A content passes through SQLite's memory and the process's own.
      memoryBytes: 384 * MIB + 6 * maxFileBytes,
      signals: [this.#stopping.signal, ...(signal === undefined ? [] : [signal])],
    });
  }

  async #tracked<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stopping.signal.aborted) {
      throw new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
    }
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }
}
