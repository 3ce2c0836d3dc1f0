/** The file through which Python's `sqlite3` asks, for one run. What is behind it is loaded by its first use. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IFileSystem } from 'just-bash';
import type { Run } from '../../workers/protocol/call.ts';
import type { FilePort } from '../shell/guest-files.ts';
import type { PythonPort } from './python-port.ts';

/** A port that loads what is behind it when it is first used. */
export class LazyPythonPort implements FilePort {
  readonly #load: () => Promise<PythonPort>;
  readonly #inContext: <T>(work: () => T) => T;
  #port: Promise<PythonPort> | null = null;

  /**
   * Make it in the command's own context: the shell's defences refuse to load anything in that of what the command
   * runs.
   */
  constructor(fs: IFileSystem, run: Run, memoryBytes: number) {
    this.#inContext = AsyncLocalStorage.snapshot();
    this.#load = async () => {
      const { PythonPort: Port } = await import('./python-port.ts');
      return new Port(fs, run, memoryBytes);
    };
  }

  async write(content: Uint8Array): Promise<void> {
    await this.#inContext(async () => (await this.#loaded()).write(content));
  }

  async read(): Promise<Uint8Array> {
    return this.#inContext(async () => (await this.#loaded()).read());
  }

  #loaded(): Promise<PythonPort> {
    this.#port ??= this.#load();
    return this.#port;
  }

  /** Why what was committed could not be written; null when it was. */
  async close(): Promise<string | null> {
    return this.#port === null ? null : (await this.#port).close();
  }
}
