/** Compares the counts that triggers keep with the counted rows, and recomputes them. */
import { and, count, eq, except, getTableConfig, isNotNull, ne, or, type Queries } from '../../../db/drizzle.ts';
import { countsByFault, countsByLabel, countsByState, countsByTenant, instances, labels } from '../../../db/schema.ts';
import type { LedgerEntry, LedgerLine } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { sumOrZero } from './raw.ts';

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

/** The names of the tables whose counts differ from the rows. */
export function wrongCounts(database: Pick<RegistryDatabase, 'statement'>): string[] {
  return wrongIn(database).map(({ table }) => getTableConfig(table).name);
}

function wrongIn(database: Pick<RegistryDatabase, 'statement'>) {
  return COUNTS.filter(({ kept, rows }) => {
    const only = (these: Counted, those: Counted) =>
      database.statement((queries) => except(these(queries), those(queries)).limit(1).prepare())();
    const [one, other] = [kept, rows] as unknown as [Counted, Counted];
    return only(one, other).get() !== undefined || only(other, one).get() !== undefined;
  });
}

/** Recomputes wrong counts from the rows, in one transaction with its ledger line. Returns the names of the tables. */
export function recount(database: RegistryDatabase, ledger: LedgerTable, entry: LedgerEntry): string[] {
  let lines: LedgerLine[] = [];
  const tables = database.write(() => {
    const wrong = wrongIn(database);
    for (const { table, rows } of wrong) {
      database.queries.delete(table).run();
      database.queries
        .insert(table)
        .select(rows(database.queries) as never)
        .run();
    }
    const names = wrong.map(({ table }) => getTableConfig(table).name);
    if (names.length > 0) lines = ledger.append([{ ...entry, reason: names.join(', ') }]);
    return names;
  });
  ledger.announce(lines);
  return tables;
}
