/** Checks of files at rest, one after the other, in a process that is there only while there is something to check. */
import { WinterdockError } from '../errors.ts';
import type { Check } from './messages.ts';
import { ReaderDeath, ReaderProcess } from './reader-process.ts';

/** Hashing runs at 230 MB/s or more; a niced process on a busy machine gets a fraction of that. */
const CHECK_TIMEOUT_MS = 30 * 60_000;
const CHECK_MEMORY_BYTES = 512 * 1024 * 1024;
const LINGER_MS = 5000;

export class CheckLane {
  readonly #niceness: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #process: ReaderProcess | null = null;
  #linger: NodeJS.Timeout | undefined;
  #stopped = false;

  /** `niceness` 0 to 19: how far its process stands behind others. */
  constructor(niceness: number) {
    this.#niceness = niceness;
  }

  /** Checks one file, after those that were asked for before. Throws `missing_file`, `conflict`, `storage_unavailable`. */
  run(path: string): Promise<Check> {
    this.#waiting += 1;
    const result = this.#last.then(() => this.#check(path));
    // The next check does not depend on how this one ended; its caller is told.
    this.#last = result.catch(() => undefined).then(() => this.#rest());
    return result;
  }

  /** Breaks off what runs and refuses what waits; resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#process?.kill('crash');
    await this.#last;
    clearTimeout(this.#linger);
    await this.#process?.end();
    this.#process = null;
  }

  async #check(path: string): Promise<Check> {
    if (this.#stopped) throw broken();
    clearTimeout(this.#linger);
    try {
      if (!this.#process?.alive) this.#process = await ReaderProcess.start(this.#niceness);
      const answer = await this.#process.run(
        { kind: 'check', path },
        { timeoutMs: CHECK_TIMEOUT_MS, memoryBytes: CHECK_MEMORY_BYTES },
      );
      if ('sha256' in answer) return answer;
      throw new WinterdockError('internal', 'A reader answered a check with a read.');
    } catch (error) {
      if (error instanceof ReaderDeath) throw broken(error);
      throw error;
    }
  }

  async #rest(): Promise<void> {
    this.#waiting -= 1;
    if (this.#waiting > 0 || this.#stopped) return;
    this.#linger = setTimeout(() => {
      const process = this.#process;
      this.#process = null;
      void process?.end();
    }, LINGER_MS);
    this.#linger.unref();
  }
}

function broken(cause?: unknown): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The check was broken off before it ended.', {
    retryAfterSeconds: 5,
    cause,
  });
}
