/** Claims in the registry's file. Compares tokens and counts renewals; knows nothing of when a claim is over. */
import type { Clock } from '../../base/clock.ts';
import type { ClaimStore, ClaimTicket } from '../claims.ts';
import { claimStatements } from '../statements/claims.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

/** The statements that a transaction of another store needs too. */
export class ClaimTable {
  readonly #database: RegistryDatabase;
  readonly #clock: Clock;

  readonly #statements;

  constructor(database: RegistryDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#statements = claimStatements(database);
  }

  /** Within a transaction: false when somebody has the work. */
  take(ticket: ClaimTicket): boolean {
    return this.#statements.insert().run(this.values(ticket)).changes === 1;
  }

  /** Within a transaction: false when the claim is not this one any more. */
  give({ kind, work, token }: Pick<ClaimTicket, 'kind' | 'work' | 'token'>): boolean {
    return this.#statements.removeOne().run({ kind, work, token }).changes === 1;
  }

  values({ lastsMs, ...ticket }: ClaimTicket) {
    const acquiredMs = this.#clock.now();
    return { ...ticket, acquiredMs, expiresMs: acquiredMs + lastsMs, none: 0 };
  }

  store(): SyncMethods<ClaimStore> {
    const database = this.#database;
    const soon = <T>(change: () => T): T => database.writeWithoutSync(change);
    const { replace, renew, release, revoke, removeAll, removeOf, list } = this.#statements;
    return {
      acquire: (ticket, over) =>
        soon(() => {
          if (over === undefined) return this.take(ticket);
          const { token: overToken, renewals: overRenewals } = over;
          return replace().run({ ...this.values(ticket), overToken, overRenewals }).changes === 1;
        }),
      renew: (tokens, lastsMs) =>
        soon(() =>
          renew()
            .all({ tokens: JSON.stringify(tokens), one: 1, expiresMs: this.#clock.now() + lastsMs })
            .map((renewed) => renewed.token),
        ),
      release: (tokens) => soon(() => void release().run({ tokens: JSON.stringify(tokens) })),
      revoke: (piece) => soon(() => void revoke().run({ ...piece })),
      removeFormer: (former) =>
        soon(() => void (former === null ? removeAll().run() : removeOf().run({ host: former }))),
      list: () => list().all(),
    };
  }
}
