/** Statements over variables of guests. */
import type { Placeholder } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { and, eq, getTableColumns, or, placeholder } from '../../../db/drizzle.ts';
import { environments, instances } from '../../../db/schema.ts';
import type { EnvironmentKind } from '../environments.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

const { kind, owner } = environments;
const COLUMNS = getTableColumns(environments);
export function environmentStatements(database: StatementMaker) {
  const is = (one: EnvironmentKind, whose: SQLiteColumn | Placeholder) =>
    and(eq(kind, one).inlineParams(), eq(owner, whose));
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
  /** All that apply to what `ownersOf` has found: two statements that SQLite answers three times as fast as `of`. */
  const ofOwners = database.statement((queries) =>
    queries
      .select(COLUMNS)
      .from(environments)
      .where(
        or(
          is('snapshot', placeholder('snapshot')),
          is('tenant', placeholder('tenant')),
          is('blueprint', placeholder('blueprint')),
          is('instance', placeholder('instance')),
        ),
      )
      .prepare(),
  );
  /** All that apply to a sandbox, in one round trip: every call asks for them. */
  const of = database.statement((queries) =>
    queries
      .select(COLUMNS)
      .from(instances)
      .innerJoin(
        environments,
        or(
          is('snapshot', instances.lineageSnapshot),
          is('tenant', instances.tenant),
          is('blueprint', instances.lineageBlueprint),
          is('instance', instances.id),
        ),
      )
      .where(eq(instances.id, placeholder('instance')))
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
    ofOwners,
    of,
    put,
  };
}
