/** Statements over invitations. */
import { and, desc, eq, getTableColumns, gt, isNull, lte, placeholder } from '../../../db/drizzle.ts';
import { invitations } from '../../../db/schema.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { rowid } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function invitationStatements(database: StatementMaker) {
  const { used, ...columns } = getTableColumns(invitations);
  const isIt = eq(invitations.id, placeholder('id'));
  const isOpen = isNull(used);
  // One that was made ahead of now: the clock was set back, and it would be good for longer than it was made for.
  const isGood = and(
    isOpen,
    gt(invitations.expires, placeholder('now')),
    lte(invitations.created, placeholder('latest')),
  );
  const insert = database.statement((queries) => queries.insert(invitations).values(boundColumns(columns)).prepare());
  const find = database.statement((queries) =>
    queries
      .select(columns)
      .from(invitations)
      .where(and(isGood, eq(invitations.hash, placeholder('hash'))))
      .prepare(),
  );
  const state = database.statement((queries) =>
    queries
      .select({ used, created: invitations.created, expires: invitations.expires })
      .from(invitations)
      .where(eq(invitations.hash, placeholder('hash')))
      .prepare(),
  );
  const list = database.statement((queries) =>
    queries
      .select(columns)
      .from(invitations)
      .where(isGood)
      .orderBy(desc(invitations.created), desc(rowid(invitations)))
      .prepare(),
  );
  const use = database.statement((queries) =>
    queries
      .update(invitations)
      .set({ used: boundValue('now') })
      .where(and(isIt, isGood))
      .prepare(),
  );
  const release = database.statement((queries) =>
    queries.update(invitations).set({ used: null }).where(isIt).prepare(),
  );
  const withdraw = database.statement((queries) => queries.delete(invitations).where(and(isIt, isGood)).prepare());
  const withdrawAll = database.statement((queries) =>
    queries
      .delete(invitations)
      .where(and(eq(invitations.createdBy, placeholder('createdBy')), isOpen))
      .prepare(),
  );
  return {
    insert,
    find,
    state,
    list,
    use,
    release,
    withdraw,
    withdrawAll,
  };
}
