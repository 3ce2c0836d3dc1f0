import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../lib/registry/postgres/connect.ts';
import { newDatabase } from '../lib/registry/testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../lib/registry/testing/postgres-server.ts';
import { getTableConfig } from './drizzle.ts';
import { NOT_NEEDED, schemaTables } from './postgres/tables.ts';

/** What a column of the schema is in Postgres. */
const TYPES: Readonly<Record<string, string>> = {
  integer: 'bigint',
  text: 'text',
  real: 'double precision',
  blob: 'bytea',
};
/** A key of a sort that is a blob in SQLite alone, and what only the other dialect has. */
const OWN_TYPES: Readonly<Record<string, string>> = { 'labels.name_key': 'text' };

describe.skipIf(!HAS_POSTGRES)('the tables on Postgres', () => {
  let sql: Awaited<ReturnType<typeof connect>>;
  beforeAll(async () => {
    sql = await connect(await newDatabase('agreement'));
  });
  afterAll(() => sql.end());

  test('have the columns, keys and needed indexes of the schema, and a number of each row', async () => {
    const rows = (text: string) => sql.unsafe(text).values() as unknown as Promise<string[][]>;
    const columns = await rows(
      `select table_name, column_name, data_type, is_nullable, collation_name from information_schema.columns
       where table_schema = 'winterdock'`,
    );
    const indexes = await rows(
      `select t.relname, i.relname, ix.indisunique, ix.indisprimary, coalesce(pg_get_expr(ix.indpred, ix.indrelid), ''),
         (select string_agg(a.attname, ',' order by k.n) from unnest(ix.indkey) with ordinality k(attnum, n)
            join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum)
       from pg_index ix join pg_class t on t.oid = ix.indrelid join pg_class i on i.oid = ix.indexrelid
       where t.relnamespace = 'winterdock'::regnamespace`,
    );
    const tables = schemaTables();
    expect(tables.length).toBeGreaterThan(40);
    for (const table of tables) {
      const { name, columns: wanted, indexes: wantedIndexes } = getTableConfig(table);
      const made = columns.filter(([of]) => of === name);
      const shape = wanted.map((column) => [
        column.name,
        OWN_TYPES[`${name}.${column.name}`] ?? TYPES[column.getSQLType()],
        column.notNull || column.primary ? 'NO' : 'YES',
      ]);
      const numbered = wanted.some((column) => column.primary && column.getSQLType() === 'integer');
      if (!numbered) shape.push(['rowid', 'bigint', 'NO']);
      expect([name, made.map(([, column, type, nullable]) => [column, type, nullable]).sort()]).toEqual([
        name,
        shape.map(([column, type, nullable]) => [column, type, inKey(table, column ?? '') ? 'NO' : nullable]).sort(),
      ]);
      // Text is compared by its bytes, whatever the database's language is.
      expect(made.filter(([, , type, , collation]) => type === 'text' && collation !== 'C')).toEqual([]);
      const kept = indexes.filter(
        ([of, index, , isKey]) => of === name && String(isKey) !== 'true' && index !== `${name}_by_rowid`,
      );
      const said = [
        ...wantedIndexes
          .filter(({ config }) => !NOT_NEEDED.includes(config.name))
          .map(({ config }) => [
            config.name,
            config.unique,
            config.columns.map((column) => (column as { name: string }).name).join(),
            config.where !== undefined,
          ]),
        ...wanted.flatMap((column) => (column.isUnique ? [[column.uniqueName, true, column.name, false]] : [])),
      ];
      expect([
        name,
        kept.map(([, index, unique, , where, over]) => [index, unique, over, where !== '']).sort(),
      ]).toEqual([name, said.sort()]);
    }
  });
});

function inKey(table: Parameters<typeof getTableConfig>[0], column: string): boolean {
  return getTableConfig(table).primaryKeys.some(({ columns }) => columns.some(({ name }) => name === column));
}
