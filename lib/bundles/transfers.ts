/**
 * Uploads and downloads under way: each has a temporary folder, waits for a slot, may start a bundle process, and ends
 * when the server stops. Knows nothing of the contents.
 */
import { finished, type Readable } from 'node:stream';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import { hashFile } from '../base/hash-file.ts';
import type { HelperWalls } from '../base/walls.ts';
import { BundleProcess } from './bundle-process.ts';
import type { Hashed } from './hashing.ts';
import { TransferFolders } from './transfer-folders.ts';

const MIB = 1024 * 1024;

/** A download. Its temporary folder is removed when the stream closes, for whatever reason. */
export interface OutgoingStream {
  stream: Readable;
  /** Null: not known before the stream ends. */
  bytes: number | null;
}

type TransferConfig = Pick<Config, 'cacheFolder' | 'dataFolder' | 'maxFileBytes'>;
type OpenFolder = Awaited<ReturnType<TransferFolders['open']>>;

export class Transfers {
  readonly #config: TransferConfig;
  readonly #walls: HelperWalls | null;
  /** Processes that may run, by the folder that they work in. */
  readonly #processes = new Map<string, Promise<BundleProcess>[]>();
  readonly #folders: TransferFolders;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** `walls`: what stands around its processes. */
  constructor(config: TransferConfig, walls: HelperWalls | null = null) {
    this.#config = config;
    this.#walls = walls;
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
        const gone = new Promise<void>((resolve) => finished(stream, () => resolve(this.#close(folder))));
        this.#running.add(gone);
        void gone.then(() => {
          this.#running.delete(gone);
          this.#stopping.signal.removeEventListener('abort', stop);
        });
        return { result, outgoing: { stream, bytes } };
      } catch (error) {
        await this.#close(folder);
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
        await this.#close(folder);
      }
    });
  }

  /** Runs `work` when one of the processing slots is free. */
  withSlot<T>(work: () => Promise<T>): Promise<T> {
    return this.#folders.withSlot(work);
  }

  /**
   * What a process said of a file that it made, or what is so: with walls nobody's word is taken for it. The process
   * has ended.
   */
  async hashed<T extends Hashed>(path: string, said: T): Promise<T> {
    return this.#walls?.users ? { ...said, ...(await hashFile(path)) } : said;
  }

  /** Runs `work` in a slot. It may start one process for the folder, which is ended afterwards. */
  withProcess<T>(
    folder: string,
    signal: AbortSignal | undefined,
    work: (start: () => Promise<BundleProcess>) => Promise<T>,
  ): Promise<T> {
    return this.withSlot(async () => {
      let starting: Promise<BundleProcess> | null = null;
      try {
        return await work(() => {
          starting = this.startProcess(folder, signal);
          return starting;
        });
      } finally {
        // It may still be starting when the work fails; its own failure is the caller's.
        const started = await (starting as Promise<BundleProcess> | null)?.catch(() => null);
        await started?.end();
      }
    });
  }

  /** Starts a process for the folder that the caller must end. `signal` and `stop` end it too. Throws `capacity`. */
  startProcess(folder: string, signal: AbortSignal | undefined): Promise<BundleProcess> {
    const { cacheFolder, dataFolder, maxFileBytes } = this.#config;
    const starting = BundleProcess.start({
      walls: this.#walls,
      folder,
      dataFolder,
      cacheFolder,
      // The content of a file is in SQLite's memory and in the process's own at the same time.
      memoryBytes: 384 * MIB + 6 * maxFileBytes,
      signals: [this.#stopping.signal, ...(signal === undefined ? [] : [signal])],
    });
    starting.catch(() => undefined);
    this.#processes.set(folder, [...(this.#processes.get(folder) ?? []), starting]);
    return starting;
  }

  /** Removes a folder once nobody writes into it any more. */
  async #close(folder: OpenFolder): Promise<void> {
    const processes = this.#processes.get(folder.path) ?? [];
    this.#processes.delete(folder.path);
    for (const starting of processes) await (await starting.catch(() => null))?.end();
    await folder.close();
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
