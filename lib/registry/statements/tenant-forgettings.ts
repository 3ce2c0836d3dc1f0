/** Statements over tenants that are being forgotten. */
import { and, desc, eq, getTableColumns, isNull, placeholder } from '../../../db/drizzle.ts';
import { tenantForgettings } from '../../../db/schema.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { inBoundList, rowid } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function tenantForgettingStatements(database: StatementMaker) {
  const { forgottenIds: _, ...columns } = getTableColumns(tenantForgettings);
  const { finished, ...begun } = columns;
  const insert = database.statement((queries) =>
    queries.insert(tenantForgettings).values(boundColumns(begun)).prepare(),
  );
  const open = database.statement((queries) =>
    queries
      .select(columns)
      .from(tenantForgettings)
      .where(isNull(finished))
      .orderBy(tenantForgettings.started, tenantForgettings.job)
      .prepare(),
  );
  const last = database.statement((queries) =>
    queries
      .select(columns)
      .from(tenantForgettings)
      .where(eq(tenantForgettings.tenant, placeholder('tenant')))
      .orderBy(desc(tenantForgettings.started), desc(rowid(tenantForgettings)))
      .limit(1)
      .prepare(),
  );
  const openOf = database.statement((queries) =>
    queries
      .select({ tenant: tenantForgettings.tenant })
      .from(tenantForgettings)
      .where(and(isNull(finished), inBoundList(tenantForgettings.tenant, 'tenants')))
      .limit(1)
      .prepare(),
  );
  const finish = database.statement((queries) =>
    queries
      .update(tenantForgettings)
      .set({ finished: boundValue('finished'), forgottenIds: null })
      .where(and(eq(tenantForgettings.job, placeholder('job')), isNull(finished)))
      .prepare(),
  );

  return {
    insert,
    open,
    last,
    openOf,
    finish,
  };
}
