/**
 * The connections to a registry on Postgres: how its statements are sent, made one transaction, and told apart when
 * they fail. Knows nothing of what its tables mean.
 *
 * A method of a store is one statement, or one transaction of several (`write`). Those hold one lock of the whole
 * registry from their first statement on, so that they come one after the other as SQLite's do, and what they have read
 * stays so. The statements that are sent alone check everything themselves.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ReservedSql, Sql } from 'postgres';
import { isNull, type Queries } from '../../../db/drizzle.ts';
import { tenantForgettings } from '../../../db/schema.ts';
import { messageOf, STORAGE_HINT, WinterdockError } from '../../base/errors.ts';
import { answerLost } from '../lost-answer.ts';
import { tenantBeingForgotten } from '../registry-errors.ts';
import type { StatementMaker } from '../statements/statements.ts';
import { type Async, asyncStatement, queryText, type Send, sendOn } from './statement.ts';

/** The lock of all transactions of several statements: any number that nobody else in the database takes. */
const WRITERS = 7_305_811;
/** Of what a trigger refuses for a tenant that is being forgotten (db/postgres/triggers.ts). */
const FORGOTTEN = 'WD001';
/** Two writers waited for each other, and this one was undone as a whole. */
const DEADLOCK = '40P01';
const ATTEMPTS = 5;
/** Another row has this key. */
export const UNIQUE_VIOLATION = '23505';
/** There is no row that this one points at. */
export const FOREIGN_KEY_VIOLATION = '23503';
/** Number of statements kept prepared; lists have some hundreds of shapes. */
const STATEMENTS = 1000;

interface Transaction {
  connection: ReservedSql;
  /** Rows that it has changed so far. */
  changes: number;
  /** Resolves when it has ended, however that was. */
  settled: Promise<void>;
}

/** What a write carries: notes its id in the transaction. */
interface Carried {
  note: () => Promise<void>;
}

export class PostgresDatabase implements StatementMaker {
  readonly sql: Sql;
  readonly #transaction = new AsyncLocalStorage<Transaction>();
  readonly #carried = new AsyncLocalStorage<Carried>();
  readonly #shapes = new Map<string, unknown>();
  /** Sends a statement in the transaction of this moment, or alone. */
  readonly #send: Send = async (text, params) => {
    const transaction = this.#transaction.getStore();
    try {
      const sent = await sendOn(transaction?.connection ?? this.sql, text, params);
      if (transaction !== undefined && !text.startsWith('select')) transaction.changes += sent.changes;
      return sent;
    } catch (error) {
      if (transaction !== undefined) throw error;
      throw (await this.#explained(error)) ?? error;
    }
  };

  constructor(sql: Sql) {
    this.sql = sql;
  }

  /** See `StatementMaker`: of what it returns every answer is a promise, which `with` says. */
  statement<T>(build: (queries: Queries) => T): () => T {
    let made: T | undefined;
    return () => {
      made ??= asyncStatement(build, this.#send);
      return made;
    };
  }

  shape<T>(key: string, build: (queries: Queries) => T): T {
    const known = this.#shapes.get(key) as T | undefined;
    if (known !== undefined) return known;
    if (this.#shapes.size >= STATEMENTS) this.#shapes.clear();
    const made = asyncStatement(build, this.#send);
    this.#shapes.set(key, made);
    return made;
  }

  /** Statements that both drivers share, with promises. */
  with<S>(make: (statements: StatementMaker) => S): Async<S> {
    return make(this) as Async<S>;
  }

  /** One statement that is not kept. */
  once<T>(build: (queries: Queries) => T): ReturnType<Async<() => T>> {
    return asyncStatement(build, this.#send) as ReturnType<Async<() => T>>;
  }

  /** The same, which locks the rows that it reads until the transaction ends. */
  locking<T>(build: (queries: Queries) => T): Async<() => T> {
    const made = asyncStatement(build, this.#send, ' for update');
    return (() => made) as unknown as Async<() => T>;
  }

  /**
   * The rows of a query from one moment, `piece` at a time; the statement is not kept. Other work runs between the
   * pieces.
   */
  async *pieces<Row>(
    build: (queries: Queries) => unknown,
    bound: Record<string, unknown>,
    piece: number,
  ): AsyncGenerator<Row[]> {
    const { text, params, decode } = queryText(build, bound);
    for await (const rows of this.sql
      .unsafe(text, params as never[])
      .values()
      .cursor(piece)) {
      yield (rows as unknown[][]).map((values) => decode(values) as Row);
    }
  }

  /** SQL by hand, for what only Postgres has; each with its reason where it stands. Returns its rows. */
  async ask(text: string, params: unknown[] = []): Promise<unknown[][]> {
    return (await this.#send(text, params)).rows;
  }

  /**
   * Runs `work` as one transaction that is on disk when this resolves. Any error undoes all of it. Rejects with
   * `storage_unavailable` when the registry cannot be written, and says so when the change may have been made.
   */
  async write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#transaction.getStore() !== undefined) throw new Error('A transaction is not begun within another one.');
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#write(work);
      } catch (error) {
        if (codeOf(error) === DEADLOCK && attempt < ATTEMPTS) continue;
        throw (await this.#explained(error)) ?? error;
      }
    }
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    const connection = await this.sql.reserve();
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    try {
      await connection.unsafe(`begin; select pg_advisory_xact_lock(${WRITERS})`).simple();
      const transaction: Transaction = { connection, changes: 0, settled };
      const result = await this.#transaction.run(transaction, async () => {
        const done = await work();
        const carried = this.#carried.getStore();
        if (carried !== undefined && transaction.changes > 0) await carried.note();
        return done;
      });
      await commit(connection);
      return result;
    } catch (error) {
      // Without a connection there is no transaction any more.
      if (!isAway(error)) await connection.unsafe('rollback').catch(() => undefined);
      throw error;
    } finally {
      settle();
      connection.release();
    }
  }

  /** Resolves when the transaction of this moment has ended. */
  settled(): Promise<void> {
    const transaction = this.#transaction.getStore();
    if (transaction === undefined) throw new Error('Lines are appended within a transaction.');
    return transaction.settled;
  }

  /** Runs `work` over one moment of the registry. It changes nothing. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#transaction.getStore() !== undefined) return work();
    const connection = await this.sql.reserve();
    try {
      await connection.unsafe('begin isolation level repeatable read read only');
      return await this.#transaction.run({ connection, changes: 0, settled: Promise.resolve() }, work);
    } catch (error) {
      throw (await this.#explained(error)) ?? error;
    } finally {
      await connection.unsafe('commit').catch(() => undefined);
      connection.release();
    }
  }

  /** One moment of the registry, for as long as it is held open. */
  async moment(): Promise<{ run<T>(work: () => Promise<T>): Promise<T>; close(): Promise<void> }> {
    const connection = await this.sql.reserve();
    await connection.unsafe('begin isolation level repeatable read read only');
    // The moment is that of the first statement.
    await connection.unsafe('select 1');
    let isOpen = true;
    const transaction: Transaction = { connection, changes: 0, settled: Promise.resolve() };
    return {
      run: (work) => this.#transaction.run(transaction, work),
      async close() {
        if (!isOpen) return;
        isOpen = false;
        await connection.unsafe('commit').catch(() => undefined);
        connection.release();
      },
    };
  }

  /** Runs `work`, whose transaction that changes something runs `note` in it, before it is committed. */
  carrying<T>(note: () => Promise<void>, work: () => T): T {
    return this.#carried.run({ note }, work);
  }

  /** Counts what a statement by hand has changed. */
  changed(rows: number): void {
    const transaction = this.#transaction.getStore();
    if (transaction !== undefined) transaction.changes += rows;
  }

  /** The registry's own error for one of Postgres or of the connection; null for any other. */
  async #explained(error: unknown): Promise<WinterdockError | null> {
    if (error instanceof WinterdockError) return null;
    if (codeOf(error) === FORGOTTEN) {
      const { tenant, finished } = tenantForgettings;
      const open = await this.once((queries) =>
        queries.select({ tenant }).from(tenantForgettings).where(isNull(finished)).limit(2).prepare(),
      ).all();
      return tenantBeingForgotten(open.length === 1 ? (open[0]?.tenant ?? null) : null, error);
    }
    return isAway(error) || isUnwritable(error) ? unavailable(error) : null;
  }
}

async function commit(connection: ReservedSql): Promise<void> {
  try {
    await connection.unsafe('commit');
  } catch (error) {
    // Whether it was committed is known to Postgres alone.
    if (isAway(error)) throw answerLost(error);
    throw error;
  }
}

/** The code of an error of Postgres (SQLSTATE), of its client or of the system; null for any other. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** The index or constraint that an error of Postgres names. */
export function constraintOf(error: unknown): string | null {
  const { constraint_name: name } = error as { constraint_name?: unknown };
  return typeof name === 'string' ? name : null;
}

/** Whether a key or a trigger refused a row (db/postgres/triggers.ts). */
export function isRefused(error: unknown): boolean {
  return /^(23|WD002)/.test(codeOf(error) ?? '');
}

/** The connection is gone, or there is none: nothing more of a transaction comes. */
function isAway(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|EPIPE|ETIMEDOUT|EHOST|ENOTFOUND|EAI_|08|57P0)/.test(code);
}

/** Read-only, full, out of connections or memory, or told to stop. */
function isUnwritable(error: unknown): boolean {
  return /^(25006|53|58|55P03|57014|40)/.test(codeOf(error) ?? '');
}

function unavailable(error: unknown): WinterdockError {
  return new WinterdockError('storage_unavailable', `The registry could not be written: ${messageOf(error)}.`, {
    hint: STORAGE_HINT,
    retryAfterSeconds: 1,
    cause: error,
  });
}
