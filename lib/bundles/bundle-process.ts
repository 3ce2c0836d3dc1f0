/**
 * One bundle process as the server sees it: started for one bundle, given its jobs, ended with it. Owns its limits of
 * time and memory; knows nothing of what a job does.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { WinterdockError } from '../base/errors.ts';
import { FOLDER_MARK, SERVER_MARK, serverMark } from '../instance/process.ts';
import {
  type BundleAnswerTo,
  type BundleMessage,
  type BundleTask,
  bundleError,
  parseBundleMessage,
} from './messages.ts';

const ENTRY = fileURLToPath(new URL('./worker.ts', import.meta.url));
const START_TIMEOUT_MS = 30_000;
/**
 * A gigabyte passes in well under a minute; past this the disk hangs, or what was handed in is made to take forever.
 */
const JOB_TIMEOUT_MS = 15 * 60_000;
/** A stream goes as fast as its client takes it. */
const STREAM_TIMEOUT_MS = 60 * 60_000;
const MEMORY_INTERVAL_MS = 100;
const NICENESS = 5;
const PAGE_BYTES = 4096;
const STDERR_TAIL = 2000;
const EXEC_ARGV = ['--no-warnings', '--max-old-space-size=192', '--max-semi-space-size=4', '--v8-pool-size=1'];
/** Part of util-linux: makes the kernel end a process when the thread that started it is gone. */
const SETPRIV = '/usr/bin/setpriv';

export interface BundleProcessOptions {
  dataFolder: string;
  /** Resident memory at which it is ended, in bytes. */
  memoryBytes: number;
  /** One of them aborted: the process is ended and its job fails. */
  signals: readonly AbortSignal[];
}

type Waiter = { take: (message: BundleMessage) => void; fail: (error: unknown) => void };

export class BundleProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #memory: NodeJS.Timeout;
  #waiter: Waiter | null = null;
  #why: WinterdockError | null = null;
  #stderr = '';

  private constructor(child: ChildProcess, { memoryBytes, signals }: BundleProcessOptions) {
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
    const abort = () => this.kill(aborted());
    for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
    this.#exited = new Promise((resolve) => {
      const gone = () => {
        clearInterval(this.#memory);
        for (const signal of signals) signal.removeEventListener('abort', abort);
        this.#settle((waiter) => waiter.fail(this.#death()));
        resolve();
      };
      child.once('exit', gone);
      child.on('error', () => (child.pid === undefined ? gone() : child.kill('SIGKILL')));
    });
    child.on('message', (message) => this.#take(message));
    this.#memory = setInterval(() => {
      if (residentBytes(child.pid) > memoryBytes) this.kill(tooMuchMemory());
    }, MEMORY_INTERVAL_MS);
    this.#memory.unref();
    if (signals.some(({ aborted }) => aborted)) abort();
  }

  /** Starts one and waits until it takes jobs. Its environment holds nothing of the server's. Throws `capacity`. */
  static async start(options: BundleProcessOptions): Promise<BundleProcess> {
    const guarded = process.platform === 'linux' && existsSync(SETPRIV);
    const child = fork(ENTRY, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        NODE_ENV: 'production',
        MALLOC_ARENA_MAX: '1',
        // Of their own: what takes hostile files apart never writes code that others run.
        NODE_COMPILE_CACHE: join(options.dataFolder, 'cache', 'bundles'),
        [FOLDER_MARK]: options.dataFolder,
        [SERVER_MARK]: serverMark(process.pid),
      },
      ...(guarded
        ? { execPath: SETPRIV, execArgv: ['--pdeathsig', 'KILL', process.execPath, ...EXEC_ARGV] }
        : { execArgv: EXEC_ARGV }),
    });
    const bundling = new BundleProcess(child, options);
    try {
      await bundling.#next((message) => 'ready' in message, START_TIMEOUT_MS);
    } catch (error) {
      bundling.kill();
      if (bundling.#why !== null) throw bundling.#why;
      throw new WinterdockError('capacity', 'A bundle process could not be started.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
    if (child.pid !== undefined) lower(child.pid);
    return bundling;
  }

  /** Does one job. Throws the job's own error, or why the process ended before it answered. */
  async run<J extends BundleTask>(job: J): Promise<BundleAnswerTo<J['kind']>> {
    this.#child.send(job);
    const message = await this.#next((said) => 'answer' in said, JOB_TIMEOUT_MS);
    if ('answer' in message && message.answer.kind === job.kind) return message.answer as BundleAnswerTo<J['kind']>;
    throw new WinterdockError('internal', `A bundle process did not answer ${job.kind}.`);
  }

  /**
   * Begins a job that writes to standard output. Resolves with that stream when everything before the first byte went
   * well; the stream fails when the job does, so that half an answer never looks whole.
   */
  async stream(job: Extract<BundleTask, { kind: 'checkout' }>): Promise<Readable> {
    const { stdout } = this.#child;
    if (stdout === null) throw new WinterdockError('internal', 'A bundle process has no output.');
    this.#child.send(job);
    await this.#next((said) => 'begun' in said, JOB_TIMEOUT_MS);
    // Its output ends with it; what it wrote before it answered is on its way.
    const whole = this.#next((said) => 'answer' in said, STREAM_TIMEOUT_MS).then(() => this.#child.disconnect());
    whole.catch(() => this.kill());
    return endingWith(stdout, whole);
  }

  /** SIGKILL; the first reason given is the one that its job fails with. */
  kill(why?: WinterdockError): void {
    this.#why ??= why ?? null;
    this.#child.kill('SIGKILL');
  }

  /** Ends it and waits until it is gone. Idempotent. */
  async end(): Promise<void> {
    this.kill();
    await this.#exited;
  }

  #next(wanted: (message: BundleMessage) => boolean, timeoutMs: number): Promise<BundleMessage> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.kill(tooLong()), timeoutMs);
      const done = (finish: () => void) => {
        clearTimeout(late);
        finish();
      };
      this.#waiter = {
        take(message) {
          if ('failure' in message) done(() => reject(bundleError(message.failure)));
          else if (wanted(message)) done(() => resolve(message));
          else done(() => reject(new WinterdockError('internal', 'A bundle process said what was not asked.')));
        },
        fail: (error) => done(() => reject(error)),
      };
      if (!this.#child.connected) this.#settle((waiter) => waiter.fail(this.#death()));
    });
  }

  #take(message: unknown): void {
    try {
      const parsed = parseBundleMessage(message);
      this.#settle((waiter) => waiter.take(parsed));
    } catch {
      // What it says is not what was agreed: it is ended, and its job fails.
      this.kill();
    }
  }

  #settle(settle: (waiter: Waiter) => void): void {
    const waiter = this.#waiter;
    this.#waiter = null;
    if (waiter) settle(waiter);
  }

  #death(): WinterdockError {
    return (
      this.#why ??
      new WinterdockError('internal', 'A bundle process ended before it answered.', { cause: new Error(this.#stderr) })
    );
  }
}

/** A stream that ends only when what wrote it says that it is whole. */
function endingWith(output: Readable, whole: Promise<unknown>): Readable {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of output) yield piece as Uint8Array;
    await whole;
  }
  return Readable.from(pieces());
}

function lower(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // Gone already (its exit is reported elsewhere), or the system allows no change: then it only competes harder.
  }
}

/** Resident bytes of a process as the kernel counts them; 0 when it is gone. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    // Gone between two looks: its exit is reported elsewhere.
    return 0;
  }
}

function aborted(): WinterdockError {
  return new WinterdockError('storage_unavailable', 'It was broken off.', { retryAfterSeconds: 5 });
}

function tooMuchMemory(): WinterdockError {
  return new WinterdockError('validation', 'It needs more memory than a bundle may.');
}

function tooLong(): WinterdockError {
  return new WinterdockError('storage_unavailable', `It took longer than ${JOB_TIMEOUT_MS / 60_000} minutes.`, {
    retryAfterSeconds: 60,
  });
}
