/** Claims in the registry's file. Compares tokens and counts renewals; knows nothing of when a claim is over. */
import { and, eq, placeholder } from '../../../db/drizzle.ts';
import { claims } from '../../../db/schema.ts';
import type { Clock } from '../../base/clock.ts';
import type { ClaimStore, ClaimTicket } from '../claims.ts';
import { boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { inBoundList, plusBound } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

/** The statements that a transaction of another store needs too. */
export class ClaimTable {
  readonly #database: RegistryDatabase;
  readonly #clock: Clock;
  readonly #insert;
  readonly #removeOne;

  constructor(database: RegistryDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#insert = database.statement((queries) =>
      queries
        .insert(claims)
        .values({ kind: boundValue('kind'), work: boundValue('work'), ...TAKEN })
        .onConflictDoNothing()
        .prepare(),
    );
    this.#removeOne = database.statement((queries) =>
      queries
        .delete(claims)
        .where(and(IS_PIECE, eq(claims.token, placeholder('token'))))
        .prepare(),
    );
  }

  /** Within a transaction: false when somebody has the work. */
  take(ticket: ClaimTicket): boolean {
    return this.#insert().run(this.values(ticket)).changes === 1;
  }

  /** Within a transaction: false when the claim is not this one any more. */
  give({ kind, work, token }: Pick<ClaimTicket, 'kind' | 'work' | 'token'>): boolean {
    return this.#removeOne().run({ kind, work, token }).changes === 1;
  }

  values({ lastsMs, ...ticket }: ClaimTicket) {
    const acquiredMs = this.#clock.now();
    return { ...ticket, acquiredMs, expiresMs: acquiredMs + lastsMs, none: 0 };
  }

  store(): SyncMethods<ClaimStore> {
    const database = this.#database;
    const replace = database.statement((queries) =>
      queries
        .update(claims)
        .set(TAKEN)
        .where(
          and(IS_PIECE, eq(claims.token, placeholder('overToken')), eq(claims.renewals, placeholder('overRenewals'))),
        )
        .prepare(),
    );
    const ofTokens = inBoundList(claims.token, 'tokens');
    const renew = database.statement((queries) =>
      queries
        .update(claims)
        .set({ renewals: plusBound(claims.renewals, 'one'), expiresMs: boundValue('expiresMs') })
        .where(ofTokens)
        .returning({ token: claims.token })
        .prepare(),
    );
    const release = database.statement((queries) => queries.delete(claims).where(ofTokens).prepare());
    const revoke = database.statement((queries) => queries.delete(claims).where(IS_PIECE).prepare());
    const removeAll = database.statement((queries) => queries.delete(claims).prepare());
    const removeOf = database.statement((queries) =>
      queries
        .delete(claims)
        .where(eq(claims.host, placeholder('host')))
        .prepare(),
    );
    const { kind, work, host, token, renewals } = claims;
    const list = database.statement((queries) =>
      queries.select({ kind, work, host, token, renewals }).from(claims).prepare(),
    );
    const soon = <T>(change: () => T): T => database.writeWithoutSync(change);
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

const IS_PIECE = and(eq(claims.kind, placeholder('kind')), eq(claims.work, placeholder('work')));
const TAKEN = {
  host: boundValue('host'),
  term: boundValue('term'),
  token: boundValue('token'),
  acquiredMs: boundValue('acquiredMs'),
  expiresMs: boundValue('expiresMs'),
  renewals: boundValue('none'),
};
