/**
 * When writes become durable: one transaction per write, or one for a group of them. Knows nothing of what is written.
 *
 * Inside a group every write has a savepoint, so a refused write takes only itself back. SQLite may still end the whole
 * transaction by itself (a full or failing disk); a group that lost its writes that way refuses to go on and to commit.
 */
import type { DatabaseSync } from 'node:sqlite';
import { WinterdockError } from '../errors.ts';
import { Statements } from './statements.ts';

export class Transaction {
  readonly #db: DatabaseSync;
  readonly #statements: Statements;
  readonly #beforeCommit: () => void;
  /** What has to be done once before anything is written, or null. */
  #prepare: (() => void) | null;
  #depth = 0;
  #lost: unknown = null;

  /** `beforeCommit` may write; it runs inside every transaction that was begun, right before its end. `prepare` runs before the first. */
  constructor(db: DatabaseSync, beforeCommit: () => void, prepare: (() => void) | null = null) {
    this.#prepare = prepare;
    this.#db = db;
    this.#statements = new Statements(db);
    this.#beforeCommit = beforeCommit;
  }

  /** True between `begin` and its `commit` or `rollback`, whether or not something was written yet. */
  get open(): boolean {
    return this.#depth > 0;
  }

  /** Opens a group, or joins the one that is open. SQLite's lock is taken by the first write. */
  begin(): void {
    this.#depth += 1;
  }

  /**
   * Ends what the matching `begin` opened; the outermost makes all durable. Throws `internal` without a `begin`, and
   * `storage_unavailable` when SQLite had to undo the group: nothing of it was kept.
   */
  commit(): void {
    if (this.#depth === 0) throw new WinterdockError('internal', 'A transaction was committed that was never begun.');
    this.#depth -= 1;
    if (this.#depth > 0) return;
    if (this.#lost !== null) {
      const cause = this.#lost;
      this.#lost = null;
      throw lostGroup(cause);
    }
    if (this.#db.isTransaction) this.#end();
  }

  /** Undoes the whole group, however deep. Does nothing when none is open. */
  rollback(): void {
    this.#depth = 0;
    this.#lost = null;
    this.#undo();
  }

  /** Runs one write: by itself, or inside the open group. What it threw comes out, with nothing of it kept. */
  run<T>(change: () => T): T {
    return this.#depth === 0 ? this.#alone(change) : this.#joined(change);
  }

  /** Does what has to come before the first write, if it is not done. What it throws is tried again the next time. */
  prepare(): void {
    this.#prepare?.();
    this.#prepare = null;
  }

  #begin(): void {
    this.prepare();
    this.#statements.run('BEGIN IMMEDIATE');
  }

  #alone<T>(change: () => T): T {
    this.#begin();
    try {
      const result = change();
      this.#end();
      return result;
    } catch (error) {
      this.#undo();
      throw error;
    }
  }

  #joined<T>(change: () => T): T {
    if (this.#lost !== null) throw lostGroup(this.#lost);
    if (!this.#db.isTransaction) this.#begin();
    this.#statements.run('SAVEPOINT one_write');
    try {
      const result = change();
      this.#statements.run('RELEASE one_write');
      return result;
    } catch (error) {
      if (this.#db.isTransaction) {
        this.#statements.run('ROLLBACK TO one_write');
        this.#statements.run('RELEASE one_write');
      } else {
        this.#lost = error;
      }
      throw error;
    }
  }

  #end(): void {
    try {
      this.#beforeCommit();
      this.#statements.run('COMMIT');
    } catch (error) {
      this.#undo();
      throw error;
    }
  }

  #undo(): void {
    if (this.#db.isTransaction) this.#statements.run('ROLLBACK');
  }
}

function lostGroup(cause: unknown): WinterdockError {
  return new WinterdockError(
    'storage_unavailable',
    'The disk failed, and everything since the last commit was undone.',
    {
      retryAfterSeconds: 5,
      cause,
    },
  );
}
