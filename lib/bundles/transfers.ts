/**
 * Uploads and downloads under way: each has a temporary folder, waits for a slot, may start a bundle process, and ends
 * when the server stops. Knows nothing of the contents.
 */
import { finished, type Readable } from 'node:stream';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import { BundleProcess } from './bundle-process.ts';
import { TransferFolders } from './transfer-folders.ts';

const MIB = 1024 * 1024;

/** A download. Its temporary folder is removed when the stream closes, for whatever reason. */
export interface OutgoingStream {
  stream: Readable;
  /** Null: not known before the stream ends. */
  bytes: number | null;
}

export class Transfers {
  readonly #config: Pick<Config, 'cacheFolder' | 'dataFolder' | 'maxFileBytes'>;
  readonly #folders: TransferFolders;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(config: Pick<Config, 'cacheFolder' | 'dataFolder' | 'maxFileBytes'>) {
    this.#config = config;
    this.#folders = new TransferFolders(config.dataFolder);
  }

  /** Removes the temporary folders of an earlier run. */
  start(): Promise<void> {
    return this.#folders.start();
  }

  /** Aborts all transfers and waits until their folders are removed. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([...this.#running]);
  }

  /**
   * Opens a temporary folder for a download. It is removed when the stream closes, or at once when `make` fails. Throws
   * `rate_limited`.
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
   * Runs `work` with a temporary folder and removes the folder afterwards. Throws `rate_limited`.
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

  /** Runs `work` when one of the processing slots is free. */
  withSlot<T>(work: () => Promise<T>): Promise<T> {
    return this.#folders.withSlot(work);
  }

  /** Runs `work` in a slot. It may start one process, which is ended afterwards. */
  withProcess<T>(
    signal: AbortSignal | undefined,
    work: (start: () => Promise<BundleProcess>) => Promise<T>,
  ): Promise<T> {
    return this.withSlot(async () => {
      let starting: Promise<BundleProcess> | null = null;
      try {
        return await work(() => {
          starting = this.startProcess(signal);
          return starting;
        });
      } finally {
        // It may still be starting when the work fails; its own failure is the caller's.
        const started = await (starting as Promise<BundleProcess> | null)?.catch(() => null);
        await started?.end();
      }
    });
  }

  /** Starts a process that the caller must end. `signal` and `stop` end it too. Throws `capacity`. */
  startProcess(signal: AbortSignal | undefined): Promise<BundleProcess> {
    const { cacheFolder, dataFolder, maxFileBytes } = this.#config;
    return BundleProcess.start({
      dataFolder,
      cacheFolder,
      // The content of a file is in SQLite's memory and in the process's own at the same time.
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
