/**
 * Transactions that are sent as a whole, in one round trip: no value that one of their statements reads decides what
 * the next one is. Those that come while some are under way are sent together as the next one, so that many writers
 * wait for one flush of the disk and not each for their own. Knows nothing of what the statements mean.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { answerLost, isAnswerLost } from '../lost-answer.ts';
import { codeOf, isAway, isCut, READ_ONLY } from './errors.ts';
import { type ConnectionPool, LONGEST_MS, type OwnConnection } from './pool.ts';
import { type Bound, type Sent, sentOf } from './statement.ts';

/** Units that are committed together: few enough that nobody waits long for the others. */
const TOGETHER = 50;
/**
 * Transactions under way at once, one behind the other on one connection: while Postgres has one of them, this process
 * reads the answers of the other and writes what comes next.
 */
const UNDER_WAY = 2;
/** So many units are shared out among them, for that; a second flush costs fewer more than they gain. */
const SHARED = 4;

/**
 * Sends a transaction of `first` (a statement without values) and the others, all at once. Rejects with the error that
 * undid all of it, and with `answerLost` when it may have been made.
 */
export async function sendWhole(
  sql: Pick<Sql, 'unsafe'>,
  first: string,
  statements: readonly Bound[],
): Promise<Sent[]> {
  // Each is handed over in this moment, so that nothing of anybody else's comes between.
  const begun = sql.unsafe('begin').simple().execute();
  // None is parsed and planned anew, not even one without values.
  const prepared = { prepare: true, simple: false };
  const asked = [{ text: first, params: [] }, ...statements].map(({ text, params }) =>
    sql
      .unsafe(text, params as never[], prepared)
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
    return answers.slice(1).map((answer) => sentOf((answer as PromiseFulfilledResult<{ count: number | null }>).value));
  const errors = [...start, ...answers, end].flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const refused = errors.find((error) => !isAway(error));
  if (refused !== undefined) throw refused;
  const [beginning] = start;
  // It never got there.
  if (beginning.status === 'rejected' && !isCut(beginning.reason)) throw beginning.reason;
  throw answerLost(errors[0]);
}

/** The connection of transactions that are under way together. */
interface Line {
  connection: Promise<OwnConnection>;
  users: number;
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
  #isTurning = false;
  #underWay = 0;
  /** Units of those. */
  #sent = 0;
  #line: Line | null = null;

  /** `first`: what each transaction begins with. */
  constructor(pool: ConnectionPool, first: () => string) {
    this.#pool = pool;
    this.#first = first;
  }

  /**
   * Commits these statements, all or none, together with what others give in the same moment, and behind what was given
   * before, unless that was refused together with others. Resolves when they are on disk; rejects as `sendWhole` does.
   */
  send(statements: readonly Bound[]): Promise<Sent[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statements, resolve, reject });
      void this.#sendNext();
    });
  }

  async #sendNext(): Promise<void> {
    if (this.#isTurning) return;
    this.#isTurning = true;
    // Whoever was answered just now has the next one ready.
    await turn();
    this.#isTurning = false;
    while (this.#waiting.length > 0 && this.#underWay < UNDER_WAY) {
      // A connection that is always busy would never be given to them.
      if (this.#underWay > 0 && this.#pool.isWanted) break;
      const all = this.#sent + this.#waiting.length;
      const share = all < SHARED ? all : Math.ceil(all / UNDER_WAY);
      void this.#together(this.#waiting.splice(0, Math.min(share, TOGETHER)));
    }
  }

  async #together(units: Unit[]): Promise<void> {
    this.#underWay += 1;
    this.#sent += units.length;
    await this.#answer(units);
    this.#underWay -= 1;
    this.#sent -= units.length;
    if (this.#waiting.length > 0) void this.#sendNext();
  }

  /** What one unit is refused for is nothing to the others: each is then sent by itself. */
  async #answer(units: Unit[]): Promise<void> {
    try {
      const sent = await this.#one(units.flatMap(({ statements }) => statements));
      for (const { statements, resolve } of units) resolve(sent.splice(0, statements.length));
    } catch (error) {
      // Without a connection, each would fare alike.
      if (units.length === 1 || isAway(error) || isAnswerLost(error)) {
        for (const { reject } of units) reject(error);
      } else {
        for (const unit of units) await this.#answer([unit]);
      }
    }
  }

  async #one(statements: readonly Bound[]): Promise<Sent[]> {
    const line = this.#line ?? { connection: this.#pool.own(), users: 0 };
    this.#line = line;
    line.users += 1;
    let connection: OwnConnection | null = null;
    let timer: NodeJS.Timeout | undefined;
    try {
      const own = await line.connection;
      connection = own;
      own.requireThere();
      timer = setTimeout(() => own.cut(), LONGEST_MS).unref();
      return await sendWhole(own.sql, this.#first(), statements);
    } catch (error) {
      // The next one may lead to a server that takes writes.
      if (codeOf(error) === READ_ONLY) connection?.cut();
      if (this.#line === line && (isAway(error) || isAnswerLost(error) || codeOf(error) === READ_ONLY))
        this.#line = null;
      throw error;
    } finally {
      clearTimeout(timer);
      line.users -= 1;
      if (line.users === 0) {
        if (this.#line === line) this.#line = null;
        connection?.release();
      }
    }
  }
}
