/**
 * Admission of wakes: who gets the next place, its memory and a started worker. Wakes that have to wait are served in
 * the order in which they came, round robin by tenant; those that nobody waits for come behind all others. Where there
 * is no room, idle sandboxes are suspended. Knows nothing of files.
 */
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { WinterdockError } from '../../base/errors.ts';
import { FairQueue } from '../../base/fair-queue.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { Claim } from '../../workers/protocol/instance.ts';
import {
  type Admission,
  type AdmissionOptions,
  type Admitted,
  type Engine,
  elapsedMs,
  serverStopping,
  type WaitListener,
} from '../engine.ts';
import { suspendLeastRecentlyUsed } from './make-space.ts';
import { WakeDemand } from './wake-demand.ts';

/**
 * Wakes that are given room and a worker at the same time: one more than processors, for one waits for the disk. More
 * would share the same processors.
 */
const PARALLEL = availableParallelism() + 1;
/** Of them, those that nobody waits for: the last place is left to people. */
const PARALLEL_BEHIND = Math.max(1, PARALLEL - 1);
/** What a wake is expected to wait for its worker before any was measured, in milliseconds. */
const FIRST_GUESS_MS = 100;
/** The weight of the latest measurement in the moving average. */
const WEIGHT = 0.2;
/**
 * A caller's limit below this is about its script and not about the wait, in milliseconds: a start of a worker alone
 * takes a tenth of it.
 */
const LEAST_PATIENCE_MS = 1000;
/** How often a wake without room looks for a sandbox that has become idle, in milliseconds. */
const LOOK_EVERY_MS = 20;

interface Waiter {
  /** False: nobody waits for it. */
  readonly policy: string | undefined;
  makesRoom: boolean;
  /** Of `performance.now()`. */
  readonly arrived: number;
  /** Aborted when its time is over, its caller is gone or the server stops. */
  readonly over: AbortSignal;
  readonly settled: PromiseWithResolvers<Admitted>;
}

/** The queue of one engine, which is made after it. */
export class WakeAdmission implements Admission {
  readonly #engineOf: () => Engine;
  readonly #queue = new FairQueue<Waiter>();
  /** Wakes that were not answered yet. */
  #waiting = 0;
  /** One that was given up is served until that is noticed, though nobody waits for it any more. */
  #serving = 0;
  /** Of them, those that nobody waits for. */
  #servingBehind = 0;
  /** Moving average of the milliseconds that serving one waiter takes. */
  #serveMs = FIRST_GUESS_MS;
  #demand: WakeDemand | null = null;
  readonly #waitListeners: WaitListener[] = [];

  constructor(engineOf: () => Engine) {
    this.#engineOf = engineOf;
  }

  /** How many wakes wait in the queue, or for the room and the worker that they are being given. */
  get waiting(): number {
    return this.#waiting;
  }

  onWaited(listener: WaitListener): void {
    this.#waitListeners.push(listener);
  }

  /** Milliseconds that one more wake would wait for its turn. */
  get estimatedMs(): number {
    return ((this.#queue.length + this.#serving) * this.#serveMs) / PARALLEL;
  }

  requirePatience({ maxWaitMs }: Pick<AdmissionOptions, 'maxWaitMs'>): void {
    const limit = limitOf(this.#engineOf(), maxWaitMs);
    if (this.estimatedMs <= limit) return;
    throw new WinterdockError(
      'capacity',
      `${this.#queue.length} sandboxes wait to be woken before this one, which would take longer than ${seconds(limit)}.`,
      { hint: 'Try again later.', retryAfterSeconds: Math.max(1, Math.ceil((this.estimatedMs - limit) / 1000)) },
    );
  }

  async claim({ owner, policy, makesRoom = true, maxWaitMs, signal }: AdmissionOptions): Promise<Admitted> {
    const engine = this.#engineOf();
    const limit = limitOf(engine, maxWaitMs);
    const arrived = performance.now();
    const timeout = overAt(arrived + limit);
    const over = AbortSignal.any([timeout.signal, engine.stop, ...(signal === undefined ? [] : [signal])]);
    const waiter: Waiter = { policy, makesRoom, arrived, over, settled: Promise.withResolvers() };
    const giveUp = () => {
      this.#queue.remove(waiter);
      waiter.settled.reject(this.#refusal(engine, timeout.signal.aborted ? limit : null));
    };
    over.addEventListener('abort', giveUp, { once: true });
    if (over.aborted) giveUp();
    else this.#queue.add(owner, waiter);
    this.#serve(engine);
    let isAdmitted = false;
    this.#waiting += 1;
    try {
      const admitted = await waiter.settled.promise;
      isAdmitted = true;
      return admitted;
    } finally {
      this.#waiting -= 1;
      over.removeEventListener('abort', giveUp);
      timeout.clear();
      for (const listener of this.#waitListeners) listener(elapsedMs(waiter.arrived), isAdmitted);
    }
  }

  #refusal(engine: Engine, waitedMs: number | null): WinterdockError {
    if (engine.stop.aborted) return serverStopping();
    if (waitedMs === null) {
      return new WinterdockError('conflict', 'The call was given up before its sandbox was woken.', {
        extra: { cause: 'aborted' },
      });
    }
    try {
      engine.pool.claim().release();
    } catch (error) {
      // What is still short, in the pool's own words.
      return error as WinterdockError;
    }
    return new WinterdockError(
      'capacity',
      `No place for running the sandbox became free within ${seconds(waitedMs)}.`,
      {
        hint: 'Suspend one that is kept hot, give sandboxes more places or memory, or try again later.',
        retryAfterSeconds: Math.max(1, Math.ceil(this.estimatedMs / 1000)),
      },
    );
  }

  async followDemand(): Promise<void> {
    const { clock, config, pool, registry } = this.#engineOf();
    // Without workers in waiting there is nothing to keep.
    if (config.poolSize === 0) return;
    this.#demand ??= new WakeDemand(registry.ledger);
    pool.keepReady(await this.#demand.readyCount(clock.now(), config.poolSize));
  }

  #serve(engine: Engine): void {
    while (this.#serving < PARALLEL && this.#queue.length > 0) {
      const waiter =
        this.#queue.take(({ makesRoom }) => makesRoom) ??
        (this.#servingBehind < PARALLEL_BEHIND ? this.#queue.take() : undefined);
      if (waiter === undefined) return;
      const behind = waiter.makesRoom ? 0 : 1;
      this.#serving += 1;
      this.#servingBehind += behind;
      void this.#serveOne(engine, waiter).finally(() => {
        this.#serving -= 1;
        this.#servingBehind -= behind;
        this.#serve(engine);
      });
    }
  }

  async #serveOne(engine: Engine, waiter: Waiter): Promise<void> {
    const { policy, makesRoom, over, settled, arrived } = waiter;
    const began = performance.now();
    let claim: Claim | null = null;
    try {
      claim = makesRoom ? await claimRoom(engine, policy, over) : engine.pool.claim(policy);
      const waitMs = elapsedMs(arrived);
      const claimed = performance.now();
      await Promise.race([claim.started, rejection(over)]);
      if (over.aborted) throw over.reason;
      this.#serveMs += WEIGHT * (performance.now() - began - this.#serveMs);
      this.#demand?.noteWake(engine.clock.now());
      settled.resolve({ claim, waitMs, startMs: elapsedMs(claimed) });
    } catch (error) {
      claim?.release();
      // Has no effect on a waiter that was given up.
      settled.reject(error);
    }
  }
}

/** Claims a place and its memory, after suspending idle sandboxes where there is none. Throws `capacity`. */
async function claimRoom(engine: Engine, policy: string | undefined, over: AbortSignal): Promise<Claim> {
  const { pool, roomMutex } = engine;
  if (pool.shortage === null && !roomMutex.isLocked()) return pool.claim(policy);
  // One at a time: room that is being made belongs to the wake that makes it.
  return roomMutex.runExclusive(async () => {
    const tried = new Set<InstanceId>();
    while (pool.shortage !== null && !over.aborted) {
      if (await suspendLeastRecentlyUsed(engine, pool.shortage, tried)) continue;
      // Throws what is short, unless something that runs may end soon.
      if (!mayBecomeIdle(engine)) return pool.claim(policy);
      await pause(LOOK_EVERY_MS);
    }
    if (over.aborted) throw over.reason;
    return pool.claim(policy);
  });
}

/** Whether some sandbox is being woken or filed, or runs a call, after which it may be suspended. */
function mayBecomeIdle({ runtimes, pool }: Engine): boolean {
  const served = runtimes.values().filter(({ process }) => process !== null);
  if (pool.claimed + pool.active > served.length) return true;
  return served.some((runtime) => runtime.attached === 0 && !runtime.isIdle);
}

function limitOf({ config }: Engine, maxWaitMs: number = Number.POSITIVE_INFINITY): number {
  return Math.min(config.wakeWaitMs, Math.max(LEAST_PATIENCE_MS, maxWaitMs));
}

/**
 * Aborts its signal at a time of `performance.now()`, never before: a timer counts from when the event loop last looked
 * at the clock, which on a busy server is some while ago.
 */
function overAt(time: number): { signal: AbortSignal; clear(): void } {
  const ending = new AbortController();
  let timer: NodeJS.Timeout;
  const look = () => {
    const left = time - performance.now();
    if (left <= 0) ending.abort(new DOMException('Its time is over.', 'TimeoutError'));
    else timer = setTimeout(look, Math.ceil(left));
  };
  look();
  return { signal: ending.signal, clear: () => clearTimeout(timer) };
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

const seconds = (milliseconds: number) => `${Math.round(milliseconds / 100) / 10} seconds`;
