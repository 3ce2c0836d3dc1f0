/**
 * Transactions that are sent as a whole, in one round trip: no value that one of their statements reads decides what
 * the next one is. Those that come while one is under way are sent together as the next one, so that many writers wait
 * for one flush of the disk and not each for their own. Knows nothing of what the statements mean.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { answerLost, isAnswerLost } from '../lost-answer.ts';
import { codeOf, isAway, isCut, READ_ONLY } from './errors.ts';
import { type ConnectionPool, LONGEST_MS } from './pool.ts';
import { type Bound, type Sent, sentOf } from './statement.ts';

/** Units that are committed together: few enough that nobody waits long for the others. */
const TOGETHER = 50;

/**
 * Sends a transaction of `first` (statements without values) and the others, all at once. Rejects with the error that
 * undid all of it, and with `answerLost` when it may have been made.
 */
export async function sendWhole(
  sql: Pick<Sql, 'unsafe'>,
  first: string,
  statements: readonly Bound[],
): Promise<Sent[]> {
  // Each is handed over in this moment, so that nothing of anybody else's comes between.
  const begun = sql.unsafe(`begin; ${first}`).simple().execute();
  const asked = statements.map(({ text, params }) =>
    sql
      .unsafe(text, params as never[], { prepare: true })
      .values()
      .execute(),
  );
  const ended = sql.unsafe('commit').execute();
  const [start, answers, [end]] = await Promise.all([
    Promise.allSettled([begun]),
    Promise.allSettled(asked),
    Promise.allSettled([ended]),
  ]);
  // A failed transaction answers its end with ROLLBACK.
  if (start[0].status === 'fulfilled' && end.status === 'fulfilled' && end.value.command !== 'ROLLBACK')
    return answers.map((answer) => sentOf((answer as PromiseFulfilledResult<{ count: number | null }>).value));
  const errors = [...start, ...answers, end].flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const refused = errors.find((error) => !isAway(error));
  if (refused !== undefined) throw refused;
  const [beginning] = start;
  // It never got there.
  if (beginning.status === 'rejected' && !isCut(beginning.reason)) throw beginning.reason;
  throw answerLost(errors[0]);
}

interface Unit {
  statements: readonly Bound[];
  resolve: (sent: Sent[]) => void;
  reject: (error: unknown) => void;
}

export class WholeTransactions {
  readonly #pool: ConnectionPool;
  readonly #first: () => string;
  #waiting: Unit[] = [];
  #isSending = false;

  /** `first`: what each transaction begins with. */
  constructor(pool: ConnectionPool, first: () => string) {
    this.#pool = pool;
    this.#first = first;
  }

  /**
   * Commits these statements, all or none, after those that were given before and together with what others give in
   * the same moment. Resolves when they are on disk; rejects as `sendWhole` does.
   */
  send(statements: readonly Bound[]): Promise<Sent[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statements, resolve, reject });
      if (!this.#isSending) void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      // Whoever was answered just now has the next one ready.
      await turn();
      await this.#together(this.#waiting.splice(0, TOGETHER));
    }
    this.#isSending = false;
  }

  /** What one unit is refused for is nothing to the others: each is then sent by itself. */
  async #together(units: Unit[]): Promise<void> {
    try {
      const sent = await this.#one(units.flatMap(({ statements }) => statements));
      for (const { statements, resolve } of units) resolve(sent.splice(0, statements.length));
    } catch (error) {
      // Without a connection, each would fare alike.
      if (units.length === 1 || isAway(error) || isAnswerLost(error)) {
        for (const { reject } of units) reject(error);
      } else {
        for (const unit of units) await this.#together([unit]);
      }
    }
  }

  async #one(statements: readonly Bound[]): Promise<Sent[]> {
    const connection = await this.#pool.own();
    const timer = setTimeout(() => connection.cut(), LONGEST_MS).unref();
    try {
      return await sendWhole(connection.sql, this.#first(), statements);
    } catch (error) {
      // The next one may lead to a server that takes writes.
      if (codeOf(error) === READ_ONLY) connection.cut();
      throw error;
    } finally {
      clearTimeout(timer);
      connection.release();
    }
  }
}
