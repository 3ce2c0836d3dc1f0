/** Statements over variables of guests. */
import { and, eq, getTableColumns, or, placeholder } from '../../../db/drizzle.ts';
import { environments, instances } from '../../../db/schema.ts';
import type { EnvironmentKind } from '../environments.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

const { kind, owner } = environments;
const COLUMNS = getTableColumns(environments);
export function environmentStatements(database: StatementMaker) {
  const is = (one: EnvironmentKind, name: string) => and(eq(kind, one).inlineParams(), eq(owner, placeholder(name)));
  const get = database.statement((queries) =>
    queries
      .select(COLUMNS)
      .from(environments)
      .where(and(eq(kind, placeholder('kind')), eq(owner, placeholder('owner'))))
      .prepare(),
  );
  const ownersOf = database.statement((queries) =>
    queries
      .select({
        tenant: instances.tenant,
        snapshot: instances.lineageSnapshot,
        blueprint: instances.lineageBlueprint,
        state: instances.state,
      })
      .from(instances)
      .where(eq(instances.id, placeholder('instance')))
      .prepare(),
  );
  const of = database.statement((queries) =>
    queries
      .select(COLUMNS)
      .from(environments)
      .where(or(is('snapshot', 'snapshot'), is('tenant', 'tenant'), is('blueprint', 'blueprint'), is('instance', 'id')))
      .prepare(),
  );
  const put = database.statement((queries) =>
    queries
      .insert(environments)
      .values(boundColumns(COLUMNS))
      .onConflictDoUpdate({
        target: [kind, owner],
        set: {
          variables: boundValue('variables'),
          updated: boundValue('updated'),
          updatedBy: boundValue('updatedBy'),
        },
      })
      .prepare(),
  );
  return {
    get,
    ownersOf,
    of,
    put,
  };
}
