/** Statements over the keys of programs. */
import { and, desc, eq, getTableColumns, isNull, lt, or, placeholder } from '../../../db/drizzle.ts';
import { keys } from '../../../db/schema.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { rowid } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function keyStatements(database: StatementMaker) {
  const columns = getTableColumns(keys);
  const isIt = eq(keys.id, placeholder('id'));
  const insert = database.statement((queries) => queries.insert(keys).values(boundColumns(columns)).prepare());
  const get = database.statement((queries) => queries.select().from(keys).where(isIt).prepare());
  const list = database.statement((queries) =>
    queries
      .select()
      .from(keys)
      .where(isNull(keys.revoked))
      .orderBy(desc(keys.created), desc(rowid(keys)))
      .prepare(),
  );
  const revoke = database.statement((queries) =>
    queries
      .update(keys)
      .set({ revoked: boundValue('revoked') })
      .where(and(isIt, isNull(keys.revoked)))
      .prepare(),
  );
  const used = database.statement((queries) =>
    queries
      .update(keys)
      .set({ lastUsed: boundValue('at') })
      .where(and(isIt, or(isNull(keys.lastUsed), lt(keys.lastUsed, placeholder('at')))))
      .prepare(),
  );
  return {
    insert,
    get,
    list,
    revoke,
    used,
  };
}
