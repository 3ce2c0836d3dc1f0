/** Statements over hosts and their terms. */
import { and, desc, isNotNull, ne, placeholder } from '../../../db/drizzle.ts';
import { hosts, instances } from '../../../db/schema.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

export function hostStatements(database: StatementMaker) {
  const { name, term, sinceMs } = hosts;
  const all = database.statement((queries) => queries.select().from(hosts).orderBy(desc(term)).prepare());
  const insert = database.statement((queries) =>
    queries
      .insert(hosts)
      .values(boundColumns({ name, term, sinceMs }))
      .onConflictDoUpdate({ target: name, set: boundColumns({ term, sinceMs }) })
      .prepare(),
  );
  const removeOthers = database.statement((queries) =>
    queries
      .delete(hosts)
      .where(ne(name, placeholder('name')))
      .prepare(),
  );
  const takeOver = database.statement((queries) =>
    queries
      .update(instances)
      .set({ ownerHost: boundValue('name') })
      .where(and(isNotNull(instances.ownerHost), ne(instances.ownerHost, placeholder('name'))))
      .prepare(),
  );
  const disown = database.statement((queries) =>
    queries
      .update(instances)
      .set({ ownerHost: null, ownerTerm: null, ownerToken: null })
      .where(isNotNull(instances.ownerHost))
      .prepare(),
  );
  return {
    all,
    insert,
    removeOthers,
    takeOver,
    disown,
  };
}
