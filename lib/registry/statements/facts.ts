/** Statements over small values by name. */
import { eq, getTableColumns, placeholder } from '../../../db/drizzle.ts';
import { settings } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

/** Prefix that separates facts from the registry's own settings in the same table. */
export const FACT_PREFIX = 'fact.';

export function settingStatements(database: StatementMaker) {
  const { key, ...setting } = getTableColumns(settings);
  return {
    read: database.statement((queries) =>
      queries
        .select({ value: settings.value })
        .from(settings)
        .where(eq(settings.key, placeholder('key')))
        .prepare(),
    ),
    keep: database.statement((queries) =>
      queries
        .insert(settings)
        .values(boundColumns({ key, ...setting }))
        .onConflictDoUpdate({ target: key, set: boundColumns(setting) })
        .prepare(),
    ),
  };
}
