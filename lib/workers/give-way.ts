/**
 * Workers that nobody waits for give way to calls while they start and rehearse: while a call or a wake runs they are
 * stopped (SIGSTOP), each for a limited time in all. The lowest priority would not do: only a server with privileges
 * can raise it again. Knows nothing of calls except that one runs.
 */
import type { BusyListener } from './idle-waiters.ts';
import type { Worker } from './process.ts';

/** How long nothing must run before they go on, in milliseconds: one command often follows another. */
const QUIET_MS = 5;
/** How long one worker gives way in all, in milliseconds. Then it runs beside calls: new workers are needed too. */
const LONGEST_MS = 300;
/** How long a worker starts and rehearses at most, in milliseconds. Afterwards it does nothing until it is needed. */
const YOUNG_MS = 2000;

interface Stop {
  since: number;
  /** Ends it when its worker has given way for long enough. */
  timer: NodeJS.Timeout;
}

export class GiveWay implements BusyListener {
  /** Started or starting workers that nobody waits for. */
  readonly #spares: () => readonly Worker[];
  /** What runs: each process with a call, or that opens its file. */
  readonly #running = new Set<object>();
  readonly #stopped = new Map<Worker, Stop>();
  /** Milliseconds that young workers may still give way. */
  readonly #left = new Map<Worker, number>();
  #quiet: NodeJS.Timeout | null = null;

  constructor(spares: () => readonly Worker[]) {
    this.#spares = spares;
  }

  /** A process has something to do that somebody waits for. */
  begin(process: object): void {
    this.#running.add(process);
    if (this.#quiet !== null) clearTimeout(this.#quiet);
    this.#quiet = null;
    if (this.#running.size === 1) this.update();
  }

  end(process: object): void {
    if (!this.#running.delete(process) || this.#running.size > 0 || this.#stopped.size === 0) return;
    this.#quiet ??= setTimeout(() => {
      this.#quiet = null;
      for (const worker of this.#stopped.keys()) this.#continue(worker);
    }, QUIET_MS).unref();
  }

  /** A worker has been started. */
  started(worker: Worker): void {
    this.#left.set(worker, LONGEST_MS);
    setTimeout(() => {
      this.#continue(worker);
      this.#left.delete(worker);
    }, YOUNG_MS).unref();
    this.update();
  }

  /** Call it when a worker is needed, or no longer is: one that is needed goes on at once. */
  update(): void {
    if (this.#stopped.size === 0 && (this.#running.size === 0 || this.#left.size === 0)) return;
    const spares = new Set(this.#spares());
    for (const worker of this.#stopped.keys()) if (!spares.has(worker)) this.#continue(worker);
    if (this.#running.size > 0) for (const worker of spares) this.#stop(worker);
  }

  /** Runs `start` after so many milliseconds, when nothing runs, or after the longest time of giving way. */
  whenQuiet(delayMs: number, start: () => void, waitedMs = 0): void {
    setTimeout(() => {
      if (this.#running.size === 0 || waitedMs >= LONGEST_MS) start();
      else this.whenQuiet(QUIET_MS, start, waitedMs + QUIET_MS);
    }, delayMs).unref();
  }

  #stop(worker: Worker): void {
    const left = this.#left.get(worker) ?? 0;
    if (left <= 0 || this.#stopped.has(worker)) return;
    worker.signal('SIGSTOP');
    const timer = setTimeout(() => this.#continue(worker), left).unref();
    this.#stopped.set(worker, { since: performance.now(), timer });
  }

  #continue(worker: Worker): void {
    const stop = this.#stopped.get(worker);
    if (stop === undefined) return;
    this.#stopped.delete(worker);
    clearTimeout(stop.timer);
    const left = (this.#left.get(worker) ?? 0) - (performance.now() - stop.since);
    if (this.#left.has(worker)) this.#left.set(worker, left);
    worker.signal('SIGCONT');
  }
}
