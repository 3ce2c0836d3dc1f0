/**
 * When writes become durable: each write is one transaction that begins and commits without interruption, so none is
 * open while other code runs. Knows nothing of what is written.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Statements } from './statements.ts';

export class Transaction {
  readonly #db: DatabaseSync;
  readonly #statements: Statements;
  readonly #beforeCommit: () => void;
  /** Preparation before the first write, or null. */
  #prepare: (() => void) | null;
  #committed = 0;

  /**
   * `beforeCommit` may write; it runs inside every transaction, right before the commit. `prepare` runs before the
   * first transaction.
   */
  constructor(db: DatabaseSync, statements: Statements, beforeCommit: () => void, prepare: (() => void) | null = null) {
    this.#prepare = prepare;
    this.#db = db;
    this.#statements = statements;
    this.#beforeCommit = beforeCommit;
  }

  /** Number of commits through this handle, the only writer: while it is the same, nothing has changed. */
  get committed(): number {
    return this.#committed;
  }

  /**
   * Runs one write and commits it. When the write or the commit fails, nothing of it is kept, and the error is thrown.
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

  /** Runs one write, takes its result and rolls it back. */
  tryOut<T>(change: () => void, look: () => T): T {
    return this.#inside(() => {
      change();
      const result = look();
      this.#statements.run('ROLLBACK');
      return result;
    });
  }

  /**
   * Runs the preparation of the first write, if it has not succeeded yet. A failed one is repeated by the next write.
   */
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
      // SQLite may have ended the transaction by itself: a full or failing disk.
      if (this.#db.isTransaction) this.#statements.run('ROLLBACK');
      throw error;
    }
  }
}
