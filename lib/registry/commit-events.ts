/**
 * Notifies listeners in this process of what was committed. Drivers emit and know no listener. Knows nothing of tables.
 */
import type { LedgerLine } from './types.ts';

type Listener<T> = (what: T) => void;

export class CommitEvents {
  readonly #lines = new Set<Listener<LedgerLine[]>>();
  readonly #jobs = new Set<Listener<string>>();

  /** Calls back after each durable append, with the new lines in order. Returns the unsubscriber. */
  onLedgerAppend(listener: Listener<LedgerLine[]>): () => void {
    this.#lines.add(listener);
    return () => this.#lines.delete(listener);
  }

  /** Calls back with the id of a job after it was made, got results or ended. Returns the unsubscriber. */
  onJobChange(listener: Listener<string>): () => void {
    this.#jobs.add(listener);
    return () => this.#jobs.delete(listener);
  }

  emitLedgerAppend(lines: LedgerLine[]): void {
    if (lines.length > 0) tell(this.#lines, lines);
  }

  emitJobChange(id: string): void {
    tell(this.#jobs, id);
  }
}

/** A listener's error must neither make a committed write look failed nor be swallowed: it is thrown in a microtask. */
function tell<T>(listeners: ReadonlySet<Listener<T>>, what: T): void {
  for (const listener of listeners) {
    try {
      listener(what);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
