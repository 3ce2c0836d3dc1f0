/** The counts that triggers keep, compared with the rows they count, and made again from them. */
import type { LedgerEntry, LedgerLine } from '../registry.ts';
import type { RegistryDatabase } from './database.ts';
import type { Ledger } from './ledger.ts';

/** Each table of counts with the query that it should equal; counts of nothing are left out of both. */
const COUNTS = [
  {
    table: 'counts_by_state',
    columns: 'state, n',
    kept: 'SELECT state, n FROM counts_by_state WHERE n <> 0',
    rows: 'SELECT state, count(*) FROM instances GROUP BY state',
  },
  {
    table: 'counts_by_tenant',
    columns: 'tenant, state, n, bytes',
    kept: 'SELECT tenant, state, n, bytes FROM counts_by_tenant WHERE n <> 0 OR bytes <> 0',
    rows: 'SELECT tenant, state, count(*), coalesce(sum(bytes), 0) FROM instances GROUP BY tenant, state',
  },
  {
    table: 'counts_by_fault',
    columns: 'fault, n',
    kept: 'SELECT fault, n FROM counts_by_fault WHERE n <> 0',
    rows: 'SELECT fault, count(*) FROM instances WHERE fault IS NOT NULL AND tombstone = 0 GROUP BY fault',
  },
  {
    table: 'counts_by_label',
    columns: 'key, value, n',
    kept: 'SELECT key, value, n FROM counts_by_label WHERE n <> 0',
    rows: 'SELECT key, value, count(*) FROM labels GROUP BY key, value',
  },
] as const;

/** The names of the tables whose counts are not those of the rows. `ask` runs a query and says whether it finds anything. */
export function miscounted(ask: (sql: string) => boolean): string[] {
  return COUNTS.filter(
    ({ kept, rows }) =>
      ask(`SELECT 1 FROM (SELECT * FROM (${kept}) EXCEPT ${rows}) LIMIT 1`) ||
      ask(`SELECT 1 FROM (SELECT * FROM (${rows}) EXCEPT ${kept}) LIMIT 1`),
  ).map(({ table }) => table);
}

/** Makes what is miscounted again from the rows, in one transaction with its ledger line. Returns the names of the tables. */
export function recount(
  database: RegistryDatabase,
  ledger: Ledger,
  entry: (tables: string[]) => LedgerEntry,
): string[] {
  let lines: LedgerLine[] = [];
  const tables = database.write(() => {
    const wrong = miscounted((sql) => database.sql(sql).get() !== undefined);
    for (const { table, columns, rows } of COUNTS) {
      if (!wrong.includes(table)) continue;
      database.sql(`DELETE FROM ${table}`).run();
      database.sql(`INSERT INTO ${table}(${columns}) ${rows}`).run();
    }
    if (wrong.length > 0) lines = ledger.append([entry(wrong)]);
    return wrong;
  });
  ledger.announce(lines);
  return tables;
}
