/** Statements that compare the counts that triggers keep with the counted rows, and that compute them anew. */
import { and, count, eq, except, getTableConfig, isNotNull, ne, or, type Queries } from '../../../db/drizzle.ts';
import { countsByFault, countsByLabel, countsByState, countsByTenant, instances, labels } from '../../../db/schema.ts';
import { sumOrZero } from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** The four are compared in the same way; drizzle's types differ for each. */
type Counted = (typeof COUNTS)[0]['kept'];

/** Each table of counts: its rows, and the expected ones; zero counts are left out of both. */
const COUNTS = [
  {
    table: countsByState,
    kept: (queries: Queries) => queries.select().from(countsByState).where(ne(countsByState.n, 0)),
    rows: (queries: Queries) =>
      queries.select({ state: instances.state, n: count() }).from(instances).groupBy(instances.state),
  },
  {
    table: countsByTenant,
    kept: (queries: Queries) =>
      queries
        .select()
        .from(countsByTenant)
        .where(or(ne(countsByTenant.n, 0), ne(countsByTenant.bytes, 0))),
    rows: (queries: Queries) =>
      queries
        .select({ tenant: instances.tenant, state: instances.state, n: count(), bytes: sumOrZero(instances.bytes) })
        .from(instances)
        .groupBy(instances.tenant, instances.state),
  },
  {
    table: countsByFault,
    kept: (queries: Queries) => queries.select().from(countsByFault).where(ne(countsByFault.n, 0)),
    rows: (queries: Queries) =>
      queries
        .select({ fault: instances.fault, n: count() })
        .from(instances)
        .where(and(isNotNull(instances.fault), eq(instances.tombstone, 0)))
        .groupBy(instances.fault),
  },
  {
    table: countsByLabel,
    kept: (queries: Queries) => queries.select().from(countsByLabel).where(ne(countsByLabel.n, 0)),
    rows: (queries: Queries) =>
      queries
        .select({ key: labels.key, value: labels.value, n: count() })
        .from(labels)
        .groupBy(labels.key, labels.value),
  },
] as const;

/** For each table of counts: its name, what differs in either direction, and how it is made anew. */
export function recountStatements(database: Pick<StatementMaker, 'statement'>) {
  return COUNTS.map(({ table, kept, rows }) => {
    const only = (these: Counted, those: Counted) =>
      database.statement((queries) => except(these(queries), those(queries)).limit(1).prepare());
    const [one, other] = [kept, rows] as unknown as [Counted, Counted];
    return {
      name: getTableConfig(table).name,
      tooMany: only(one, other),
      tooFew: only(other, one),
      empty: database.statement((queries) => queries.delete(table).prepare()),
      fill: database.statement((queries) =>
        queries
          .insert(table)
          .select(rows(queries) as never)
          .prepare(),
      ),
    };
  });
}
