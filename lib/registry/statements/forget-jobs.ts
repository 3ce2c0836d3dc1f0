/** Statements over the jobs of a tenant that is forgotten. */
import { and, eq, getTableColumns, ne, placeholder } from '../../../db/drizzle.ts';
import { instances, jobPages, jobResults, jobs } from '../../../db/schema.ts';
import { inBoundList, rowid } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function jobRemovalStatements(database: StatementMaker) {
  const numbers = database.statement((queries) =>
    queries
      .select({ row: rowid(instances) })
      .from(instances)
      .where(eq(instances.tenant, placeholder('tenant')))
      .prepare(),
  );
  const { seq, id, state, tenants, chosen } = getTableColumns(jobs);
  const others = database.statement((queries) =>
    queries
      .select({ seq, id, state, tenants, chosen })
      .from(jobs)
      .where(ne(id, placeholder('job')))
      .prepare(),
  );
  const pages = database.statement((queries) =>
    queries
      .select({ page: jobPages.page, rows: jobPages.rows })
      .from(jobPages)
      .where(eq(jobPages.job, placeholder('seq')))
      .prepare(),
  );
  const removals = [
    database.statement((queries) =>
      queries
        .delete(jobResults)
        .where(eq(jobResults.job, placeholder('seq')))
        .prepare(),
    ),
    database.statement((queries) =>
      queries
        .delete(jobPages)
        .where(eq(jobPages.job, placeholder('seq')))
        .prepare(),
    ),
    database.statement((queries) =>
      queries
        .delete(jobs)
        .where(eq(seq, placeholder('seq')))
        .prepare(),
    ),
  ];
  const muteResults = database.statement((queries) =>
    queries
      .update(jobResults)
      .set({ reason: null })
      .where(and(eq(jobResults.job, placeholder('seq')), inBoundList(jobResults.position, 'own')))
      .prepare(),
  );
  const mute = database.statement((queries) =>
    queries
      .update(jobs)
      .set({ reason: null, labels: null, request: { ids: 0 } })
      .where(eq(seq, placeholder('seq')))
      .prepare(),
  );
  return {
    numbers,
    others,
    pages,
    removals,
    muteResults,
    mute,
  };
}
