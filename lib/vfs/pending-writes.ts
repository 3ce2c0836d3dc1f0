/**
 * Where running calls gather what they write: a private database of SQLite's, attached to the handle, of which two
 * megabytes are kept in memory and the rest in a file that has no name (SQLite removes the name as it makes the file),
 * so that it ends with the process, however that ends. Owns that database and the room that is left for what is in it;
 * knows nothing of what a row means.
 */
import type { DatabaseSync } from 'node:sqlite';
import { WinterdockError } from '../base/errors.ts';
import type { Quota } from './quota.ts';
import { resultCodeOf } from './sqlite-errors.ts';
import type { Statements } from './statements.ts';

/**
 * One row for each path that a call has changed, and what is to become of it. `kind`: `file`, `link`, `dir`; `kept` a
 * directory that nobody asked for by name; `gone`; `attributes` another mode or time of a file whose content stays.
 * `above`: a version that the path has had. `pages`: what it takes in the file, at most; `freed`: what it gives back.
 * `body`: where the content of a file is, apart from the row so that a new mode or name does not write it again.
 */
const TABLE = `CREATE TABLE pending.changed_path (call INTEGER NOT NULL, volume TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, mode INTEGER,
mtime INTEGER, above INTEGER NOT NULL, size INTEGER, pages REAL NOT NULL, freed REAL NOT NULL, target TEXT, body INTEGER, PRIMARY KEY (call, volume, path)) WITHOUT ROWID`;
const BODIES = 'CREATE TABLE pending.changed_body (id INTEGER PRIMARY KEY, content BLOB NOT NULL)';

/** Errors after which SQLite may have lost what was not committed: no memory, a failing disk, a full one, no file. */
const LOSING = new Set<number | null>([7, 10, 13, 14]);
const CACHE_KIB = 2048;
/** What is kept when nothing is gathered; above it memory and disk are given back. */
const KEPT_PAGES = 256;
/** Calls whose few rows wait to be dropped together. */
const MOST_LEFT = 64;
/** Room that is left to the trees of the file when they take everything in. */
const SPARE_PAGES = 16;

export class PendingWrites {
  readonly #db: DatabaseSync;
  readonly #statements: Statements;
  readonly #quota: Quota;
  readonly #calls = new Set<number>();
  #attached = false;
  #nextCall = 1;
  /** Calls whose rows are not dropped yet. */
  #left = 0;
  #failed: unknown = null;
  /** Pages that all rows take, at most. */
  #pages = 0;
  /** Pages that the file has left, as of the commit with this number. */
  #free = { pages: 0, asOf: -1 };

  constructor(db: DatabaseSync, statements: Statements, quota: Quota) {
    this.#db = db;
    this.#statements = statements;
    this.#quota = quota;
  }

  /** True while a call has rows here. */
  get inUse(): boolean {
    return this.#calls.size > 0;
  }

  /** A number for another call's rows, above all there were. */
  enter(): number {
    if (!this.#attached) this.#attach();
    const call = this.#nextCall;
    this.#nextCall += 1;
    this.#calls.add(call);
    return call;
  }

  /** Drops a call's rows. `few`: there are so few that they can wait to be dropped together with others. */
  leave(call: number, few: boolean): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) {
      this.#pages = 0;
      this.#left += 1;
      if (!few || this.#left >= MOST_LEFT) this.#empty();
    } else if (this.#failed === null) {
      this.#statements.run(
        'DELETE FROM pending.changed_body WHERE id IN (SELECT body FROM pending.changed_path WHERE call = ?)',
        call,
      );
      this.#statements.run('DELETE FROM pending.changed_path WHERE call = ?', call);
      this.#measure();
    }
  }

  /**
   * Runs one write of rows: all of it is kept, or nothing. Throws `storage_unavailable` when the disk did not take
   * them, then and from then on: what was gathered may be lost with it.
   */
  run<T>(change: () => T): T {
    if (this.#failed !== null) throw lost(this.#failed);
    this.#statements.run('SAVEPOINT one_write');
    try {
      const result = change();
      this.#statements.run('RELEASE one_write');
      return result;
    } catch (error) {
      if (LOSING.has(resultCodeOf(error))) this.#failed = error;
      if (this.#db.isTransaction) {
        this.#statements.run('ROLLBACK TO one_write');
        this.#statements.run('RELEASE one_write');
      }
      throw this.#failed === null ? error : lost(error);
    }
  }

  /** Throws when something that was gathered may be lost. */
  requireSound(): void {
    if (this.#failed !== null) throw lost(this.#failed);
  }

  /**
   * Counts in what a row takes that was just written. Throws `quota_exceeded` when the file, as of its commit number
   * `committed`, has no room for all that is gathered; the rows are summed up only then, as a sum without what was
   * taken back will do while there is room.
   */
  took(pages: number, committed: number): void {
    this.#pages += pages;
    this.#require(0, committed);
  }

  /**
   * Tells that the file took in `pages` at most, with the commit of this number, and nothing else since the one before
   * it.
   */
  given(pages: number, committed: number): void {
    if (this.#free.asOf === committed - 1) this.#free = { pages: this.#free.pages - pages, asOf: committed };
  }

  /** Throws `quota_exceeded` when `bytes` more would not fit, before anything is copied. */
  reserve(bytes: number, committed: number): void {
    if (bytes > 0) this.#require(this.#quota.pagesFor(bytes), committed);
  }

  /** Drops all rows; memory and disk are given back when they took much. */
  #empty(): void {
    this.#left = 0;
    if (this.#failed === null && this.#size() <= KEPT_PAGES) {
      this.#statements.run('DELETE FROM pending.changed_path');
      this.#statements.run('DELETE FROM pending.changed_body');
      return;
    }
    this.#failed = null;
    this.#db.exec('DETACH pending');
    this.#attached = false;
  }

  /**
   * Only here may anything be attached, and only this. Sorts stay in memory: what is said of temporary storage holds
   * for what is attached then.
   */
  #attach(): void {
    this.#db.limits.attach = 1;
    try {
      this.#db.exec("PRAGMA temp_store = FILE; ATTACH '' AS pending");
      this.#attached = true;
      this.#db.exec(
        `PRAGMA pending.cache_size = -${CACHE_KIB}; PRAGMA pending.journal_mode = MEMORY; ${TABLE}; ${BODIES}`,
      );
    } finally {
      this.#db.exec('PRAGMA temp_store = MEMORY');
      this.#db.limits.attach = 0;
    }
  }

  #require(more: number, committed: number): void {
    if (this.#free.asOf === committed && this.#pages + more <= this.#free.pages) return;
    this.#free = { pages: Math.max(0, this.#quota.freePages() - SPARE_PAGES), asOf: committed };
    if (this.#pages + more <= this.#free.pages) return;
    this.#measure();
    if (this.#pages + more > this.#free.pages) throw this.#quota.exceeded();
  }

  #measure(): void {
    const sql = 'SELECT total(pages) - total(freed) AS pages FROM pending.changed_path WHERE call >= ?';
    this.#pages = this.#statements.get<{ pages: number }>(sql, Math.min(...this.#calls))?.pages ?? 0;
  }

  #size(): number {
    return this.#statements.get<{ page_count: number }>('PRAGMA pending.page_count')?.page_count ?? 0;
  }
}

function lost(cause: unknown): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The disk failed, and what the command had written is undone.', {
    retryAfterSeconds: 5,
    cause,
  });
}
