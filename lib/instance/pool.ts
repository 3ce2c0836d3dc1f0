/**
 * The pool of workers: starts them ahead of need, hands one to each file and replaces it. Enforces the limits of places
 * and memory.
 */

import { join } from 'node:path';
import { makeFolderNow, removeTreeNow } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { compileCacheFolder, isEmptyFolder } from './compile-cache.ts';
import { HEALTH_CHECK_TIMES, type HealthCheckTimes } from './health-check.ts';
import type { Claim, InstancePool, InstanceProcess, MemoryUse, OpenSpec } from './instance.ts';
import { MemoryBudget, MIN_PROCESS_BYTES } from './memory-budget.ts';
import { startWorker, type Worker, type WorkerOptions } from './process.ts';
import { SupervisedInstance } from './supervisor.ts';

export interface PoolOptions {
  /** Workers to keep started ahead of need. */
  size: number;
  /** Maximum number of processes that serve sandboxes at the same time. */
  maxActive: number;
  /** Memory budget of all processes in bytes; null or undefined: no limit. */
  memoryBytes?: number | null;
  /** Absolute path. Workers read and write its live drawer, and nothing else in it. */
  dataFolder: string;
  /**
   * Absolute path of the parent of the workers' compile cache. Only this server and its workers may write to it.
   * Default: `cache` in the data folder.
   */
  cacheFolder?: string;
  /** Milliseconds that a worker may take to start. */
  maxStartMs?: number;
  log?: Logger;
  /** How often idle processes are checked, and how long a process that is needed may take to answer. */
  healthCheckTimes?: HealthCheckTimes;
}

const MIB = 1024 * 1024;
const MAX_START_MS = 30_000;
/**
 * Delay from a hand-off to the start of the next worker, in milliseconds. A wake with its first call takes about five.
 */
const REFILL_MS = 25;
/** Delay before the next attempt after a failed start, in milliseconds. */
const RETRY_MS = 1000;

function noPlace(maxActive: number): WinterdockError {
  return new WinterdockError('capacity', `All ${maxActive} places for running sandboxes are taken.`, {
    hint: 'Suspend one, or wait until one idles.',
    retryAfterSeconds: 5,
  });
}

function noMemory({ servingBytes, limitBytes }: MemoryUse): WinterdockError {
  const [taken, limit] = [servingBytes, limitBytes ?? 0].map((bytes) => Math.round(bytes / MIB));
  return new WinterdockError(
    'capacity',
    `The processes of sandboxes take ${taken} MiB of the ${limit} MiB of memory that they have together (WB_MEMORY); one more has no room.`,
    { hint: 'Wait until one idles, suspend one that is kept hot, or give them more memory.', retryAfterSeconds: 5 },
  );
}

/** Creates the pool; nothing runs before `start` or the first `open`. */
export function createPool(options: PoolOptions): InstancePool {
  return new Pool(options);
}

class Pool implements InstancePool {
  readonly #options: PoolOptions;
  readonly #workerOptions: WorkerOptions;
  readonly #healthCheckTimes: HealthCheckTimes;
  readonly #ready: Worker[] = [];
  readonly #starting = new Set<Worker>();
  readonly #serving = new Set<SupervisedInstance>();
  readonly #budget: MemoryBudget;
  /** Number of claims that are not released. */
  #claims = 0;
  /** True when the memory budget leaves room for fewer spare workers than `size`. */
  #shortOfSpares = false;
  #stopped: Promise<void> | null = null;
  #compiling: Worker | null = null;
  #isStarted = false;
  #healthTimer: NodeJS.Timeout | null = null;

  constructor(options: PoolOptions) {
    const { dataFolder, cacheFolder = join(dataFolder, 'cache'), maxStartMs = MAX_START_MS } = options;
    this.#options = options;
    this.#healthCheckTimes = options.healthCheckTimes ?? HEALTH_CHECK_TIMES;
    this.#budget = new MemoryBudget(options.memoryBytes ?? null, this.#serving);
    makeFolderNow(join(dataFolder, 'live'));
    const spillFolder = join(dataFolder, 'spill');
    this.#workerOptions = { dataFolder, spillFolder, cacheFolder: compileCacheFolder(cacheFolder), maxStartMs };
  }

  get ready(): number {
    return this.#ready.length;
  }

  get active(): number {
    return this.#serving.size;
  }

  get shortage(): 'places' | 'memory' | null {
    if (this.#stopped !== null || this.#serving.size + this.#claims >= this.#options.maxActive) return 'places';
    return this.#budget.fits(this.#claims + 1) ? null : 'memory';
  }

  get memory(): MemoryUse {
    const { limitBytes, servingBytes } = this.#budget;
    return {
      limitBytes,
      servingBytes: servingBytes + this.#claims * MIN_PROCESS_BYTES,
      spareBytes: this.#spareCount * MIN_PROCESS_BYTES,
    };
  }

  claim(): Claim {
    this.#requireCapacity();
    this.#claims += 1;
    let isReleased = false;
    return {
      release: () => {
        if (!isReleased) this.#claims -= 1;
        isReleased = true;
      },
    };
  }

  #requireCapacity(): void {
    const shortage = this.shortage;
    if (shortage === null) return;
    throw shortage === 'places' ? noPlace(this.#options.maxActive) : noMemory(this.memory);
  }

  open(spec: OpenSpec): InstanceProcess {
    this.#requireCapacity();
    const worker = this.#ready.shift() ?? this.#takeStartingWorker() ?? startWorker(this.#workerOptions);
    const instance = new SupervisedInstance(worker, spec, this.#healthCheckTimes.giveUpAfterMs);
    this.#serving.add(instance);
    this.#dropSpares();
    this.#healthTimer ??= setInterval(() => {
      for (const serving of this.#serving) serving.check();
    }, this.#healthCheckTimes.checkEveryMs).unref();
    void instance.ended.then(() => {
      this.#serving.delete(instance);
    });
    // Starting a process blocks this thread for some milliseconds. The first answer of the process just handed out goes
    // first.
    setTimeout(() => this.#fill(), REFILL_MS).unref();
    return instance;
  }

  /** A worker that is still starting handles its messages once it is ready. */
  #takeStartingWorker(): Worker | undefined {
    const [worker] = this.#starting;
    if (worker !== undefined) this.#starting.delete(worker);
    return worker;
  }

  async start(): Promise<void> {
    // Spill files have no names. A process killed between creating one and unlinking it leaves an empty file.
    removeTreeNow(this.#workerOptions.spillFolder);
    if (isEmptyFolder(this.#workerOptions.cacheFolder)) await this.#compile();
    this.#isStarted = true;
    // Spare workers may use the memory that sandboxes have freed.
    this.#budget.start(() => {
      this.#dropSpares();
      if (this.#shortOfSpares) this.#fill();
    });
    this.#fill();
    await Promise.all([...this.#starting].map((worker) => worker.ready));
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    if (this.#healthTimer !== null) clearInterval(this.#healthTimer);
    this.#budget.stop();
    const spare = [...this.#ready.splice(0), ...this.#starting, ...(this.#compiling ? [this.#compiling] : [])];
    for (const worker of spare) worker.child.kill('SIGKILL');
    await Promise.all(spare.map((worker) => worker.exited));
    await Promise.all([...this.#serving].map((instance) => instance.kill('killed')));
  }

  /** The first worker compiles for all that follow and uses half as much memory again. It serves no sandbox. */
  async #compile(): Promise<void> {
    const worker = startWorker(this.#workerOptions, { compile: true });
    this.#compiling = worker;
    try {
      await worker.ready;
    } catch (error) {
      // If the code is broken, the pool's own workers fail and report it too.
      this.#options.log?.warn({ err: error }, 'compiling the code of workers failed');
    } finally {
      worker.child.kill('SIGKILL');
      await worker.exited;
      this.#compiling = null;
    }
  }

  get #spareCount(): number {
    return this.#ready.length + this.#starting.size;
  }

  #fill(): void {
    this.#shortOfSpares = false;
    while (this.#isStarted && this.#stopped === null && this.#spareCount < this.#options.size) {
      if (!this.#budget.fits(this.#claims + this.#spareCount + 1)) {
        this.#shortOfSpares = true;
        return;
      }
      this.#startSpare();
    }
  }

  /** Ends spare workers until the rest fits the memory that sandboxes leave. */
  #dropSpares(): void {
    while (this.#spareCount > 0 && !this.#budget.fits(this.#claims + this.#spareCount)) {
      this.#shortOfSpares = true;
      const worker = this.#takeStartingWorker() ?? this.#ready.pop();
      worker?.child.kill('SIGKILL');
    }
  }

  #startSpare(): void {
    const worker = startWorker(this.#workerOptions);
    this.#starting.add(worker);
    worker.ready.then(
      () => {
        if (this.#starting.delete(worker)) this.#ready.push(worker);
      },
      (error) => {
        // A worker that was already handed out reports its failure to its owner.
        if (!this.#starting.delete(worker) || this.#stopped !== null) return;
        // The cause is the worker's stderr, which names paths of the machine: only the log gets it.
        this.#options.log?.error({ err: error, stderr: error.cause }, 'a worker did not start');
        setTimeout(() => this.#fill(), RETRY_MS).unref();
      },
    );
    void worker.exited.then(() => {
      const at = this.#ready.indexOf(worker);
      if (at < 0) return;
      this.#ready.splice(at, 1);
      this.#fill();
    });
  }
}
