/** Statements over the ids of writes. */
import { eq, lt, placeholder } from '../../../db/drizzle.ts';
import { writes } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

export function writeIdStatements(database: StatementMaker) {
  const { id, atMs } = writes;
  const note = database.statement((queries) =>
    queries.insert(writes).values(boundColumns({ id, atMs })).onConflictDoNothing().prepare(),
  );
  const removeOld = database.statement((queries) =>
    queries
      .delete(writes)
      .where(lt(atMs, placeholder('before')))
      .prepare(),
  );
  const known = database.statement((queries) =>
    queries
      .select({ id })
      .from(writes)
      .where(eq(id, placeholder('id')))
      .prepare(),
  );
  return {
    note,
    removeOld,
    known,
  };
}
