/**
 * A queue of long jobs on VFS files (checks, copies). It runs one at a time, in a process that exists only while there
 * are jobs. Knows nothing of what a job does.
 */
import { WinterdockError } from '../base/errors.ts';
import type { ReaderJob, ReaderJobResult } from './messages.ts';
import { type JobLimits, ReaderDeath, ReaderProcess } from './reader-process.ts';

const LINGER_MS = 5000;

export class JobQueue {
  readonly #niceness: number;
  readonly #limits: JobLimits;
  readonly #what: string;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #process: ReaderProcess | null = null;
  #linger: NodeJS.Timeout | undefined;
  #stopped = false;

  /** `what` names the job in messages. `niceness`, 0 to 19: the priority of its process. */
  constructor(what: string, niceness: number, limits: JobLimits) {
    this.#what = what;
    this.#niceness = niceness;
    this.#limits = limits;
  }

  /** Jobs that run or wait. */
  get load(): number {
    return this.#waiting;
  }

  /** Runs one job after all earlier ones. Throws the job's own error, or `storage_unavailable`. */
  run(job: ReaderJob): Promise<ReaderJobResult> {
    this.#waiting += 1;
    const result = this.#last.then(() => this.#run(job));
    // The next job does not depend on this one's outcome; the caller gets the error.
    this.#last = result.catch(() => undefined).then(() => this.#rest());
    return result;
  }

  /** Aborts the running job and refuses the waiting ones. Resolves when the process has exited. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#process?.kill('crash');
    await this.#last;
    clearTimeout(this.#linger);
    await this.#process?.end();
    this.#process = null;
  }

  async #run(job: ReaderJob): Promise<ReaderJobResult> {
    if (this.#stopped) throw this.#broken();
    clearTimeout(this.#linger);
    try {
      if (!this.#process?.alive) this.#process = await ReaderProcess.start(this.#niceness);
      return await this.#process.run(job, this.#limits);
    } catch (error) {
      if (error instanceof ReaderDeath) throw this.#broken(error);
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

  #broken(cause?: unknown): WinterdockError {
    return new WinterdockError('storage_unavailable', `The ${this.#what} was broken off before it ended.`, {
      retryAfterSeconds: 5,
      cause,
    });
  }
}
