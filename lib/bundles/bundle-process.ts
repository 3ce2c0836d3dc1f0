/**
 * The server's side of a bundle process: starts it for one bundle, sends it tasks and ends it. Owns its time and memory
 * limits; knows nothing of what a task does.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { WinterdockError } from '../base/errors.ts';
import { privateBytes } from '../base/resident-memory.ts';
import { deserializeError } from '../base/serialized-error.ts';
import { FOLDER_MARK, SERVER_MARK, serverMark } from '../instance/process.ts';
import { type BundleAnswerTo, type BundleMessage, type BundleTask, parseBundleMessage } from './messages.ts';

const ENTRY = fileURLToPath(new URL('./worker.ts', import.meta.url));
const START_TIMEOUT_MS = 30_000;
/**
 * A gigabyte takes well under a minute. After this time the disk hangs, or the upload is crafted to take forever.
 */
const TASK_TIMEOUT_MS = 15 * 60_000;
/** A stream is as slow as its client. */
const STREAM_TIMEOUT_MS = 60 * 60_000;
const MEMORY_INTERVAL_MS = 100;
const NICENESS = 5;
const STDERR_TAIL = 2000;
const EXEC_ARGV = ['--no-warnings', '--max-old-space-size=192', '--max-semi-space-size=4', '--v8-pool-size=1'];
/** From util-linux: the kernel ends the process when the thread that started it is gone. */
const SETPRIV = '/usr/bin/setpriv';

export interface BundleProcessOptions {
  dataFolder: string;
  /** Absolute path of the folder of the server's compile caches. */
  cacheFolder: string;
  /** The process is ended above this memory, in bytes, files that it maps aside. */
  memoryBytes: number;
  /** When one of them is aborted, the process is ended and its task fails. */
  signals: readonly AbortSignal[];
}

type Waiter = { take: (message: BundleMessage) => void; fail: (error: unknown) => void };

export class BundleProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #memory: NodeJS.Timeout;
  #waiter: Waiter | null = null;
  #reason: WinterdockError | null = null;
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
        this.#settle((waiter) => waiter.fail(this.#exitError()));
        resolve();
      };
      child.once('exit', gone);
      child.on('error', () => (child.pid === undefined ? gone() : child.kill('SIGKILL')));
    });
    child.on('message', (message) => this.#take(message));
    this.#memory = setInterval(() => {
      if (privateBytes(child.pid) > memoryBytes) this.kill(tooMuchMemory());
    }, MEMORY_INTERVAL_MS);
    this.#memory.unref();
    if (signals.some(({ aborted }) => aborted)) abort();
  }

  /** Starts a process and waits until it is ready. It gets none of the server's environment. Throws `capacity`. */
  static async start(options: BundleProcessOptions): Promise<BundleProcess> {
    const guarded = process.platform === 'linux' && existsSync(SETPRIV);
    const child = fork(ENTRY, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        NODE_ENV: 'production',
        MALLOC_ARENA_MAX: '1',
        // A cache of its own: a process that reads hostile files must never write code that other processes run.
        NODE_COMPILE_CACHE: join(options.cacheFolder, 'bundles'),
        [FOLDER_MARK]: options.dataFolder,
        [SERVER_MARK]: serverMark(process.pid),
      },
      ...(guarded
        ? { execPath: SETPRIV, execArgv: ['--pdeathsig', 'KILL', process.execPath, ...EXEC_ARGV] }
        : { execArgv: EXEC_ARGV }),
    });
    const started = new BundleProcess(child, options);
    try {
      await started.#next((message) => 'ready' in message, START_TIMEOUT_MS);
    } catch (error) {
      started.kill();
      if (started.#reason !== null) throw started.#reason;
      throw new WinterdockError('capacity', 'A bundle process could not be started.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
    if (child.pid !== undefined) lower(child.pid);
    return started;
  }

  /** Runs one task. Throws the task's error, or the reason why the process ended before its answer. */
  async run<T extends BundleTask>(task: T): Promise<BundleAnswerTo<T['kind']>> {
    this.#child.send(task);
    const message = await this.#next((message) => 'answer' in message, TASK_TIMEOUT_MS);
    if ('answer' in message && message.answer.kind === task.kind) return message.answer as BundleAnswerTo<T['kind']>;
    throw new WinterdockError('internal', `A bundle process did not answer ${task.kind}.`);
  }

  /**
   * Starts a task that writes to standard output. Resolves with that stream when all checks before the first byte have
   * passed. The stream fails when the task fails, so that a truncated output never looks complete.
   */
  async stream(task: Extract<BundleTask, { kind: 'checkout' }>): Promise<Readable> {
    const { stdout } = this.#child;
    if (stdout === null) throw new WinterdockError('internal', 'A bundle process has no output.');
    this.#child.send(task);
    await this.#next((message) => 'begun' in message, TASK_TIMEOUT_MS);
    // The output ends with the process. What it wrote before its answer is still read.
    const whole = this.#next((message) => 'answer' in message, STREAM_TIMEOUT_MS).then(() => this.#child.disconnect());
    whole.catch(() => this.kill());
    return endingWith(stdout, whole);
  }

  /** Sends SIGKILL. The task fails with the first reason given. */
  kill(why?: WinterdockError): void {
    this.#reason ??= why ?? null;
    this.#child.kill('SIGKILL');
  }

  /** Kills the process and waits for its exit. Idempotent. */
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
          if ('failure' in message) done(() => reject(deserializeError(message.failure)));
          else if (wanted(message)) done(() => resolve(message));
          else done(() => reject(new WinterdockError('internal', 'A bundle process sent an unexpected message.')));
        },
        fail: (error) => done(() => reject(error)),
      };
      if (!this.#child.connected) this.#settle((waiter) => waiter.fail(this.#exitError()));
    });
  }

  #take(message: unknown): void {
    try {
      const parsed = parseBundleMessage(message);
      this.#settle((waiter) => waiter.take(parsed));
    } catch {
      // An invalid message: the process is killed, and its task fails.
      this.kill();
    }
  }

  #settle(settle: (waiter: Waiter) => void): void {
    const waiter = this.#waiter;
    this.#waiter = null;
    if (waiter) settle(waiter);
  }

  #exitError(): WinterdockError {
    return (
      this.#reason ??
      new WinterdockError('internal', 'A bundle process ended before it answered.', { cause: new Error(this.#stderr) })
    );
  }
}

/** A stream that ends only after `whole` resolves, and fails when it rejects. */
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
    // The process has exited, which is reported elsewhere, or the system denies it: then it runs at normal priority.
  }
}

function aborted(): WinterdockError {
  return new WinterdockError('storage_unavailable', 'It was aborted.', { retryAfterSeconds: 5 });
}

function tooMuchMemory(): WinterdockError {
  return new WinterdockError('validation', 'It needs more memory than a bundle may.');
}

function tooLong(): WinterdockError {
  return new WinterdockError('storage_unavailable', `It took longer than ${TASK_TIMEOUT_MS / 60_000} minutes.`, {
    retryAfterSeconds: 60,
  });
}
