/**
 * A queue of long jobs on VFS files (checks, copies). It runs one at a time, in a process that exists only while there
 * are jobs. Knows nothing of what a job does.
 */
import { WinterdockError } from '../base/errors.ts';
import type { FileUser } from '../base/walls.ts';
import type { ReaderJob, ReaderJobResult } from './messages.ts';
import { type JobLimits, ReaderDeath, ReaderProcess, type ReaderStart } from './reader-process.ts';

const LINGER_MS = 5000;

export class JobQueue {
  readonly #start: ReaderStart;
  readonly #limits: JobLimits;
  readonly #what: string;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #process: ReaderProcess | null = null;
  #linger: NodeJS.Timeout | undefined;
  #stopped = false;

  /** `what` names the job in messages. */
  constructor(what: string, start: ReaderStart, limits: JobLimits) {
    this.#what = what;
    this.#start = start;
    this.#limits = limits;
  }

  /** Jobs that run or wait. */
  get load(): number {
    return this.#waiting;
  }

  /**
   * Runs one job after all earlier ones, as the user that `userOf` says when its turn comes; null: as who the process
   * is. `alone`: its process has ended when this resolves, so that nobody has open what it wrote. Throws the job's own
   * error, or `storage_unavailable`.
   */
  run(job: ReaderJob, userOf: () => FileUser | null, { alone = false } = {}): Promise<ReaderJobResult> {
    this.#waiting += 1;
    const result = this.#last.then(() => this.#run(job, userOf)).finally(() => (alone ? this.#end() : undefined));
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

  async #run(job: ReaderJob, userOf: () => FileUser | null): Promise<ReaderJobResult> {
    if (this.#stopped) throw this.#broken();
    clearTimeout(this.#linger);
    try {
      const user = userOf();
      if (this.#process && !this.#process.mayServe(user)) await this.#end();
      if (!this.#process?.alive) this.#process = await ReaderProcess.start(this.#start);
      return await this.#process.run(job, this.#limits, user);
    } catch (error) {
      if (error instanceof ReaderDeath) throw this.#broken(error);
      throw error;
    }
  }

  async #end(): Promise<void> {
    const process = this.#process;
    this.#process = null;
    process?.kill('crash');
    await process?.exited;
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
