/** Statements over the ids that a forgetting has to remember. */
import { eq, placeholder } from '../../../db/drizzle.ts';
import { tenantForgettings } from '../../../db/schema.ts';
import { boundValue } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

export function forgottenIdStatements(database: StatementMaker) {
  const read = database.statement((queries) =>
    queries
      .select({ ids: tenantForgettings.forgottenIds })
      .from(tenantForgettings)
      .where(eq(tenantForgettings.job, placeholder('job')))
      .prepare(),
  );
  const write = database.statement((queries) =>
    queries
      .update(tenantForgettings)
      .set({ forgottenIds: boundValue('ids') })
      .where(eq(tenantForgettings.job, placeholder('job')))
      .prepare(),
  );
  return {
    read,
    write,
  };
}
