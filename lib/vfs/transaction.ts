/**
 * When writes become durable: each is one transaction, begun, made and committed in one go, so that none is open while
 * anything else runs. Knows nothing of what is written.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Statements } from './statements.ts';

export class Transaction {
  readonly #db: DatabaseSync;
  readonly #statements: Statements;
  readonly #beforeCommit: () => void;
  /** What has to be done once before anything is written, or null. */
  #prepare: (() => void) | null;
  #committed = 0;

  /**
   * `beforeCommit` may write; it runs inside every transaction, right before its end. `prepare` runs before the first.
   */
  constructor(db: DatabaseSync, statements: Statements, beforeCommit: () => void, prepare: (() => void) | null = null) {
    this.#prepare = prepare;
    this.#db = db;
    this.#statements = statements;
    this.#beforeCommit = beforeCommit;
  }

  /**
   * How many were committed through this handle, which is the only writer: a number that is the same means that nothing
   * has changed.
   */
  get committed(): number {
    return this.#committed;
  }

  /**
   * Runs one write and commits it. What it threw comes out, with nothing of it kept; so does what kept it from being
   * committed.
   */
  run<T>(change: () => T): T {
    return this.#inside(() => {
      const result = change();
      this.#beforeCommit();
      this.#statements.run('COMMIT');
      this.#committed += 1;
      return result;
    });
  }

  /** Runs one write, looks at what it makes, and takes it back. */
  tryOut<T>(change: () => void, look: () => T): T {
    return this.#inside(() => {
      change();
      const result = look();
      this.#statements.run('ROLLBACK');
      return result;
    });
  }

  /** Does what has to come before the first write, if it is not done. What it throws is tried again the next time. */
  prepare(): void {
    this.#prepare?.();
    this.#prepare = null;
  }

  #inside<T>(work: () => T): T {
    this.prepare();
    this.#statements.run('BEGIN IMMEDIATE');
    try {
      return work();
    } catch (error) {
      // SQLite may have ended it by itself: a full or failing disk.
      if (this.#db.isTransaction) this.#statements.run('ROLLBACK');
      throw error;
    }
  }
}
