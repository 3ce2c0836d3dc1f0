/**
 * Connections to a registry on Postgres. A statement that is sent alone goes to one that is free or has the least to
 * do; a transaction has one for itself. Each is a client of its own, so that it is known which of them was lost: what
 * is sent in a transaction never goes to the connection that comes after it.
 */
import type { Sql } from 'postgres';
import { isWinterdockError } from '../../base/errors.ts';
import type { PostgresAddress } from '../../base/postgres-url.ts';
import { type ConnectSettings, connectorTo } from './connect.ts';
import { ConnectionError } from './dial.ts';
import { codeOf, READ_ONLY, unavailable } from './errors.ts';

/**
 * Examines a connection before anything is sent on it: throws when nothing may be, and resolves with whether it leads
 * to a standby, which has no writes and may lack the last ones.
 */
export type ConnectionCheck = (sql: Sql) => Promise<{ isStandby: boolean }>;

/** A connection that was refused is not made again before so many milliseconds. */
const REFUSED_MS = 500;
/** A statement that nobody waits for any more: Postgres gives it up before, when it can be reached. */
const SILENT_MS = 330_000;

/** A transaction of several statements that has not ended after so many milliseconds never will. */
export const LONGEST_MS = 900_000;

/** A connection while one user has it. */
export interface OwnConnection {
  readonly sql: Sql;
  /** Throws when it was lost since it was given: nothing is sent any more. */
  requireThere(): void;
  /** Gives up what is under way on it, unless it was lost already. */
  cut(): void;
  /** Idempotent. */
  release(): void;
}

/** One connection, and those that come after it. */
class Line {
  sql: Sql;
  /** Statements under way. */
  load = 0;
  isOwned = false;
  /** How many times it was lost. */
  losses = 0;
  #isEnded = false;
  /** What the examination of the present connection has said; null: it was not examined, or not let through. */
  #examined: { isStandby: boolean } | null = null;
  #examining: Promise<void> | null = null;
  #refusal: { error: unknown; untilMs: number } | null = null;
  readonly #connect: (onClose: () => void) => Sql;
  readonly #check: ConnectionCheck;

  constructor(connect: (onClose: () => void) => Sql, check: ConnectionCheck) {
    this.#connect = connect;
    this.#check = check;
    this.sql = this.#next();
  }

  /** Whether something may be sent at once: otherwise after `ready`. */
  get isReady(): boolean {
    return this.#examined !== null;
  }

  get isStandby(): boolean {
    return this.#examined?.isStandby === true;
  }

  /** Makes the connection where there is none. Rejects when nothing may be sent. */
  async ready(): Promise<void> {
    while (this.#examined === null) {
      if (this.#refusal !== null && performance.now() < this.#refusal.untilMs) throw this.#refusal.error;
      this.#examining ??= this.#examine().finally(() => {
        this.#examining = null;
      });
      await this.#examining;
    }
  }

  async #examine(): Promise<void> {
    const { sql, losses } = this;
    try {
      const examined = await this.#check(sql);
      if (this.losses === losses) this.#examined = examined;
    } catch (error) {
      // Nothing was sent yet: whatever it is, the registry cannot be used now.
      const refusal = isWinterdockError(error) ? error : unavailable(error);
      // The next connection may lead elsewhere.
      if (this.losses === losses && !this.#isEnded) this.cut();
      this.#refusal = { error: refusal, untilMs: performance.now() + (isWinterdockError(error) ? REFUSED_MS : 0) };
      throw refusal;
    }
  }

  /**
   * Nobody uses it now. A connection to a standby is not kept: what leads to one may lead elsewhere a moment later.
   */
  rest(): void {
    if (this.isStandby && !this.#isEnded) this.cut();
  }

  #next(): Sql {
    // A client that was cut between a statement and its sending never sends anything again: each loss is its end.
    const sql: Sql = this.#connect(() => {
      if (this.sql === sql && !this.#isEnded) this.cut();
    });
    return sql;
  }

  /** Gives up what is under way on it. */
  cut(): void {
    const before = this.sql;
    this.losses += 1;
    this.#examined = null;
    this.sql = this.#next();
    void before.end({ timeout: 0 });
  }

  /** Closes it after what is under way, in seconds at most; nothing comes after it. */
  end(timeout: number): Promise<void> {
    this.#isEnded = true;
    return this.sql.end({ timeout });
  }
}

export class ConnectionPool {
  readonly #lines: Line[];
  readonly #waiting: ((line: Line) => void)[] = [];
  #ending: Promise<void> | null = null;

  private constructor(lines: Line[]) {
    this.#lines = lines;
  }

  /** Examines each connection before it is used. Default: whoever is reached will do. */
  check: ConnectionCheck = async () => ({ isStandby: false });

  /** Whether somebody waits for one. */
  get isWanted(): boolean {
    return this.#waiting.length > 0;
  }

  /** Connects when something is sent. `most`: connections at once. */
  static async open(
    address: PostgresAddress,
    { most, schema }: Pick<ConnectSettings, 'schema'> & { most: number },
  ): Promise<ConnectionPool> {
    const connect = await connectorTo(address);
    const options = schema === undefined ? {} : { schema };
    const check: ConnectionCheck = (sql) => pool.check(sql);
    const line = () => new Line((onClose) => connect({ ...options, onClose }), check);
    const pool = new ConnectionPool(Array.from({ length: most }, line));
    return pool;
  }

  /**
   * Runs `work` on a connection that others may use too, for a while at most. `primary`: not on one that leads to a
   * standby.
   */
  async share<T>(work: (sql: Sql) => Promise<T>, { primary = false } = {}): Promise<T> {
    const line = this.#leastBusy() ?? (await this.#wait());
    line.load += 1;
    line.isOwned = false;
    let timer: NodeJS.Timeout | undefined;
    try {
      if (!line.isReady) await line.ready();
      if (primary && line.isStandby)
        throw unavailable(new ConnectionError(READ_ONLY, 'a standby may lack the last writes'));
      const { losses } = line;
      timer = setTimeout(() => line.losses === losses && line.cut(), SILENT_MS).unref();
      return await work(line.sql);
    } catch (error) {
      if (codeOf(error) === READ_ONLY) line.cut();
      throw error;
    } finally {
      clearTimeout(timer);
      line.load -= 1;
      this.#offer(line);
    }
  }

  /** A connection of one's own, after those who asked before. */
  async own(): Promise<OwnConnection> {
    const idle = this.#waiting.length === 0 ? this.#lines.find(({ load, isOwned }) => load === 0 && !isOwned) : null;
    if (idle) idle.isOwned = true;
    const line = idle ?? (await this.#wait());
    if (!line.isReady) {
      try {
        await line.ready();
      } catch (error) {
        line.isOwned = false;
        this.#offer(line);
        throw error;
      }
    }
    const { losses } = line;
    let isOwned = true;
    return {
      sql: line.sql,
      requireThere() {
        if (line.losses !== losses) throw new ConnectionError('CONNECTION_CLOSED', 'the connection was lost');
      },
      cut() {
        if (line.losses === losses) line.cut();
      },
      release: () => {
        if (!isOwned) return;
        isOwned = false;
        line.isOwned = false;
        this.#offer(line);
      },
    };
  }

  /** Gives up what is under way: the server says nothing any more. What is sent next goes to new connections. */
  cut(): void {
    if (this.#ending !== null) return;
    for (const line of this.#lines) line.cut();
  }

  /** Closes all of them, after what is under way. Idempotent. */
  end(): Promise<void> {
    this.#ending ??= Promise.all(this.#lines.map((line) => line.end(5))).then(() => undefined);
    return this.#ending;
  }

  /** One for oneself, after those who asked before. */
  #wait(): Promise<Line> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** One that nobody has for himself; one that is busy only while nobody waits. */
  #leastBusy(): Line | null {
    let best: Line | null = null;
    for (const line of this.#lines) if (!line.isOwned && line.load < (best?.load ?? Infinity)) best = line;
    return best !== null && (best.load === 0 || this.#waiting.length === 0) ? best : null;
  }

  #offer(line: Line): void {
    if (line.load > 0 || line.isOwned) return;
    line.rest();
    const next = this.#waiting.shift();
    if (next === undefined) return;
    // From now on: what is sent alone in the same moment goes to another one.
    line.isOwned = true;
    next(line);
  }
}
