/**
 * Reader processes that wait for reads: some that have opened nothing yet, and those that have opened files of a user
 * and serve that user alone from then on, the least recently used of which are ended. Owns how many there are; knows
 * nothing of jobs.
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { FILES_OF_WORKER, hasDescriptorsFor } from '../base/open-files.ts';
import type { FileUser } from '../base/walls.ts';
import type { ReaderProcess } from './reader-process.ts';

/** Processes of a user that are kept while nobody reads. */
const KEPT = 8;
/** How long, in milliseconds: reads of people come in bursts. */
const KEEP_MS = 60_000;
const RESTART_MS = 1000;

export interface ReadyReadersOptions {
  /** How many wait that have opened nothing. */
  size: number;
  start: () => Promise<ReaderProcess>;
  /** Called when one more waits. */
  onReady: () => void;
  /** Called when one could not be replaced. */
  onShort: (error: unknown) => void;
  log: Logger | undefined;
}

export class ReadyReaders {
  readonly #options: ReadyReadersOptions;
  readonly #all = new Set<ReaderProcess>();
  /** The least recently used comes first. */
  readonly #idle: ReaderProcess[] = [];
  readonly #starting = new Set<Promise<void>>();
  readonly #timers = new Map<ReaderProcess, NodeJS.Timeout>();
  #retry: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: ReadyReadersOptions) {
    this.#options = options;
  }

  /** Starts those that are lacking. Throws `capacity` when one cannot be started. */
  async fill(): Promise<void> {
    const fresh = [...this.#all].filter(({ user }) => user === null).length + this.#starting.size;
    const lacking = Math.max(0, this.#options.size - fresh);
    await Promise.all(Array.from({ length: lacking }, () => this.#add()));
  }

  /** Whether one waits that may serve this user. */
  has(user: FileUser | null): boolean {
    return this.#idle.some((process) => process.mayServe(user));
  }

  /** Takes one: this user's own when there is one. */
  take(user: FileUser | null): ReaderProcess | null {
    const own = this.#idle.findLastIndex((process) => process.user !== null && process.mayServe(user));
    const at = own >= 0 ? own : this.#idle.findIndex((process) => process.mayServe(user));
    const [process] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (process === undefined) return null;
    clearTimeout(this.#timers.get(process));
    // Not before the read has begun: a start blocks this thread for milliseconds.
    if (process.user === null && user !== null) setImmediate(() => this.#replace());
    return process;
  }

  /** Takes it back once it has done its job. */
  giveBack(process: ReaderProcess): void {
    if (!this.#all.has(process) || !process.alive) return;
    this.#idle.push(process);
    if (process.user === null) return;
    // A sandbox that wakes needs them more than a read that may come.
    if (!hasDescriptorsFor(2 * FILES_OF_WORKER)) this.#end(process);
    if (!this.#idle.includes(process)) return;
    const timer = setTimeout(() => this.#end(process), KEEP_MS).unref();
    this.#timers.set(process, timer);
    const kept = this.#idle.filter(({ user }) => user !== null);
    for (const oldest of kept.slice(0, Math.max(0, kept.length - KEPT))) this.#end(oldest);
  }

  /** Ends all of them, once each has done its job. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#starting);
    for (const timer of [...this.#timers.values(), this.#retry]) if (timer !== null) clearTimeout(timer);
    await Promise.all([...this.#all].map((process) => process.end()));
  }

  #end(process: ReaderProcess): void {
    const at = this.#idle.indexOf(process);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    void process.end();
  }

  #add(): Promise<void> {
    const adding = this.#start();
    const settled = adding.catch(() => undefined).finally(() => this.#starting.delete(settled));
    this.#starting.add(settled);
    return adding;
  }

  async #start(): Promise<void> {
    const process = await this.#options.start();
    this.#all.add(process);
    void process.exited.then(() => this.#gone(process));
    if (this.#stopped) return process.end();
    this.#idle.push(process);
    this.#options.onReady();
  }

  #gone(process: ReaderProcess): void {
    this.#all.delete(process);
    clearTimeout(this.#timers.get(process));
    this.#timers.delete(process);
    const at = this.#idle.indexOf(process);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#replace();
  }

  /** One at a time where there is not enough for more: what several take at once none of them has. */
  #replace(): void {
    if (this.#stopped || this.#retry !== null) return;
    this.fill().catch((error: unknown) => {
      this.#options.onShort(error);
      if (this.#stopped || this.#retry !== null) return;
      this.#options.log?.error({ error: messageOf(error) }, 'a reader could not be replaced; trying again');
      this.#retry = setTimeout(() => {
        this.#retry = null;
        this.#replace();
      }, RESTART_MS).unref();
    });
  }
}
