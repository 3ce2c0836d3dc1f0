/**
 * What the server holds in memory about single sandboxes: their process, their locks, their unflushed activity. An
 * entry exists only while something is going on; a sandbox at rest costs a row and a file. Knows nothing of drawers or
 * verbs.
 */
import { Mutex, Semaphore } from 'async-mutex';
import type { InstanceProcess } from '../instance/instance.ts';

/** Readers that may look into one file at the same time; filing and waking take all of them. */
const LEASES = 1024;

/** Counts uses of all sandboxes, so that which was used longest ago is known more exactly than by seconds. */
let uses = 0;

export class SandboxRuntime {
  readonly id: string;
  /** One verb at a time. */
  readonly verbs = new Mutex();
  readonly #leases = new Semaphore(LEASES);
  process: InstanceProcess | null = null;
  #pending: { verb: string; generation: number } | null = null;
  /** Epoch seconds of the last activity that is not in the registry yet, or 0. */
  activity = 0;
  attached = 0;
  calls = 0;
  /** Grows with each use of any sandbox: the entry with the lowest was used longest ago. */
  lastUse = 0;
  /** Bytes of writes under way that were taken from the tenant's quota and may not be in the file yet. */
  reserved = 0;
  /** All that was ever reserved, so that a reservation which came and went meanwhile is noticed. */
  everReserved = 0;
  /** Resolves once the row of a dead process is settled. */
  settling: Promise<void> | null = null;
  holders = 0;
  #drained: (() => void)[] = [];

  constructor(id: string) {
    this.id = id;
  }

  /** A verb is under way on a row of this generation. */
  startOperation(verb: string, { generation }: { generation: number }): void {
    this.#pending = { verb, generation };
  }

  endOperation(): void {
    this.#pending = null;
  }

  /** Verb under way, or null. While there is one, calls wait for the verbs lock. */
  get pending(): string | null {
    return this.#pending?.verb ?? null;
  }

  /**
   * Verb under way on a row as it was read, or null: what that row tells the end of is over for whoever looks, whatever
   * is tidied up after it.
   */
  pendingOn({ generation }: { generation: number }): string | null {
    return this.#pending?.generation === generation ? this.#pending.verb : null;
  }

  /** Runs `read` while no one moves or opens the file. */
  lease<T>(read: () => Promise<T>): Promise<T> {
    return this.#leases.runExclusive(read);
  }

  /** Runs `work` while no one reads the file. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#leases.runExclusive(work, LEASES);
  }

  /** It is used at `now` (epoch seconds): its idle clock begins again. */
  markUsed(now: number): void {
    this.activity = Math.max(this.activity, now);
    this.noteUse();
  }

  noteUse(): void {
    uses += 1;
    this.lastUse = uses;
  }

  /**
   * Whether its process could be ended now: nothing runs or waits in it, no terminal is open, nobody reads its file, no
   * verb is under way.
   */
  get isIdle(): boolean {
    return (
      this.process !== null &&
      !this.process.busy &&
      this.calls === 0 &&
      this.attached === 0 &&
      this.pending === null &&
      this.settling === null &&
      !this.verbs.isLocked() &&
      this.#leases.getValue() === LEASES
    );
  }

  callStarted(): void {
    this.calls += 1;
  }

  callEnded(): void {
    this.calls -= 1;
    if (this.calls === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Resolves true when no call runs, false when one still does after `milliseconds`. */
  async waitForCalls(milliseconds: number): Promise<boolean> {
    if (this.calls === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([new Promise<void>((resolve) => this.#drained.push(resolve)), late]);
    clearTimeout(timer);
    return this.calls === 0;
  }

  get isDisposable(): boolean {
    return (
      this.holders === 0 &&
      this.process === null &&
      this.attached === 0 &&
      this.calls === 0 &&
      this.activity === 0 &&
      this.settling === null
    );
  }
}

/** The entries by id; a quiet one is dropped. */
export class Runtimes {
  readonly #runtimes = new Map<string, SandboxRuntime>();

  /** The entry of a sandbox that something is going on with, or undefined. */
  peek(id: string): SandboxRuntime | undefined {
    return this.#runtimes.get(id);
  }

  /** Runs `work` with the entry of `id`, made when there is none and dropped when nothing is left to remember. */
  async use<T>(id: string, work: (runtime: SandboxRuntime) => Promise<T>): Promise<T> {
    const runtime = this.hold(id);
    try {
      return await work(runtime);
    } finally {
      this.release(runtime);
    }
  }

  hold(id: string): SandboxRuntime {
    let runtime = this.#runtimes.get(id);
    if (runtime === undefined) {
      runtime = new SandboxRuntime(id);
      this.#runtimes.set(id, runtime);
    }
    runtime.holders += 1;
    return runtime;
  }

  release(runtime: SandboxRuntime): void {
    runtime.holders -= 1;
    this.drop(runtime);
  }

  /** Forgets an entry that has nothing to remember. */
  drop(runtime: SandboxRuntime): void {
    if (runtime.isDisposable) this.#runtimes.delete(runtime.id);
  }

  values(): SandboxRuntime[] {
    return [...this.#runtimes.values()];
  }
}
