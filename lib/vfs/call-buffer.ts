/**
 * The buffer of all running calls' changes: a private SQLite database attached to the handle. Two megabytes of it are
 * kept in memory, the rest in a file without a name (SQLite unlinks it when it creates it), so it always ends with the
 * process. Owns that database and the count of the room left for it; knows nothing of what a row means.
 */
import type { DatabaseSync } from 'node:sqlite';
import { STORAGE_HINT, WinterdockError } from '../base/errors.ts';
import type { Quota } from './quota.ts';
import { resultCodeOf } from './sqlite-errors.ts';
import type { Statements } from './statements.ts';

/**
 * One row for each path that a call has changed. `kind`: `file`, `link`, `dir`, `kept` (an implicit directory), `gone`,
 * or `attributes` (another mode or time of a file with the same content). `above`: an earlier version of the path.
 * `pages`: upper bound of what it takes in the file. `freed`: what it frees. `body`: a reference to a file's content,
 * which is stored separately so that a new mode or name does not rewrite it.
 */
const TABLE = `CREATE TABLE pending.changed_path (call INTEGER NOT NULL, volume TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, mode INTEGER,
mtime INTEGER, above INTEGER NOT NULL, size INTEGER, pages REAL NOT NULL, freed REAL NOT NULL, target TEXT, body INTEGER, PRIMARY KEY (call, volume, path)) WITHOUT ROWID`;
const BODIES = 'CREATE TABLE pending.changed_body (id INTEGER PRIMARY KEY, content BLOB NOT NULL)';

/** Errors after which SQLite may have lost uncommitted changes: out of memory, I/O error, disk full, cannot open. */
const LOSING = new Set<number | null>([7, 10, 13, 14]);
const CACHE_KIB = 2048;
/** Pages kept while nothing is buffered. Beyond this, memory and disk are released. */
const KEPT_PAGES = 256;
/** Calls with few rows whose rows are dropped together. */
const MOST_LEFT = 64;
/** Pages reserved for splits of the file's b-trees when they take in all changes. */
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
  /** Upper bound of the pages that all rows take. */
  #pages = 0;
  /** Free pages of the file, as of the commit with this number. */
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

  /** A number for a new call's rows, higher than any before. */
  enter(): number {
    if (!this.#attached) this.#attach();
    const call = this.#nextCall;
    this.#nextCall += 1;
    this.#calls.add(call);
    return call;
  }

  /** Drops a call's rows. `few`: so few that they are dropped later, together with others. */
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
   * Runs one write of rows: all or nothing. Throws `storage_unavailable` when the disk fails, and from then on: earlier
   * changes may be lost.
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

  /** Throws when buffered changes may be lost. */
  requireSound(): void {
    if (this.#failed !== null) throw lost(this.#failed);
  }

  /**
   * Adds the room that a new row takes. Throws `quota_exceeded` when the file, as of its commit number `committed`, has
   * no room for all changes. An exact sum is made only then; while there is room, a sum that still counts withdrawn
   * rows is enough.
   */
  took(pages: number, committed: number): void {
    this.#pages += pages;
    this.#require(0, committed);
  }

  /**
   * Records that the commit with this number added at most `pages` to the file, and that no other commit came between.
   */
  given(pages: number, committed: number): void {
    if (this.#free.asOf === committed - 1) this.#free = { pages: this.#free.pages - pages, asOf: committed };
  }

  /** Throws `quota_exceeded` when `bytes` more would not fit; called before anything is copied. */
  reserve(bytes: number, committed: number): void {
    if (bytes > 0) this.#require(this.#quota.pagesFor(bytes), committed);
  }

  /** Bytes that the file may take, and of what is free beside all buffered changes. */
  room(): { limit: number; free: number } {
    if (this.inUse) this.#measure();
    const { limit, free, pageBytes } = this.#quota.room();
    return { limit, free: Math.max(0, free - (this.inUse ? Math.ceil(this.#pages) : 0) * pageBytes) };
  }

  /** Drops all rows; releases memory and disk when they took much. */
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
   * The only place that attaches a database. Sorts stay in memory: the temporary-storage settings apply to a database
   * that is attached while they are set.
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
    hint: STORAGE_HINT,
    retryAfterSeconds: 5,
    cause,
  });
}
