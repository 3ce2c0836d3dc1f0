/**
 * When writes become durable: each write is one transaction that begins and commits without interruption, so none is
 * open while other code runs. Knows nothing of what is written.
 */
import type { DatabaseSync } from 'node:sqlite';
import { BUSY, resultCodeOf } from './sqlite-errors.ts';
import type { Statements } from './statements.ts';

interface TransactionHooks {
  /** May write; runs inside every transaction, right before the commit. */
  beforeCommit: () => void;
  /** Runs inside a transaction, before anything else, when another handle may have committed since the last one. */
  onOthersCommitted: () => void;
  /** Runs before each write, outside the transaction. Throws nothing. */
  beforeBegin?: (() => void) | undefined;
  /** Runs after each commit of this handle, outside the transaction. Throws nothing. */
  afterCommit?: (() => void) | undefined;
  /** Runs before the first transaction. */
  prepare?: (() => void) | null;
  /** Attempts to begin, each of which waits for a lock as long as the handle does. Default: one. */
  beginAttempts?: number | undefined;
}

export class Transaction {
  readonly #db: DatabaseSync;
  readonly #statements: Statements;
  readonly #hooks: TransactionHooks;
  /** Preparation before the first write, or null. */
  #prepare: (() => void) | null;
  #committed = 0;
  /** SQLite's number of the state that others have committed, as of the last transaction; null before the first. */
  #othersState: number | null = null;

  constructor(db: DatabaseSync, statements: Statements, hooks: TransactionHooks) {
    this.#prepare = hooks.prepare ?? null;
    this.#db = db;
    this.#statements = statements;
    this.#hooks = hooks;
  }

  /**
   * Number of commits that this handle made, or found at the beginning of its own: while it is the same inside a
   * transaction, nothing has changed.
   */
  get committed(): number {
    return this.#committed;
  }

  /**
   * Runs one write and commits it. When the write or the commit fails, nothing of it is kept, and the error is thrown.
   */
  run<T>(change: () => T): T {
    this.#hooks.beforeBegin?.();
    const result = this.#inside(() => {
      const changed = change();
      this.#hooks.beforeCommit();
      this.#statements.run('COMMIT');
      this.#committed += 1;
      return changed;
    });
    this.#hooks.afterCommit?.();
    return result;
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
    this.#begin();
    try {
      this.#noteOthers();
      return work();
    } catch (error) {
      // SQLite may have ended the transaction by itself: a full or failing disk.
      if (this.#db.isTransaction) this.#statements.run('ROLLBACK');
      throw error;
    }
  }

  /** Begins, behind what another handle commits just now, however long that takes a slow disk. */
  #begin(): void {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#statements.run('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (resultCodeOf(error) !== BUSY || attempt >= (this.#hooks.beginAttempts ?? 1)) throw error;
      }
    }
  }

  #noteOthers(): void {
    const state = this.#statements.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? null;
    if (state === this.#othersState) return;
    this.#othersState = state;
    this.#committed += 1;
    this.#hooks.onOthersCommitted();
  }
}
