/**
 * Notifies listeners in this process of what was committed to the registry, by this process or by another one. An event
 * has no reference into the process that committed it: it says where it comes from and at which position it is, so that
 * a driver can fill it from what it reads. Says too whether what was read of access and settings may be kept in memory.
 * Drivers emit and know no listener. Knows nothing of tables.
 */
import { AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { LedgerLine } from './types.ts';

interface CommitEvent {
  /** Identifies the opened registry that committed it; null: another process, and it is not known which. */
  readonly origin: string | null;
  /** Grows from event to event of one kind: of lines the number of the last one, of jobs a count of changes. */
  readonly position: number;
}

/** Lines of the ledger, in order, without a gap after those of the event before. */
interface CommittedLines extends CommitEvent {
  readonly lines: readonly LedgerLine[];
}

/** A job that was made, got results or ended. */
interface ChangedJob extends CommitEvent {
  readonly job: string;
}

type Listener<T> = (event: T) => void;

export class CommitEvents {
  /** The origin of what this process commits through this registry. */
  readonly origin: string = randomUUID();
  readonly #lines = new Set<Listener<CommittedLines>>();
  readonly #jobs = new Set<Listener<ChangedJob>>();
  readonly #stale = new Set<Listener<void>>();
  #isHearing: () => boolean = () => true;
  #position: number;
  #jobChanges = 0;
  /** What is to be told. A listener that commits adds to it: the others hear of that after what it answered to. */
  readonly #waiting: (() => void)[] = [];
  #isTelling = false;

  /** `position`: number of the last line that was committed before. */
  constructor(position = 0) {
    this.#position = position;
  }

  /** Number of the last line that was emitted, or that was there before. */
  get position(): number {
    return this.#position;
  }

  /**
   * Whether what was read of access and settings (keys, people, sessions, tenants, thresholds) may be kept and answered
   * from memory: false while it is not heard within a second what other processes change of them. Then each of them is
   * read anew whenever it is needed. Always true where this process is alone.
   */
  get mayCache(): boolean {
    return this.#isHearing();
  }

  /**
   * Calls back when another process may have changed access or settings: what was read of them is dropped, and what is
   * being read is not kept. Returns the unsubscriber.
   */
  onStale(listener: () => void): () => void {
    this.#stale.add(listener);
    return () => this.#stale.delete(listener);
  }

  /** Calls back after each durable append, with the new lines in order. Returns the unsubscriber. */
  onLedgerAppend(listener: Listener<CommittedLines>): () => void {
    return added(this.#lines, listener);
  }

  /**
   * Calls back with the lines that were committed through this registry alone: what each process counts, so that
   * whoever reads all of them adds up. Returns the unsubscriber.
   */
  onOwnAppend(listener: (lines: readonly LedgerLine[]) => void): () => void {
    return this.onLedgerAppend(({ origin, lines }) => {
      if (origin === this.origin) listener(lines);
    });
  }

  /** Calls back after a job was made, got results or ended. Returns the unsubscriber. */
  onJobChange(listener: Listener<ChangedJob>): () => void {
    return added(this.#jobs, listener);
  }

  /**
   * Lines that were committed, in order. Those up to the position were emitted before and are left out. The driver
   * emits the lines of other processes that come before them first.
   */
  emitLedgerAppend(lines: readonly LedgerLine[], origin: string | null = this.origin): void {
    const fresh = lines.filter(({ seq }) => seq > this.#position);
    const last = fresh.at(-1);
    if (last === undefined) return;
    this.#position = last.seq;
    this.#tell(this.#lines, { origin, position: last.seq, lines: fresh });
  }

  emitJobChange(job: string, origin: string | null = this.origin): void {
    this.#jobChanges += 1;
    this.#tell(this.#jobs, { origin, position: this.#jobChanges, job });
  }

  /** The driver's: what says whether the changes of other processes are heard, and tells of them by `emitStale`. */
  hearBy(isHearing: () => boolean): void {
    this.#isHearing = isHearing;
  }

  emitStale(): void {
    for (const listener of [...this.#stale]) call(listener, undefined);
  }

  #tell<T>(listeners: ReadonlySet<Listener<T>>, event: T): void {
    this.#waiting.push(() => {
      for (const listener of listeners) call(listener, event);
    });
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) next();
    this.#isTelling = false;
  }
}

/**
 * Adds a listener, which is called in the asynchronous context that it is added in: what it does is no part of the
 * write that it hears of. Returns how it is removed.
 */
function added<T>(listeners: Set<Listener<T>>, listener: Listener<T>): () => void {
  const own: Listener<T> = AsyncResource.bind((event: T) => listener(event));
  listeners.add(own);
  return () => listeners.delete(own);
}

/** A listener's error must neither make a committed write look failed nor be swallowed: it is thrown in a microtask. */
function call<T>(listener: Listener<T>, event: T): void {
  try {
    listener(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
