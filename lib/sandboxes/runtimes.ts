/**
 * What the server keeps in memory about one sandbox: its process, its locks, its unflushed activity. A runtime exists
 * only while something is going on; a sandbox at rest costs a row and a file. Knows nothing of drawers or verbs.
 */
import { Mutex } from 'async-mutex';
import type { InstanceId } from '../base/ids.ts';
import { ReadWriteLock } from '../base/read-write-lock.ts';
import type { InstanceProcess } from '../workers/protocol/instance.ts';

/** Counts uses of all sandboxes: finer than seconds, to find the one that was used longest ago. */
let uses = 0;

interface RuntimesParts {
  /** Called with the sandbox in which a verb began or ended. */
  operationChanged: (id: InstanceId) => void;
  /** Resolves once nobody reads the file of a sandbox where it came to rest. Never rejects. */
  whenRested: (id: InstanceId) => Promise<void>;
}

export class SandboxRuntime {
  readonly id: InstanceId;
  /** One verb at a time. */
  readonly verbs = new Mutex();
  /** Reads hold it together; filing and waking hold it alone. */
  readonly #leases = new ReadWriteLock();
  process: InstanceProcess | null = null;
  #pending: { verb: string; generation: number } | null = null;
  /** Epoch seconds of the last activity that is not in the registry yet, or 0. */
  activity = 0;
  attached = 0;
  calls = 0;
  /** Calls and writes since they were last counted as usage. */
  uncountedCalls = 0;
  /** Epoch seconds at which its process was last paused. */
  pausedAt = 0;
  /** Epoch seconds of the last activity; also when that is in the registry. */
  usedAt = 0;
  /** Idle seconds after which it goes warm, or never (null); null itself while that is not known. */
  hotToWarm: { seconds: number | null } | null = null;
  /** How often that was forgotten: what is being read then is not kept. */
  timesForgotten = 0;
  /** Whether somebody wants its process paused whenever nothing runs in it. */
  isPauseWanted = false;
  /** The number of its last use among all uses: the runtime with the lowest was used longest ago. */
  lastUse = 0;
  /** Bytes of its file when it was woken last. */
  bytesAtWake = 0;
  /** The policy that its process was started with. */
  policyAtWake: string | null = null;
  /** Bytes of writes under way: taken from the quota of the tenant, and perhaps not in the file yet. */
  reserved = 0;
  /** All bytes ever reserved: shows a reservation that came and went meanwhile. */
  everReserved = 0;
  /** Resolves once the row of a dead process is settled. */
  settling: Promise<void> | null = null;
  holders = 0;
  /** What calls ask before they are sent; the last of it. */
  #asked: Promise<unknown> = Promise.resolve();
  #drained: (() => void)[] = [];

  readonly #operationChanged: (id: InstanceId) => void;
  readonly #whenRested: (id: InstanceId) => Promise<void>;

  constructor(id: InstanceId, { operationChanged, whenRested }: RuntimesParts) {
    this.id = id;
    this.#operationChanged = operationChanged;
    this.#whenRested = whenRested;
  }

  /** A verb is under way on a row of this generation. */
  startOperation(verb: string, { generation }: { generation: number }): void {
    this.#pending = { verb, generation };
    this.#operationChanged(this.id);
  }

  endOperation(): void {
    this.#pending = null;
    this.#operationChanged(this.id);
  }

  /** The verb under way, or null. While there is one, calls wait for the verbs lock. */
  get pending(): string | null {
    return this.#pending?.verb ?? null;
  }

  /**
   * The verb under way, if it began on the row as it was read; else null. A row that already has the result of the verb
   * shows no verb, even while the verb still cleans up.
   */
  pendingOn({ generation }: { generation: number }): string | null {
    return this.#pending?.generation === generation ? this.#pending.verb : null;
  }

  /** Runs `read` while no one moves or opens the file. */
  lease<T>(read: () => Promise<T>): Promise<T> {
    return this.#leases.read(read);
  }

  /** Runs `work` while no one reads the file, the replica included, which reads it once where it rests. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#leases.write(async () => {
      await this.#whenRested(this.id);
      return work();
    });
  }

  /** Epoch seconds since when its process is paused in memory; null while it is not. */
  get warmSince(): number | null {
    return this.process?.thermal === 'warm' ? this.pausedAt : null;
  }

  /** Marks it used at `now` (epoch seconds): its idle clock starts again. */
  markUsed(now: number): void {
    this.activity = Math.max(this.activity, now);
    this.noteUse(now);
  }

  /** What is known of its settings may have changed. */
  forgetSettings(): void {
    this.hotToWarm = null;
    this.timesForgotten += 1;
  }

  /** Notes a use that is no activity of the ladder. */
  noteUse(now: number): void {
    this.usedAt = now;
    uses += 1;
    this.lastUse = uses;
  }

  /**
   * Whether its process could be ended now: no call runs or waits, no terminal is open, nobody reads its file, no verb
   * is under way.
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
      this.#leases.isFree
    );
  }

  /**
   * Runs `ask`, what a call asks before it is sent, at once. Answers only after all that was asked before, in whatever
   * order the registry does: calls take their turns in the order they came.
   */
  inOrder<T>(ask: () => Promise<T>): Promise<T> {
    const answer = ask();
    const inTurn = Promise.allSettled([this.#asked, answer]).then(() => answer);
    this.#asked = inTurn.catch(() => undefined);
    return inTurn;
  }

  callStarted(): void {
    this.calls += 1;
    this.uncountedCalls += 1;
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
      this.uncountedCalls === 0 &&
      this.activity === 0 &&
      this.settling === null
    );
  }
}

/** The runtimes by id. A runtime with nothing to remember is dropped. */
export class Runtimes {
  readonly #runtimes = new Map<InstanceId, SandboxRuntime>();
  readonly #parts: RuntimesParts;

  constructor(parts: RuntimesParts) {
    this.#parts = parts;
  }

  /** The runtime of a sandbox, or undefined when nothing is going on with it. */
  peek(id: InstanceId): SandboxRuntime | undefined {
    return this.#runtimes.get(id);
  }

  /**
   * Runs `work` with the runtime of `id`, which is made when there is none and dropped when it has nothing to remember.
   */
  async use<T>(id: InstanceId, work: (runtime: SandboxRuntime) => Promise<T>): Promise<T> {
    const runtime = this.hold(id);
    try {
      return await work(runtime);
    } finally {
      this.release(runtime);
    }
  }

  hold(id: InstanceId): SandboxRuntime {
    let runtime = this.#runtimes.get(id);
    if (runtime === undefined) {
      runtime = new SandboxRuntime(id, this.#parts);
      this.#runtimes.set(id, runtime);
    }
    runtime.holders += 1;
    return runtime;
  }

  release(runtime: SandboxRuntime): void {
    runtime.holders -= 1;
    this.drop(runtime);
  }

  /** Drops a runtime that has nothing to remember. */
  drop(runtime: SandboxRuntime): void {
    if (runtime.isDisposable) this.#runtimes.delete(runtime.id);
  }

  values(): SandboxRuntime[] {
    return [...this.#runtimes.values()];
  }
}
