/** Statements over claims on work. */
import { and, eq, placeholder } from '../../../db/drizzle.ts';
import { claims } from '../../../db/schema.ts';
import { boundValue } from './bound-values.ts';
import { inBoundList, plusBound } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const IS_PIECE = and(eq(claims.kind, placeholder('kind')), eq(claims.work, placeholder('work')));
const TAKEN = {
  host: boundValue('host'),
  term: boundValue('term'),
  token: boundValue('token'),
  acquiredMs: boundValue('acquiredMs'),
  expiresMs: boundValue('expiresMs'),
  renewals: boundValue('none'),
};

export function claimStatements(database: StatementMaker) {
  const insert = database.statement((queries) =>
    queries
      .insert(claims)
      .values({ kind: boundValue('kind'), work: boundValue('work'), ...TAKEN })
      .onConflictDoNothing()
      .prepare(),
  );
  const removeOne = database.statement((queries) =>
    queries
      .delete(claims)
      .where(and(IS_PIECE, eq(claims.token, placeholder('token'))))
      .prepare(),
  );
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
  return {
    insert,
    removeOne,
    replace,
    renew,
    release,
    revoke,
    removeAll,
    removeOf,
    list,
  };
}
