/**
 * Reads of VFS files in separate processes, so that SQL and large contents never block the server's thread and can be
 * killed. Owns the queue, its order, and what a process's death means; knows nothing of leases, which callers hold.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { createFileNow, performing, unlinkFile } from '../base/effects.ts';
import { storageFailure, WinterdockError } from '../base/errors.ts';
import { FairQueue } from '../base/fair-queue.ts';
import { hashFile } from '../base/hash-file.ts';
import { copyRegular } from '../base/strangers-file.ts';
import type { FileUser, HelperUsers, HelperWalls } from '../base/walls.ts';
import { JobQueue } from './job-queue.ts';
import { type FileCheck, GUEST_SQL, type ReaderJob, type ReaderJobResult, requireRequest } from './messages.ts';
import { inOwnFolder } from './own-folder.ts';
import { guestSqlOf, readDeathError, readersStopping } from './reader-errors.ts';
import { type JobLimits, ReaderDeath, ReaderProcess } from './reader-process.ts';
import { ReadyReaders } from './ready-readers.ts';
import type { MarkLimits, ReadAnswer, Readers, ReadRequest, ReadTarget, VfsCopy } from './types.ts';
import type { Volume } from './volumes.ts';

export interface ReadersOptions {
  /** Number of concurrent reads. */
  processes?: number;
  /** Largest file of a sandbox, in bytes; sets the memory limit of a process. */
  maxFileBytes: number;
  /** What stands around the processes. Default: nothing but their flags. */
  walls?: HelperWalls | null;
  /** A folder of unfinished work on the filesystem of a file (absolute). Default: the file's own. */
  stagingOf?: (path: string) => string;
  /**
   * A folder (absolute) for copies of files that are the server's alone: they are checked in the place of the files,
   * which nobody is given then. Default: the files are given to who reads them.
   */
  copiesIn?: string;
  /** Time limit of a query, and of reading tables, in milliseconds. */
  queryTimeoutMs?: number;
  log?: Logger;
}

interface Waiting {
  job: ReaderJob;
  /** Jobs that can take long. They never take the last free process. */
  slow: boolean;
  /** The tenant; empty for the server itself. */
  tenant: string;
  /** Whom its process becomes; null: nobody else. */
  user: FileUser | null;
  tries: number;
  resolve: (answer: ReaderJobResult) => void;
  reject: (error: unknown) => void;
}

const SLOW: ReadonlySet<ReadRequest['op']> = new Set([...GUEST_SQL, 'digests', 'search']);
const DEFAULT_PROCESSES = 2;
const QUERY_TIMEOUT_MS = 5000;
/**
 * Time limit of any other read, whose work is limited by file size and its own limits. Past this time the disk hangs.
 */
const READ_TIMEOUT_MS = 30_000;
const MAX_WAITING = 1024;
/** Reads that may wait for one tenant, so that no tenant fills the queue. */
const MAX_WAITING_EACH = 64;
/** Hashing runs at 230 MB/s or more; a niced process on a busy machine gets a fraction of that. */
const LONG_TIMEOUT_MS = 30 * 60_000;
const CHECK_MEMORY_BYTES = 512 * 1024 * 1024;
/** Number of concurrent copies. Their priority is slightly lower than that of interactive reads. */
const COPY_QUEUES = 2;
const COPY_NICENESS = 5;
const MIB = 1024 * 1024;

/** Creates the pool; no process runs before `start` or the first read. */
export function createReaders(options: ReadersOptions): Readers {
  return new ReaderPool(options);
}

class ReaderPool implements Readers {
  readonly #size: number;
  readonly #log: Logger | undefined;
  readonly #queryLimits: JobLimits;
  readonly #readLimits: JobLimits;
  readonly #users: HelperUsers | null;
  readonly #copiesIn: string | null;
  readonly #stagingOf: (path: string) => string;
  readonly #ready: ReadyReaders;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #running = new Set<Promise<void>>();
  readonly #checks: { background: JobQueue; urgent: JobQueue; packed: JobQueue };
  readonly #copies: readonly JobQueue[];
  #reading = 0;
  #slowRunning = 0;
  #started: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;

  constructor(options: ReadersOptions) {
    this.#size = options.processes ?? DEFAULT_PROCESSES;
    this.#log = options.log;
    // A content passes through the memory of SQLite, the process and the channel.
    const memoryBytes = 384 * MIB + 6 * options.maxFileBytes;
    this.#queryLimits = { timeoutMs: options.queryTimeoutMs ?? QUERY_TIMEOUT_MS, memoryBytes };
    this.#readLimits = { timeoutMs: READ_TIMEOUT_MS, memoryBytes };
    const checkLimits = { timeoutMs: LONG_TIMEOUT_MS, memoryBytes: CHECK_MEMORY_BYTES };
    const { maxFileBytes, walls = null } = options;
    const start = (niceness: number) => ({ niceness, maxFileBytes, walls });
    this.#users = walls?.users ?? null;
    this.#copiesIn = options.copiesIn ?? null;
    this.#stagingOf = options.stagingOf ?? dirname;
    this.#ready = new ReadyReaders({
      size: this.#size,
      start: () => ReaderProcess.start(start(0)),
      onReady: () => this.#pump(),
      onShort: (error) => this.#refuseWaiting(error),
      log: this.#log,
    });
    this.#checks = {
      background: new JobQueue('check', start(19), checkLimits),
      urgent: new JobQueue('check', start(0), checkLimits),
      packed: new JobQueue('check', start(19), checkLimits),
    };
    const copyLimits = { timeoutMs: LONG_TIMEOUT_MS, memoryBytes };
    this.#copies = Array.from({ length: COPY_QUEUES }, () => new JobQueue('copy', start(COPY_NICENESS), copyLimits));
  }

  async read<R extends ReadRequest>(
    target: ReadTarget,
    request: R,
    tenant = '',
  ): Promise<Extract<ReadAnswer, { op: R['op'] }>> {
    requireRequest(request);
    const job: ReaderJob = { kind: 'read', target, request };
    const answer = await this.#give(job, { slow: SLOW.has(request.op), tenant, user: this.#readerOf(target) });
    if (!('op' in answer) || answer.op !== request.op) {
      throw new WinterdockError('internal', `A reader did not answer ${request.op}.`);
    }
    return answer as Extract<ReadAnswer, { op: R['op'] }>;
  }

  async check(path: string, { urgent = false, packed = false } = {}): Promise<FileCheck> {
    if (this.#stopped) throw readersStopping();
    const queue = packed ? this.#checks.packed : urgent ? this.#checks.urgent : this.#checks.background;
    const users = this.#users;
    const folder = this.#copiesIn;
    if (folder !== null && users !== null && users.readerAsItIs(path) === null) {
      const copy = join(folder, randomUUID());
      try {
        await copyRegular(path, copy, constants.COPYFILE_FICLONE);
        return await this.#checkAs(queue, { kind: 'check', path: copy, packed }, () => users.reading(copy));
      } finally {
        await unlinkFile(copy);
      }
    }
    const userOf = folder === null ? users?.reading : users?.readerAsItIs;
    return this.#checkAs(queue, { kind: 'check', path, packed }, () => userOf?.(path) ?? null);
  }

  async #checkAs(queue: JobQueue, job: ReaderJob, userOf: () => FileUser | null): Promise<FileCheck> {
    const answer = await queue.run(job, userOf);
    if ('quickCheck' in answer) return answer;
    throw new WinterdockError('internal', 'A reader did not answer a check.');
  }

  async copyComplete(from: string | null, path: string): Promise<string | null> {
    const queue = this.#copyQueue();
    const users = this.#users;
    const owner = from === null ? null : (users?.ownerOf(from) ?? null);
    // What is the server's own is read as the server's user, who is not given anything then.
    const isLent = users !== null && (from === null || owner !== null);
    const userOf = () => (isLent ? users.lend(dirname(path), owner ?? undefined) : null);
    try {
      const work = () => queue.run({ kind: 'whole', from, path }, userOf, { alone: users !== null });
      const answer = await performing({ kind: 'delegate', path }, work);
      if ('whole' in answer) return answer.complaint;
      throw new WinterdockError('internal', 'A reader did not answer a copy.');
    } finally {
      if (isLent) users.takeBack(dirname(path));
    }
  }

  async copy(
    target: ReadTarget,
    path: string,
    {
      volumes,
      strict = false,
      durable = true,
      sha256 = null,
    }: { volumes: readonly Volume[]; strict?: boolean; durable?: boolean; sha256?: string | null },
  ): Promise<VfsCopy> {
    const queue = this.#copyQueue();
    const job: ReaderJob = { kind: 'copy', target, path, volumes: [...volumes], strict, durable, sha256 };
    const users = this.#users;
    try {
      const answer = await performing({ kind: 'delegate', path }, () =>
        users === null ? queue.run(job, () => null) : this.#copyAs(users, queue, job),
      );
      if ('volumes' in answer && 'sha256' in answer) return answer;
      throw new WinterdockError('internal', 'A reader did not answer a copy.');
    } catch (error) {
      // A killed process leaves its unfinished output behind.
      await unlinkFile(path);
      throw storageFailure(error) ?? error;
    }
  }

  #copyQueue(): JobQueue {
    if (this.#stopped) throw readersStopping();
    const [queue] = this.#copies.toSorted((a, b) => a.load - b.load);
    if (queue === undefined) throw new WinterdockError('internal', 'There is no process for copies.');
    return queue;
  }

  /** The process writes into a file that it is given. What it has written is hashed once nobody writes it any more. */
  async #copyAs(users: HelperUsers, queue: JobQueue, job: ReaderJob & { kind: 'copy' }): Promise<ReaderJobResult> {
    const { path } = job;
    const userOf = () => {
      const user = this.#readerOf(job.target);
      createFileNow(path);
      if (user !== null) users.give(path, user);
      return user;
    };
    try {
      const answer = await queue.run({ ...job, made: true }, userOf, { alone: true });
      users.takeBack(path);
      return { ...answer, ...(await hashFile(path)) };
    } finally {
      users.takeBack(path);
    }
  }

  async breakOffCopies(): Promise<void> {
    await Promise.all(this.#copies.map((queue) => queue.stop()));
  }

  async hash(path: string): Promise<string> {
    const answer = await this.#give(
      { kind: 'hash', path },
      { slow: false, tenant: '', user: this.#readerOf({ path, mode: 'rest' }) },
    );
    if ('hashed' in answer) return answer.hashed;
    throw new WinterdockError('internal', 'A reader did not answer a hash.');
  }

  async settle(path: string, { keepsFrames = false } = {}): Promise<string | null> {
    const answer = await this.#write(path, (at) => ({ kind: 'settle', path: at, keepsFrames }));
    if ('settled' in answer) return answer.identity;
    throw new WinterdockError('internal', 'A reader did not answer that it settled a file.');
  }

  async mark(path: string, limits: MarkLimits): Promise<string | null> {
    const answer = await this.#write(path, (at) => ({ kind: 'mark', path: at, ...limits }));
    if ('settled' in answer) return answer.identity;
    throw new WinterdockError('internal', 'A reader did not answer that it marked a file.');
  }

  /** Has a job done that writes the file at a path. */
  #write(path: string, jobOf: (path: string) => ReaderJob): Promise<ReaderJobResult> {
    const users = this.#users;
    const here = { slow: false, tenant: '' };
    return performing({ kind: 'delegate', path }, () =>
      users === null
        ? this.#give(jobOf(path), { ...here, user: null })
        : inOwnFolder(users, path, this.#stagingOf, (at, user) => this.#give(jobOf(at), { ...here, user })),
    );
  }

  /** Starts every process; idempotent. Throws `capacity` when one cannot be started. */
  start(): Promise<void> {
    this.#started ??= this.#ready.fill().catch((error: unknown) => {
      this.#started = null;
      throw error;
    });
    return this.#started;
  }

  /**
   * Refuses waiting reads, lets running reads finish, aborts checks (they can be repeated) and ends every process;
   * idempotent.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #give(
    job: ReaderJob,
    { slow, tenant, user }: Pick<Waiting, 'slow' | 'tenant' | 'user'>,
  ): Promise<ReaderJobResult> {
    await this.start();
    if (this.#stopped) throw readersStopping();
    if (job.kind === 'read') this.#requirePlace(tenant);
    return new Promise<ReaderJobResult>((resolve, reject) => {
      this.#waiting.add(tenant, { job, slow, tenant, user, tries: 0, resolve, reject });
      this.#pump();
    });
  }

  #readerOf({ path, mode }: ReadTarget): FileUser | null {
    if (this.#users === null) return null;
    return mode === 'rest' ? this.#users.reading(path) : (this.#users.ownerOf(path) ?? this.#users.nobody);
  }

  #requirePlace(tenant: string): void {
    const isFull = tenant !== '' && this.#waiting.lengthOf(tenant) >= MAX_WAITING_EACH;
    if (!isFull && this.#waiting.length < MAX_WAITING) return;
    const says = isFull
      ? `${MAX_WAITING_EACH} reads of this tenant are waiting already.`
      : `${MAX_WAITING} reads are waiting already.`;
    throw new WinterdockError('rate_limited', says, { retryAfterSeconds: 1 });
  }

  async #stop(): Promise<void> {
    for (const waiting of this.#waiting.clear()) waiting.reject(readersStopping());
    await this.#started?.catch(() => undefined);
    await Promise.all(this.#running);
    await Promise.all([this.breakOffCopies(), ...Object.values(this.#checks).map((queue) => queue.stop())]);
    await this.#ready.stop();
  }

  /** Nobody waits for a process that may never start: only for one that reads. */
  #refuseWaiting(error: unknown): void {
    if (this.#reading > 0) return;
    for (const waiting of this.#waiting.clear()) waiting.reject(error);
  }

  #pump(): void {
    while (this.#reading < this.#size) {
      const slowAllowed = this.#slowRunning < Math.max(1, this.#size - 1);
      const waiting = this.#waiting.take((one) => (slowAllowed || !one.slow) && this.#ready.has(one.user));
      const process = waiting && this.#ready.take(waiting.user);
      if (!waiting || !process) return;
      const running = this.#run(process, waiting).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  async #run(process: ReaderProcess, waiting: Waiting): Promise<void> {
    const { job, slow, user } = waiting;
    waiting.tries += 1;
    this.#reading += 1;
    if (slow) this.#slowRunning += 1;
    try {
      const limits = guestSqlOf(job) !== null ? this.#queryLimits : this.#readLimits;
      waiting.resolve(await process.run(job, limits, user));
    } catch (error) {
      this.#failed(waiting, error);
    } finally {
      this.#reading -= 1;
      if (slow) this.#slowRunning -= 1;
      this.#ready.giveBack(process);
      this.#pump();
    }
  }

  #failed(waiting: Waiting, error: unknown): void {
    if (!(error instanceof ReaderDeath)) {
      waiting.reject(error);
      return;
    }
    const { job } = waiting;
    this.#log?.warn({ job: job.kind, why: error.why, detail: error.message }, 'a reader ended during a job');
    if (error.why === 'crash' && waiting.tries === 1 && !this.#stopped)
      this.#waiting.add(waiting.tenant, waiting, { again: true });
    else waiting.reject(readDeathError(job, error, this.#queryLimits.timeoutMs));
  }
}
