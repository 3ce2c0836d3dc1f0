import { expect, test } from 'vitest';
import { RegistryDatabase } from '../lib/registry/sqlite/database.ts';
import { getTableConfig, SQLiteTable } from './drizzle.ts';
import * as schema from './schema.ts';

test('the migrations make the tables, columns and indexes of the schema, from which the next migration is made', () => {
  const database = new RegistryDatabase(':memory:');
  const tables = Object.values(schema).filter((value) => value instanceof SQLiteTable);
  expect(tables.length).toBeGreaterThan(10);
  for (const table of tables) {
    const { name, columns, indexes } = getTableConfig(table);
    const made = database.client.pragma(`table_xinfo(${name})`) as { name: string; notnull: number }[];
    const shape = made.map((column) => `${column.name}${column.notnull === 1 ? ' not null' : ''}`);
    const said = columns.map((column) => `${column.name}${column.notNull ? ' not null' : ''}`);
    expect([name, shape.sort()]).toEqual([name, said.sort()]);
    const indexed = (database.client.pragma(`index_list(${name})`) as { name: string; origin: string }[])
      .filter(({ origin }) => origin === 'c')
      .map((index) => index.name);
    const wanted = [
      ...indexes.map(({ config }) => config.name),
      ...columns.flatMap(({ isUnique, uniqueName }) => (isUnique ? [uniqueName] : [])),
    ];
    expect([name, indexed.sort()]).toEqual([name, wanted.sort()]);
  }
  database.close();
});
