/** Claims in the registry's file. Compares tokens and counts renewals; knows nothing of when a claim is over. */
import type { Clock } from '../../base/clock.ts';
import type { ClaimStore, ClaimTicket } from '../claims.ts';
import { claimStatements } from '../statements/claims.ts';
import type { PostgresDatabase } from './database.ts';

/** The statements that a transaction of another store needs too. */
export class ClaimTable {
  readonly #database: PostgresDatabase;
  readonly #clock: Clock;

  readonly #statements;

  constructor(database: PostgresDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#statements = database.with(claimStatements);
  }

  /** Within a transaction: false when somebody has the work. */
  async take(ticket: ClaimTicket): Promise<boolean> {
    return (await this.#statements.insert().run(this.values(ticket))).changes === 1;
  }

  /** Within a transaction: false when the claim is not this one any more. */
  async give({ kind, work, token }: Pick<ClaimTicket, 'kind' | 'work' | 'token'>): Promise<boolean> {
    return (await this.#statements.removeOne().run({ kind, work, token })).changes === 1;
  }

  values({ lastsMs, ...ticket }: ClaimTicket) {
    const acquiredMs = this.#clock.now();
    return { ...ticket, acquiredMs, expiresMs: acquiredMs + lastsMs, none: 0 };
  }

  store(): ClaimStore {
    const database = this.#database;
    const { replace, renew, release, revoke, removeAll, removeOf, list } = this.#statements;
    return {
      // Each is one statement, which compares and sets: a heartbeat waits for no transaction.
      acquire: async (ticket, over) => {
        if (over === undefined) return this.take(ticket);
        const { token: overToken, renewals: overRenewals } = over;
        return (await replace().run({ ...this.values(ticket), overToken, overRenewals })).changes === 1;
      },
      renew: async (tokens, lastsMs) => {
        const bound = { tokens: JSON.stringify(tokens), one: 1, expiresMs: this.#clock.now() + lastsMs };
        return (await renew().all(bound)).map(({ token }) => token);
      },
      release: async (tokens) => void (await release().run({ tokens: JSON.stringify(tokens) })),
      revoke: (piece) => database.write(async () => void (await revoke().run({ ...piece }))),
      removeFormer: async (former) =>
        void (former === null ? await removeAll().run() : await removeOf().run({ host: former })),
      list: () => list().all(),
    };
  }
}
