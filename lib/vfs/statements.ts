/** Prepared statements of one handle, cached by their text. Knows nothing of what they do. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/**
 * A prepared statement keeps a copy of its last parameters until it gets new ones. A statement with parameters larger
 * than this is not cached.
 */
const KEPT_VALUE_BYTES = 1024 * 1024;

export class Statements {
  readonly #db: DatabaseSync;
  readonly #rewrite: (sql: string) => string;
  readonly #prepared = new Map<string, StatementSync>();

  /** `rewrite` makes the SQL that is prepared of the one that is asked for. */
  constructor(db: DatabaseSync, rewrite: (sql: string) => string = (sql) => sql) {
    this.#db = db;
    this.#rewrite = rewrite;
  }

  /** The first row, or undefined. `T` is the shape that the SQL selects. */
  get<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#statement(sql).get(...values) as T | undefined;
  }

  all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#statement(sql).all(...values) as T[];
  }

  /** Iterates over the rows. One SQL text must not be iterated twice at the same time. */
  iterate<T>(sql: string, ...values: SQLInputValue[]): IterableIterator<T> {
    return this.#statement(sql).iterate(...values) as IterableIterator<T>;
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number {
    const statement = values.some(isLarge) ? this.#db.prepare(this.#rewrite(sql)) : this.#statement(sql);
    return Number(statement.run(...values).changes);
  }

  /** True inside a transaction of the handle. SQLite can end one by itself. */
  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Drops the cache. Garbage collection frees the statements. */
  clear(): void {
    this.#prepared.clear();
  }

  #statement(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(this.#rewrite(sql));
    this.#prepared.set(sql, statement);
    return statement;
  }
}

function isLarge(value: SQLInputValue): boolean {
  return ArrayBuffer.isView(value) && value.byteLength > KEPT_VALUE_BYTES;
}
