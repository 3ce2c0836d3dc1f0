/**
 * The server's side of a bundle process: starts it for one bundle, sends it tasks and ends it. Owns its time and memory
 * limits; knows nothing of what a task does.
 */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { entryOf } from '../base/bundled.ts';
import { WinterdockError } from '../base/errors.ts';
import { HelperProcess } from '../base/helper-process.ts';
import type { FileUser, HelperUsers, HelperWalls } from '../base/walls.ts';
import { FOLDER_MARK, SERVER_MARK, serverMark } from '../workers/process.ts';
import {
  type BundleAnswerTo,
  type BundleMessage,
  type BundleTask,
  type LeftOutSummary,
  parseBundleMessage,
  type ToBundleProcess,
} from './messages.ts';

const SOURCE = fileURLToPath(new URL('./worker.ts', import.meta.url));
/**
 * A gigabyte takes well under a minute. After this time the disk hangs, or the upload is crafted to take forever.
 */
const TASK_TIMEOUT_MS = 15 * 60_000;
/** A stream is as slow as its client. */
const STREAM_TIMEOUT_MS = 60 * 60_000;
const MEMORY_INTERVAL_MS = 100;
const EXEC_ARGV = ['--no-warnings', '--max-old-space-size=192', '--max-semi-space-size=4', '--v8-pool-size=1'];

export interface BundleProcessOptions {
  dataFolder: string;
  /** What stands around it beside its flags. */
  walls: HelperWalls | null;
  /** The folder that its tasks are about: with walls it is lent to the process while that runs. */
  folder: string;
  /** Absolute path of the folder of the server's compile caches. */
  cacheFolder: string;
  /** The process is ended above this memory, in bytes, files that it maps aside. */
  memoryBytes: number;
  /** When one of them is aborted, the process is ended and its task fails. */
  signals: readonly AbortSignal[];
}

export class BundleProcess {
  readonly #process: HelperProcess<BundleMessage>;
  readonly #users: HelperUsers | null;
  readonly #folder: string;
  #user: FileUser | null = null;
  #isLent = false;

  private constructor(process: HelperProcess<BundleMessage>, { walls, folder }: BundleProcessOptions) {
    this.#process = process;
    this.#users = walls?.users ?? null;
    this.#folder = folder;
  }

  /** Starts a process and waits until it is ready. Throws `capacity`, and `storage_unavailable` when it is aborted. */
  static async start(options: BundleProcessOptions): Promise<BundleProcess> {
    return new BundleProcess(
      await HelperProcess.start({
        name: 'bundle',
        entry: entryOf('bundle', SOURCE),
        flags: EXEC_ARGV,
        env: {
          // A cache of its own: a process that reads hostile files must never write code that other processes run.
          NODE_COMPILE_CACHE: join(options.cacheFolder, 'bundles'),
          [FOLDER_MARK]: options.dataFolder,
          [SERVER_MARK]: serverMark(process.pid),
        },
        walls: options.walls,
        stdout: 'pipe',
        memoryBytes: options.memoryBytes,
        memoryIntervalMs: MEMORY_INTERVAL_MS,
        signals: options.signals,
        aborted,
        tooMuchMemory,
        parse: parseBundleMessage,
      }),
      options,
    );
  }

  /** Runs one task. Throws the task's error, or the reason why the process ended before its answer. */
  async run<T extends BundleTask>(task: T): Promise<BundleAnswerTo<T['kind']>> {
    this.#process.send({ task, user: this.#lend() } satisfies ToBundleProcess);
    const message = await this.#process.next((one) => 'answer' in one, TASK_TIMEOUT_MS, tooLong);
    if ('answer' in message && message.answer.kind === task.kind) return message.answer as BundleAnswerTo<T['kind']>;
    throw new WinterdockError('internal', `A bundle process did not answer ${task.kind}.`);
  }

  /**
   * Starts a task that writes to standard output. Resolves with that stream, and with what it leaves out, when all
   * checks before the first byte have passed. The stream fails when the task fails, so that a truncated output never
   * looks complete.
   */
  async stream(
    task: Extract<BundleTask, { kind: 'checkout' }>,
  ): Promise<{ output: Readable; leftOut: LeftOutSummary }> {
    const { stdout } = this.#process;
    if (stdout === null) throw new WinterdockError('internal', 'A bundle process has no output.');
    // Node throws away what a process wrote and nobody listens for when it ends, and the reader may come later.
    stdout.on('readable', () => undefined);
    this.#process.send({ task, user: this.#lend() } satisfies ToBundleProcess);
    const first = await this.#process.next((message) => 'begun' in message, TASK_TIMEOUT_MS, tooLong);
    if (!('begun' in first)) throw new WinterdockError('internal', 'A bundle process did not begin.');
    // The output ends with the process. What it wrote before its answer is still read.
    const answered = this.#process.next((message) => 'answer' in message, STREAM_TIMEOUT_MS, tooLong);
    const whole = answered.then(() => this.#process.disconnect());
    whole.catch(() => this.kill());
    return { output: endingWith(stdout, whole), leftOut: first.begun.leftOut };
  }

  /** Sends SIGKILL. The task fails with the first reason given. */
  kill(why?: WinterdockError): void {
    this.#process.kill(why);
  }

  /** Kills the process and waits for its exit; what it made is the server's then. Idempotent. */
  async end(): Promise<void> {
    this.kill();
    await this.#process.exited;
    this.#process.stdout?.destroy();
    if (!this.#isLent) return;
    this.#isLent = false;
    this.#users?.takeBack(this.#folder);
  }

  /** Whom the process becomes, or is: what lies in the folder by now is theirs. */
  #lend(): FileUser | null {
    if (this.#users === null) return null;
    this.#user = this.#users.lend(this.#folder, this.#user ?? undefined);
    this.#isLent = true;
    return this.#user;
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
