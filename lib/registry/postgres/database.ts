/**
 * The connections to a registry on Postgres: how its statements are sent and made one transaction. Knows nothing of
 * what its tables mean.
 *
 * A method of a store is one statement, or one transaction of several: `write` where one decides what the next is,
 * `writeWhole` where none does. Those hold one lock of the whole registry from their first statement on, so that they
 * come one after the other as SQLite's do, and what they have read stays so. The statements that are sent alone check
 * everything themselves, and take no lock.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isNull, type Queries } from '../../../db/drizzle.ts';
import { tenantForgettings } from '../../../db/schema.ts';
import { isWinterdockError, type WinterdockError } from '../../base/errors.ts';
import { answerLost } from '../lost-answer.ts';
import { tenantBeingForgotten } from '../registry-errors.ts';
import type { StatementMaker } from '../statements/statements.ts';
import { codeOf, DEADLOCK, FORGOTTEN, isAway, isCut, isUnwritable, READ_ONLY, unavailable } from './errors.ts';
import { sendWhole, WholeTransactions } from './group-commit.ts';
import { type ConnectionPool, LONGEST_MS, type OwnConnection } from './pool.ts';
import { type Async, asyncStatement, type Bound, compiled, type Sent, sendOn } from './statement.ts';

/** The lock of all transactions of several statements: any number that nobody else in the database takes. */
const WRITERS = 7_305_811;
const ATTEMPTS = 5;
/** What a statement begins with that changes rows. Others may need to be no part of a transaction. */
const CHANGES = /^(?:insert|update|delete|with)\b/;
/** Number of statements kept prepared; lists have some hundreds of shapes. */
const STATEMENTS = 1000;

/** Of one moment, which may be held for long. */
const BEGIN_MOMENT =
  'begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = 0; select 1';

interface Transaction {
  connection: OwnConnection;
  /** Rows that it has changed so far. */
  changes: number;
  /** Resolves when it has ended, however that was. */
  settled: Promise<void>;
}

/** Says whether this process may write, when another one might have taken the registry over. */
export interface WriteGuard {
  /** Throws when it may not now. */
  requireHeld(): void;
  /**
   * An expression of SQL that ends a transaction when another one has taken the registry over, which waits for those
   * that have asked it and are not ended; empty when nobody can.
   */
  readonly check: string;
}

/** What a write carries: notes its id in the transaction. */
interface Carried {
  note: () => Promise<void>;
}

interface Moment {
  run<T>(work: () => Promise<T>): Promise<T>;
  /** The rows of a query without values, `piece` at a time, as the client reads them. One query at a time. */
  pieces(text: string, piece: number): AsyncGenerator<unknown[][]>;
  /** Idempotent. */
  close(): Promise<void>;
}

export class PostgresDatabase implements StatementMaker {
  readonly #pool: ConnectionPool;
  readonly #guard: WriteGuard | null;
  readonly #transaction = new AsyncLocalStorage<Transaction>();
  readonly #carried = new AsyncLocalStorage<Carried>();
  /** Whether a standby is not to be asked. */
  readonly #primary = new AsyncLocalStorage<boolean>();
  readonly #shapes = new Map<string, unknown>();
  readonly #whole: WholeTransactions;
  /** Sends a statement in the transaction of this moment, or alone. */
  readonly #send = async (text: string, params: unknown[], prepare = true): Promise<Sent> => {
    const transaction = this.#transaction.getStore();
    if (transaction === undefined) return this.#explaining(() => this.#sendAlone({ text, params }, prepare));
    transaction.connection.requireThere();
    const sent = await sendOn(transaction.connection.sql, text, params, prepare);
    if (!text.startsWith('select')) transaction.changes += sent.changes;
    return sent;
  };

  /** `guard`: null for one that nobody can take over. */
  constructor(pool: ConnectionPool, guard: WriteGuard | null = null) {
    this.#pool = pool;
    this.#guard = guard;
    this.#whole = new WholeTransactions(pool, () => this.#first());
  }

  /** What a transaction begins with that keeps other writers away. */
  #first(): string {
    return `select ${[`pg_advisory_xact_lock(${WRITERS})`, this.#guard?.check ?? ''].filter(Boolean).join()}`;
  }

  async #sendAlone({ text, params }: Bound, prepare: boolean): Promise<Sent> {
    const isWrite = CHANGES.test(text);
    if (isWrite) this.#guard?.requireHeld();
    const check = this.#guard?.check ?? '';
    try {
      return await this.#pool.share(
        async (sql) => {
          if (!isWrite || check === '') return sendOn(sql, text, params, prepare);
          const [sent] = await sendWhole(sql, `select ${check}`, [{ text, params }]);
          return sent as Sent;
        },
        { primary: this.#primary.getStore() === true },
      );
    } catch (error) {
      // It may have arrived, and then it was made: a statement alone is a transaction of its own.
      throw isWrite && isCut(error) ? answerLost(error) : error;
    }
  }

  /** Closes its connections. Idempotent. */
  close(): Promise<void> {
    return this.#pool.end();
  }

  /** See `StatementMaker`: of what it returns every answer is a promise, which `with` says. */
  statement<T>(build: (queries: Queries) => T): () => T {
    let made: T | undefined;
    return () => {
      made ??= asyncStatement(build, this.#send);
      return made;
    };
  }

  /** `replans`: by the values of each call. The plan of a prepared statement may become one for any values. */
  shape<T>(key: string, build: (queries: Queries) => T, replans = false): T {
    const known = this.#shapes.get(key) as T | undefined;
    if (known !== undefined) return known;
    if (this.#shapes.size >= STATEMENTS) this.#shapes.clear();
    const made = asyncStatement(build, (text, params) => this.#send(text, params, !replans));
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
    const { text, bind, decode } = compiled<Row>(build);
    const { sql, release } = await this.#pool.own();
    try {
      for await (const rows of sql
        .unsafe(text, bind(bound) as never[])
        .values()
        .cursor(piece)) {
        yield (rows as unknown[][]).map(decode);
      }
    } catch (error) {
      throw (await this.#explained(error)) ?? error;
    } finally {
      release();
    }
  }

  /** SQL by hand, for what only Postgres has; each with its reason where it stands. Returns its rows. */
  async ask(text: string, params: unknown[] = []): Promise<unknown[][]> {
    return (await this.#send(text, params)).rows;
  }

  /** The same alone, for what goes through whole tables: it may take as long as it does. */
  async askForLong(text: string): Promise<void> {
    this.#guard?.requireHeld();
    await this.#explaining(async () => {
      const { sql, release } = await this.#pool.own();
      try {
        const [[limit] = []] = await sql.unsafe(`select current_setting('statement_timeout')`).values();
        await sql.unsafe('set statement_timeout = 0');
        await sql.unsafe(text).finally(() => sql.unsafe(`set statement_timeout = '${limit}'`));
      } finally {
        release();
      }
    });
  }

  /**
   * Runs `work` as one transaction that is on disk when this resolves. Any error undoes all of it. Rejects with
   * `registry_unavailable` when it cannot be written, and says so when the change may have been made.
   */
  async write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#transaction.getStore() !== undefined) throw new Error('A transaction is not begun within another one.');
    return this.#explaining(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#write(work);
        } catch (error) {
          if (codeOf(error) !== DEADLOCK || attempt === ATTEMPTS) throw error;
        }
      }
    });
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    this.#guard?.requireHeld();
    const connection = await this.#pool.own();
    const { sql } = connection;
    const timer = setTimeout(() => connection.cut(), LONGEST_MS).unref();
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    // Sent together with the first statement, which fails where this does.
    const begun = sql.unsafe(`begin; ${this.#first()}`).simple().execute();
    const refused = begun.then(
      () => null,
      (error: unknown) => ({ error }),
    );
    try {
      const transaction: Transaction = { connection, changes: 0, settled };
      const result = await this.#transaction.run(transaction, async () => {
        const done = await work();
        const carried = this.#carried.getStore();
        if (carried !== undefined && transaction.changes > 0) await carried.note();
        return done;
      });
      await begun;
      connection.requireThere();
      await commit(sql);
      return result;
    } catch (error) {
      const cause = (await refused)?.error ?? error;
      // The next one may lead to a server that takes writes.
      if (codeOf(cause) === READ_ONLY) connection.cut();
      // Without a connection there is no transaction any more.
      else if (!isAway(cause)) await sql.unsafe('rollback').catch(() => undefined);
      throw cause;
    } finally {
      clearTimeout(timer);
      settle();
      connection.release();
    }
  }

  /**
   * The same for statements of which none decides what another one is, in one round trip. Each changes something only
   * where all that it needs is so. Those that others give in the same moment are committed together with them.
   */
  writeWhole(statements: readonly Bound[]): Promise<Sent[]> {
    if (this.#transaction.getStore() !== undefined) throw new Error('A transaction is not begun within another one.');
    if (this.#carried.getStore() === undefined)
      return this.#explaining(async () => {
        this.#guard?.requireHeld();
        return this.#whole.send(statements);
      });
    return this.write(async () => {
      const sent: Sent[] = [];
      for (const { text, params } of statements) sent.push(await this.#send(text, params));
      return sent;
    });
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
    const moment = await this.moment();
    return moment.run(work).finally(() => moment.close());
  }

  /** One moment of the registry, for as long as it is held open. */
  async moment(): Promise<Moment> {
    const connection = await this.#pool.own();
    const { sql } = connection;
    let isOpen = true;
    const close = async () => {
      if (!isOpen) return;
      isOpen = false;
      await sql.unsafe('commit').catch(() => undefined);
      connection.release();
    };
    try {
      // The moment is that of the first statement.
      await sql.unsafe(BEGIN_MOMENT).simple();
    } catch (error) {
      await close();
      throw (await this.#explained(error)) ?? error;
    }
    const transaction: Transaction = { connection, changes: 0, settled: Promise.resolve() };
    const run = <T>(work: () => Promise<T>) => this.#explaining(() => this.#transaction.run(transaction, work));
    return {
      run,
      async *pieces(text, piece) {
        const send = (statement: string) =>
          run(async () => {
            connection.requireThere();
            return (await sql.unsafe(statement).values()) as unknown as unknown[][];
          });
        await send(`declare rows no scroll cursor for ${text}`);
        for (let isLast = false; !isLast; ) {
          const rows = await send(`fetch ${piece} from rows`);
          if (rows.length > 0) yield rows;
          isLast = rows.length < piece;
        }
        await send('close rows');
      },
      close,
    };
  }

  /** Runs `work`, whose transaction that changes something runs `note` in it, before it is committed. */
  carrying<T>(note: () => Promise<void>, work: () => T): T {
    return this.#carried.run({ note }, work);
  }

  /** Runs `work`, which reads, and never on a standby, which may lack the last writes. */
  onPrimary<T>(work: () => Promise<T>): Promise<T> {
    return this.#primary.run(true, work);
  }

  /** Examines each new connection from now on. */
  examine(check: ConnectionPool['check']): void {
    this.#pool.check = check;
  }

  /** Counts what a statement by hand has changed. */
  changed(rows: number): void {
    const transaction = this.#transaction.getStore();
    if (transaction !== undefined) transaction.changes += rows;
  }

  /** Runs `work`, whose errors of Postgres and of the connection become the registry's own. */
  async #explaining<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw (await this.#explained(error)) ?? error;
    }
  }

  /** The registry's own error for one of Postgres or of the connection; null for any other. */
  async #explained(error: unknown): Promise<WinterdockError | null> {
    if (isWinterdockError(error)) return null;
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

async function commit(sql: OwnConnection['sql']): Promise<void> {
  const { command } = await sql.unsafe('commit').catch((error: unknown) => {
    // Whether it was committed is known to Postgres alone.
    throw isAway(error) ? answerLost(error) : error;
  });
  // What Postgres answers where a statement has failed, whoever caught that.
  if (command === 'ROLLBACK') throw new Error(`A transaction was undone: ${command}.`);
}
