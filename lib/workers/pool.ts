/**
 * The pool of workers: starts them ahead of need and for those who wait, as many at a time as there are processors, and
 * hands one to each file. Enforces the limits of places and memory.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createFileNow, makeFolderNow } from '../base/effects.ts';
import type { Logger } from '../base/log.ts';
import { FILES_OF_WORKER, requireDescriptorsFor } from '../base/open-files.ts';
import { isThereNow } from '../base/strangers-file.ts';
import { compileCacheFolder, isEmptyFolder } from './compile-cache.ts';
import { setNiceness } from './cpu-use.ts';
import { DiskWatch, mostOnDisk } from './disk-watch.ts';
import { GiveWay } from './give-way.ts';
import { HEALTH_CHECK_TIMES, type HealthCheckTimes } from './health-check.ts';
import { MemoryBudget, MIN_PROCESS_BYTES } from './memory-budget.ts';
import type { NativeBackend } from './native/native-backend.ts';
import type { NativeInstance } from './native/native-instance.ts';
import { PoolClaim } from './pool-claim.ts';
import { noMemory, noNativeInMemory, noNatives, noPlace, stopping } from './pool-errors.ts';
import { emptySpillFolder, runNiceness, startWorker, type Worker, type WorkerOptions } from './process.ts';
import { ProcessGroup } from './process-group.ts';
import type { FetchHost } from './protocol/fetch-messages.ts';
import type { Claim, InstancePool, InstanceProcess, MemoryUse, OpenSpec } from './protocol/instance.ts';
import { DEFAULT_POLICY, isNative } from './protocol/policies.ts';
import { SupervisedInstance } from './supervisor.ts';
import { giveSandbox } from './walls/user.ts';

export interface PoolOptions extends Pick<WorkerOptions, 'hold' | 'walls'> {
  /** Workers to keep started ahead of need. */
  size: number;
  /** Maximum number of sandboxes that have a process at the same time. */
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
  /** Answers what sandboxes ask of the network. */
  fetch?: FetchHost;
  /** Real programs, or why there are none. Default: there are none. */
  native?: NativeBackend;
  /** How often idle processes are checked, and how long a process that is needed may take to answer. */
  healthCheckTimes?: Partial<HealthCheckTimes>;
}

const MAX_START_MS = 30_000;
/**
 * Delay from a hand-off to the start of the next worker, in milliseconds. A wake with its first call takes about five.
 */
const REFILL_MS = 25;
/** Workers that start at the same time: one more than processors, for one waits for the disk or for this thread. */
const PARALLEL_STARTS = availableParallelism() + 1;
/** Delay before the next attempt after a failed start, in milliseconds. */
const RETRY_MS = 1000;

/** An awake file of real programs has what they wrote beside what rests: twice its size, and a log. */
const NATIVE_GROWTH = 3;

/** Creates the pool; nothing runs before `start` or the first `open`. */
export function createPool(options: PoolOptions): InstancePool {
  return new Pool(options);
}

class Pool implements InstancePool {
  readonly #options: PoolOptions;
  readonly #workerOptions: WorkerOptions;
  readonly #healthCheckTimes: HealthCheckTimes;
  readonly #ready: Worker[] = [];
  startedAhead = 0;
  readonly #starting = new Set<Worker>();
  readonly #diskWatch = new DiskWatch();
  /** Sandboxes that have a process, and all their processes. */
  readonly #serving = new Set<ProcessGroup | NativeInstance>();
  readonly #processes = new Set<SupervisedInstance | NativeInstance>();
  readonly #budget: MemoryBudget;
  /** Claims that are neither opened nor released. */
  readonly #claims = new Set<PoolClaim>();
  /** Those of them that have no worker yet, first come first. */
  readonly #waiting: PoolClaim[] = [];
  readonly #giveWay = new GiveWay(() => [...[...this.#starting].slice(this.#waiting.length), ...this.#ready]);
  #target: number;
  /** True when the memory budget leaves room for fewer spare workers than `size`. */
  #shortOfSpares = false;
  #stopped: Promise<void> | null = null;
  #compiling: Worker | null = null;
  #isStarted = false;
  #healthTimer: NodeJS.Timeout | null = null;

  constructor(options: PoolOptions) {
    const { dataFolder, cacheFolder = join(dataFolder, 'cache'), maxStartMs = MAX_START_MS, walls } = options;
    this.#options = options;
    this.#target = options.size;
    this.#healthCheckTimes = { ...HEALTH_CHECK_TIMES, ...options.healthCheckTimes };
    this.#budget = new MemoryBudget(options.memoryBytes ?? null, this.#processes);
    makeFolderNow(join(dataFolder, 'live'));
    const spillFolder = join(dataFolder, 'spill');
    const compiled = compileCacheFolder(cacheFolder, walls?.user?.uid);
    this.#workerOptions = { dataFolder, spillFolder, cacheFolder: compiled, maxStartMs, walls, hold: options.hold };
  }

  get ready(): number {
    return this.#ready.length;
  }

  get active(): number {
    return this.#serving.size;
  }

  get claimed(): number {
    return this.#claims.size;
  }

  get shortage(): 'places' | 'memory' | null {
    if (this.#stopped !== null || this.#serving.size + this.#claims.size >= this.#options.maxActive) return 'places';
    if (this.#budget.fits(this.#claims.size + 1)) return null;
    for (const group of this.#serving) if ('endIdle' in group) group.endIdle();
    return 'memory';
  }

  get memory(): MemoryUse {
    const { limitBytes } = this.#budget;
    const servingBytes = this.#budget.servingBytes + this.#claims.size * MIN_PROCESS_BYTES;
    return { limitBytes, servingBytes, spareBytes: this.#spareCount * MIN_PROCESS_BYTES };
  }

  bytesOf(process: InstanceProcess): number {
    return process.members.reduce((sum, member) => sum + this.#budget.bytesOf(member), 0);
  }

  claim(policy = DEFAULT_POLICY as string): Claim {
    this.#requireCapacity();
    const claim: PoolClaim = new PoolClaim({
      open: (spec) => this.#hand(claim, spec),
      release: () => this.#release(claim),
    });
    this.#claims.add(claim);
    if (isNative(policy)) {
      claim.keep(null);
      return claim;
    }
    const ready = this.#ready.shift();
    if (ready === undefined) this.#waiting.push(claim);
    else claim.keep(ready);
    this.startedAhead += ready === undefined ? 0 : 1;
    this.#dropSpares();
    if (ready === undefined) this.#startForWaiting();
    this.#giveWay.update();
    return claim;
  }

  keepReady(count: number): void {
    this.#target = Math.max(this.#options.size, count);
    while (this.#ready.length > this.#target) this.#ready.pop()?.signal('SIGKILL');
    this.#fill();
  }

  #requireCapacity(): void {
    if (this.shortage === 'places') throw noPlace(this.#options.maxActive);
    if (this.shortage === 'memory') throw noMemory(this.memory);
    if (this.#ready.length === 0) requireDescriptorsFor(FILES_OF_WORKER);
  }

  open(spec: OpenSpec): InstanceProcess {
    return this.claim(spec.policy).open(spec);
  }

  requirePolicy(policy: string): void {
    if (isNative(policy)) this.#natives();
  }

  #natives(): NativeBackend {
    const { native } = this.#options;
    if (native?.refusal === null) return native;
    throw native?.refusal ?? noNatives();
  }

  /** A worker that is kept for it goes back: one for real programs is another process. */
  #handNative(claim: PoolClaim, spec: OpenSpec): InstanceProcess {
    if (spec.file === ':memory:') throw noNativeInMemory();
    // It is the sandbox's, as that of every other, though root has it open: what lies beside it is made its owner's.
    if (!spec.mustExist && !isThereNow(spec.file)) createFileNow(spec.file);
    giveSandbox(spec, this.#workerOptions.walls);
    const maxBytes = NATIVE_GROWTH * mostOnDisk(spec);
    const instance = this.#natives().open(spec, this.#healthCheckTimes);
    this.#release(claim);
    this.#processes.add(instance);
    this.#serving.add(instance);
    this.#diskWatch.watch(instance, { ...spec, maxBytes }, { spillFolder: this.#workerOptions.spillFolder });
    this.#checkHealth();
    void instance.ended.then(() => {
      this.#processes.delete(instance);
      this.#serving.delete(instance);
    });
    return instance;
  }

  #hand(claim: PoolClaim, spec: OpenSpec): InstanceProcess {
    if (isNative(spec.policy)) return this.#handNative(claim, spec);
    giveSandbox(spec, this.#workerOptions.walls);
    // From where a process has it nothing may fail: nobody would know of the process.
    const maxBytes = mostOnDisk(spec);
    this.#forget(claim);
    const first = this.#supervise(claim.worker ?? this.#takeStartingWorker() ?? this.#startWorker(), spec, {});
    const group = new ProcessGroup(first, spec, (options) => this.#join(spec, options));
    this.#serving.add(group);
    this.#diskWatch.watch(group, { ...spec, maxBytes }, this.#workerOptions);
    void group.ended.then(() => this.#serving.delete(group));
    return group;
  }

  /** One more process of a sandbox that has one; null when there is no memory for it. It takes no place. */
  #join(spec: OpenSpec, { isBackground }: { isBackground: boolean }): SupervisedInstance | null {
    if (this.#stopped !== null || !this.#budget.fits(this.#claims.size + 1)) return null;
    // One that still starts is somebody's who waits.
    const worker = this.#ready.shift() ?? this.#startWorker();
    if (isBackground) void worker.known.then((pid) => setNiceness(pid, runNiceness()));
    return this.#supervise(worker, { ...spec, mustExist: true }, { joins: true, isBackground });
  }

  #supervise(worker: Worker, spec: OpenSpec, options: { joins?: boolean; isBackground?: boolean }): SupervisedInstance {
    const instance = new SupervisedInstance(worker, { ...spec, onFetch: this.#options.fetch }, this.#healthCheckTimes, {
      ...options,
      uid: this.#workerOptions.walls?.ownUser?.(spec.id).uid ?? null,
      ...(options.isBackground !== true && { onBusy: this.#giveWay }),
    });
    this.#processes.add(instance);
    this.#dropSpares();
    this.#giveWay.update();
    this.#checkHealth();
    void instance.ended.then(() => this.#processes.delete(instance));
    // Starting a process blocks this thread for some milliseconds. The first answer of the process just handed out goes
    // first.
    this.#giveWay.whenQuiet(REFILL_MS, () => this.#fill());
    return instance;
  }

  #checkHealth(): void {
    this.#healthTimer ??= setInterval(() => {
      for (const group of this.#serving) group.check();
    }, this.#healthCheckTimes.checkEveryMs).unref();
  }

  #release(claim: PoolClaim): void {
    if (!this.#claims.has(claim)) return;
    this.#forget(claim);
    if (claim.worker === null) return;
    this.#keepStarted(claim.worker);
    this.#dropSpares();
  }

  #forget(claim: PoolClaim): void {
    this.#claims.delete(claim);
    const at = this.#waiting.indexOf(claim);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  /** A started worker goes to the claim that waits longest, or waits itself. */
  #keepStarted(worker: Worker): void {
    const claim = this.#waiting.shift();
    if (claim === undefined) this.#ready.push(worker);
    else claim.keep(worker);
  }

  /** A worker that is still starting handles its messages once it is ready. */
  #takeStartingWorker(): Worker | undefined {
    const [worker] = this.#starting;
    if (worker !== undefined) this.#starting.delete(worker);
    return worker;
  }

  #startWorker(): Worker {
    return startWorker(this.#workerOptions);
  }

  async start(): Promise<void> {
    await emptySpillFolder(this.#workerOptions.spillFolder);
    if (isEmptyFolder(this.#workerOptions.cacheFolder)) await this.#compile();
    this.#isStarted = true;
    this.#budget.start(() => {
      this.#dropSpares();
      if (this.#shortOfSpares) this.#fill();
    });
    this.#fill();
    // Each that is ready lets the next one start.
    while (this.#starting.size > 0) await Promise.all([...this.#starting].map((worker) => worker.ready));
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    if (this.#healthTimer !== null) clearInterval(this.#healthTimer);
    this.#budget.stop();
    for (const claim of this.#waiting.splice(0)) claim.fail(stopping());
    const kept = [...this.#claims].flatMap(({ worker }) => worker ?? []);
    const spare = [...this.#ready.splice(0), ...this.#starting, ...kept, ...(this.#compiling ? [this.#compiling] : [])];
    for (const worker of spare) worker.signal('SIGKILL');
    await Promise.all(spare.map((worker) => worker.exited));
    await Promise.all([...this.#serving].map((group) => group.kill('killed')));
    await this.#options.native?.stop();
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
      worker.signal('SIGKILL');
      await worker.exited;
      this.#compiling = null;
    }
  }

  /** Workers that nobody waits for, started or starting. */
  get #spareCount(): number {
    return Math.max(0, this.#ready.length + this.#starting.size - this.#waiting.length);
  }

  /** Starts what the waiting claims need, then spare workers. */
  #fill(): void {
    this.#startForWaiting();
    this.#shortOfSpares = false;
    while (this.#isStarted && this.#canStart && this.#spareCount < this.#target) {
      if (!this.#budget.fits(this.#claims.size + this.#spareCount + 1)) {
        this.#shortOfSpares = true;
        return;
      }
      this.#start();
    }
  }

  #startForWaiting(): void {
    // The memory of each is claimed.
    while (this.#canStart && this.#starting.size < this.#waiting.length) this.#start();
  }

  get #canStart(): boolean {
    return this.#stopped === null && this.#starting.size < PARALLEL_STARTS;
  }

  /** Ends spare workers until the rest fits the memory that sandboxes leave. */
  #dropSpares(): void {
    while (this.#spareCount > 0 && !this.#budget.fits(this.#claims.size + this.#spareCount)) {
      this.#shortOfSpares = true;
      const worker = this.#ready.pop() ?? this.#takeStartingWorker();
      worker?.signal('SIGKILL');
    }
  }

  #start(): void {
    const worker = this.#startWorker();
    this.#starting.add(worker);
    this.#giveWay.started(worker);
    worker.ready.then(
      () => {
        if (!this.#starting.delete(worker)) return;
        this.#keepStarted(worker);
        this.#fill();
      },
      (error) => {
        // A worker that was already handed out reports its failure to its owner.
        if (!this.#starting.delete(worker) || this.#stopped !== null) return;
        // The cause is the worker's stderr, which names paths of the machine: only the log gets it.
        this.#options.log?.error({ err: error, stderr: error.cause }, 'a worker did not start');
        const claim = this.#waiting.shift();
        if (claim !== undefined) {
          claim.fail(error);
          this.#fill();
          return;
        }
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
