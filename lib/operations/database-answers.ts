/** What a reader process tells of a database, in the words of the contract. Pure. */
import type { Database, DatabaseRows, DatabaseTable } from '../contract/schema.ts';
import type { EmbeddedRows, EmbeddedTable, EmbeddedTables } from '../vfs/database-file.ts';

export function databaseOf({ tables, total, wal, next }: EmbeddedTables): Database {
  return { tables: tables.map(tableOf), total, wal, next };
}

export function databaseRowsOf({ wal, offset, rows, next, ...table }: EmbeddedRows): DatabaseRows {
  return { ...tableOf(table), wal, offset, rows, next };
}

function tableOf({ name, kind, columns, columnCount, rowCount, moreRows, problem }: EmbeddedTable): DatabaseTable {
  return { name, kind, columns, column_count: columnCount, row_count: rowCount, more_rows: moreRows, problem };
}
