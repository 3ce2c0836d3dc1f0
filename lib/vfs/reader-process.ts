/**
 * The server's side of one reader process: starts it, gives it one job at a time and ends it. Owns the limits of a job;
 * knows nothing of queues.
 */
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { entryOf } from '../base/bundled.ts';
import { WinterdockError } from '../base/errors.ts';
import { compiledOnce } from '../base/helper-cache.ts';
import { type HelperStart, type StartedHelper, startHelper } from '../base/helper-start.ts';
import { privateBytes } from '../base/resident-memory.ts';
import { deserializeError } from '../base/serialized-error.ts';
import type { FileUser, HelperWalls } from '../base/walls.ts';
import { parseFromReader, type ReaderJob, type ReaderJobResult } from './messages.ts';

/** `disk`: it failed below a file that the process had mapped. */
export type JobDeath = 'timeout' | 'memory' | 'crash' | 'disk';

/** The process ended before it answered. */
export class ReaderDeath extends Error {
  readonly why: JobDeath;

  constructor(why: JobDeath, detail: string) {
    super(detail);
    this.name = 'ReaderDeath';
    this.why = why;
  }
}

export interface JobLimits {
  timeoutMs: number;
  /** Memory at which the process is ended, files that it maps aside. */
  memoryBytes: number;
}

interface Pending {
  id: number;
  resolve: (answer: ReaderJobResult) => void;
  reject: (error: unknown) => void;
}

const ENTRY = fileURLToPath(new URL('./reader.ts', import.meta.url));
const START_TIMEOUT_MS = 30_000;
const MEMORY_INTERVAL_MS = 50;
const STDERR_TAIL = 2000;

/** Small heaps: contents are stored outside them, and the largest text searched at once is 8 MiB. */
const FLAGS = ['--no-warnings', '--max-old-space-size=128', '--max-semi-space-size=1', '--v8-pool-size=1'];
export interface ReaderStart {
  /** 0 to 19. */
  niceness: number;
  /** Most bytes of a content. */
  maxFileBytes: number;
  walls: HelperWalls | null;
}

export class ReaderProcess {
  readonly #channel: StartedHelper['channel'];
  readonly #id: StartedHelper['id'];
  readonly #exited: Promise<void>;
  #pending: { id: number; resolve: (answer: ReaderJobResult) => void; reject: (error: unknown) => void } | null = null;
  #nextId = 1;
  #why: JobDeath = 'crash';
  #stderr = '';
  #isKilled = false;
  /** Whose files it has opened, and whose alone it opens from then on. Null: it has opened none. */
  user: FileUser | null = null;

  private constructor({ child, channel, id, exited }: StartedHelper) {
    this.#channel = channel;
    this.#id = id;
    this.#exited = exited.then((how) => {
      if (how === 'SIGBUS') this.#why = 'disk';
      const detail = `A reader ended (${how}). ${this.#stderr}`.trim();
      this.#settle((pending) => pending.reject(new ReaderDeath(this.#why, detail)));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
  }

  /**
   * Starts a process and waits until it takes jobs. Of the server's environment it gets only the compile cache, and
   * behind walls not that. Throws `capacity` when it ends or stays silent for 30 s.
   */
  static async start({ niceness, maxFileBytes, walls }: ReaderStart): Promise<ReaderProcess> {
    const cache = process.env.NODE_COMPILE_CACHE;
    const start: HelperStart = {
      entry: entryOf('reader', ENTRY),
      flags: FLAGS,
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      stdout: 'ignore',
      mostBytes: maxFileBytes,
      walls,
    };
    await compiledOnce(start);
    const helper = startHelper(start);
    const reader = new ReaderProcess(helper);
    await reader.#ready();
    lower(helper.id.pid, niceness);
    helper.channel.onMessage((message) => reader.#take(message));
    return reader;
  }

  /** False as soon as it is killed, disconnected or gone. */
  get alive(): boolean {
    return this.#channel.isOpen && !this.#isKilled;
  }

  /** Resolves when the process is gone. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  /** Whether it may open files as this user. */
  mayServe(user: FileUser | null): boolean {
    return this.user === null || (this.user.uid === user?.uid && this.user.gid === user.gid);
  }

  /**
   * Runs one job as a user; null: as who it is. Throws the job's own error, or ReaderDeath when the process ends first.
   */
  run(job: ReaderJob, limits: JobLimits, user: FileUser | null): Promise<ReaderJobResult> {
    this.user ??= user;
    if (this.#pending) throw new WinterdockError('internal', 'A reader was given a second job.');
    const id = this.#nextId;
    this.#nextId += 1;
    const timeout = setTimeout(() => this.kill('timeout'), limits.timeoutMs);
    const memory = setInterval(() => {
      if (privateBytes(this.#id.pid) > limits.memoryBytes) this.kill('memory');
    }, MEMORY_INTERVAL_MS);
    const answered = new Promise<ReaderJobResult>((resolve, reject) => {
      this.#pending = { id, resolve, reject };
    });
    if (this.#channel.isOpen) this.#channel.send({ id, job, user });
    else this.#settle((pending) => pending.reject(new ReaderDeath('crash', 'A reader was gone before its job.')));
    return answered.finally(() => {
      clearTimeout(timeout);
      clearInterval(memory);
    });
  }

  /** Sends SIGKILL. The job's error names the first reason given. */
  kill(why: JobDeath): void {
    if (this.#why === 'crash') this.#why = why;
    this.#end();
  }

  /** Lets an idle process end by itself and waits for it. */
  async end(): Promise<void> {
    this.#channel.close();
    const late = setTimeout(() => this.#end(), 2000);
    await this.#exited;
    clearTimeout(late);
  }

  async #ready(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const silent = new Promise<'silent'>((resolve) => {
      timer = setTimeout(() => resolve('silent'), START_TIMEOUT_MS);
    });
    const said = new Promise<void>((resolve) => this.#channel.onMessage(() => resolve()));
    // Its limits are those of the process itself.
    const ready = said.then(() => this.#id.known).then(() => 'ready' as const);
    const first = await Promise.race([ready, silent, this.#exited.then(() => 'ended' as const)]);
    clearTimeout(timer);
    if (first === 'ready') return;
    this.#end();
    throw new WinterdockError('capacity', 'A reader process could not be started.', {
      retryAfterSeconds: 1,
      cause: new Error(
        `It ${first === 'silent' ? `said nothing for ${START_TIMEOUT_MS} ms` : 'ended'}. ${this.#stderr}`.trim(),
      ),
    });
  }

  #end(): void {
    this.#isKilled = true;
    this.#id.signal('SIGKILL');
  }

  #take(message: unknown): void {
    try {
      const reply = parseFromReader(message);
      if ('ready' in reply || reply.id !== this.#pending?.id) return;
      this.#settle((pending) =>
        'failure' in reply ? pending.reject(deserializeError(reply.failure)) : pending.resolve(reply.answer),
      );
    } catch {
      // A reader that breaks the protocol is killed, and its job fails.
      this.kill('crash');
    }
  }

  #settle(end: (pending: Pending) => void): void {
    const pending = this.#pending;
    this.#pending = null;
    if (pending) end(pending);
  }
}

function lower(pid: number, niceness: number): void {
  if (niceness === 0) return;
  try {
    setPriority(pid, niceness);
  } catch {
    // The process has exited, which is reported elsewhere, or the system denies it: then it runs at normal priority.
  }
}
