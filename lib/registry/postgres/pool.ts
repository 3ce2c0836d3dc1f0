/**
 * Connections to a registry on Postgres. A statement that is sent alone goes to one that is free or has the least to
 * do; a transaction has one for itself. Each is a client of its own, so that it is known which of them was lost: what
 * is sent in a transaction never goes to the connection that comes after it.
 */
import type { Sql } from 'postgres';
import type { PostgresAddress } from '../../base/postgres-url.ts';
import { type ConnectSettings, connectorTo } from './connect.ts';

/** A connection while one user has it. */
export interface OwnConnection {
  readonly sql: Sql;
  /** Throws when it was lost since it was given: nothing is sent any more. */
  requireThere(): void;
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
  readonly #connect: (onClose: () => void) => Sql;

  constructor(connect: (onClose: () => void) => Sql) {
    this.#connect = connect;
    this.sql = this.#next();
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
    this.sql = this.#next();
    void before.end({ timeout: 0 });
  }

  /** Closes it after what is under way, in seconds at most; nothing comes after it. */
  end(timeout: number): Promise<void> {
    this.#isEnded = true;
    return this.sql.end({ timeout });
  }
}

/** What the client's own errors look like. */
class ConnectionLost extends Error {
  readonly code = 'CONNECTION_CLOSED';

  constructor() {
    super('the connection was lost');
  }
}

export class ConnectionPool {
  readonly #lines: Line[];
  readonly #waiting: ((line: Line) => void)[] = [];
  #ending: Promise<void> | null = null;

  private constructor(lines: Line[]) {
    this.#lines = lines;
  }

  /** Connects when something is sent. `most`: connections at once. */
  static async open(
    address: PostgresAddress,
    { most, schema }: Pick<ConnectSettings, 'schema'> & { most: number },
  ): Promise<ConnectionPool> {
    const connect = await connectorTo(address);
    const options = schema === undefined ? {} : { schema };
    return new ConnectionPool(
      Array.from({ length: most }, () => new Line((onClose) => connect({ ...options, onClose }))),
    );
  }

  /** Runs `work` on a connection that others may use too. */
  async share<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const free = this.#leastBusy();
    if (free === null) {
      const own = await this.own();
      return work(own.sql).finally(own.release);
    }
    free.load += 1;
    try {
      return await work(free.sql);
    } finally {
      free.load -= 1;
      this.#offer(free);
    }
  }

  /** A connection of one's own, after those who asked before. */
  async own(): Promise<OwnConnection> {
    const idle = this.#waiting.length === 0 ? this.#lines.find(({ load, isOwned }) => load === 0 && !isOwned) : null;
    const line = idle ?? (await new Promise<Line>((resolve) => this.#waiting.push(resolve)));
    line.isOwned = true;
    const { losses } = line;
    let isOwned = true;
    return {
      sql: line.sql,
      requireThere() {
        if (line.losses !== losses) throw new ConnectionLost();
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

  /** One that nobody has for himself; one that is busy only while nobody waits. */
  #leastBusy(): Line | null {
    let best: Line | null = null;
    for (const line of this.#lines) if (!line.isOwned && line.load < (best?.load ?? Infinity)) best = line;
    return best !== null && (best.load === 0 || this.#waiting.length === 0) ? best : null;
  }

  #offer(line: Line): void {
    if (line.load > 0 || line.isOwned) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    // From now on: what is sent alone in the same moment goes to another one.
    line.isOwned = true;
    next(line);
  }
}
