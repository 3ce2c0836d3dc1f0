/**
 * The tables of a registry on Postgres, made of those in db/schema: the same names, columns, keys and indexes. A whole
 * number is a bigint and a flag too, so that rows are read by the same column decoders; text is compared by its bytes,
 * as SQLite does. What SQLite gives every table, a number of each row in the order of insertion, is a column here.
 * Triggers and functions are in triggers.ts and functions.ts.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { getTableConfig, is, SQLiteTable as Table } from '../drizzle.ts';
import * as schema from '../schema.ts';
import { NUMBERS } from './functions.ts';

/** What a column of SQLite's tables is made of that has no translation, and why. */
const OWN: Readonly<Record<string, string>> = {
  // Rows without a name sort last. SQLite's key is a blob for them, which sorts after text.
  'instances.name_key': `text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN name IS NULL THEN '2' ELSE '1' || name END) STORED`,
  'instances.bytes_key': 'bigint GENERATED ALWAYS AS (coalesce(bytes, -1)) STORED',
  'labels.name_key': 'text COLLATE "C" NOT NULL',
};

/**
 * Indexes that SQLite needs and Postgres does not, each of which every change of a row would write: the tenant of an id
 * is read from the row, and the few rows with a fault are sorted.
 */
export const NOT_NEEDED: readonly string[] = [
  'instances_whose',
  'instances_by_fault_created',
  'instances_by_fault_name',
  'instances_by_fault_bytes',
];

const TYPES: Readonly<Record<string, string>> = {
  integer: 'bigint',
  text: 'text COLLATE "C"',
  real: 'double precision',
  blob: 'bytea',
};
/** SQLite's clock in a default, and ours. */
const NOW = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)';

const quoted = (name: string) => `"${name}"`;

/** The tables of the schema, by no order. */
export function schemaTables(): SQLiteTable[] {
  return Object.values(schema).filter((value): value is typeof value & SQLiteTable => is(value, Table));
}

/** The column that numbers the rows: the table's own, or one that is added. */
function numberOf(columns: readonly SQLiteColumn[]): string | null {
  return columns.find((column) => column.primary && column.getSQLType() === 'integer')?.name ?? null;
}

/** A table as it is carried from one dialect to the other. */
export interface CarriedTable {
  readonly name: string;
  /** What is stored, and no column that is made of others. */
  readonly columns: readonly string[];
  /** The column that numbers its rows, where the table has it by itself; SQLite has another one besides then. */
  readonly number: string | null;
}

/** A key of a sort, which is text here and may be a blob in SQLite: it is taken from the row's instance anew. */
export const DERIVED_KEY = { table: 'labels', column: 'name_key' };

/** Every table, each after those that its rows point at. */
export function carriedTables(): CarriedTable[] {
  const ordered = new Map<string, CarriedTable>();
  const add = (table: SQLiteTable): void => {
    const { name, columns, foreignKeys } = getTableConfig(table);
    if (ordered.has(name)) return;
    for (const key of foreignKeys) {
      const { foreignTable } = key.reference();
      if (foreignTable !== table) add(foreignTable);
    }
    const stored = columns.filter(({ generated }) => generated === undefined).map((column) => column.name);
    ordered.set(name, { name, columns: stored, number: numberOf(columns) });
  };
  for (const table of schemaTables()) add(table);
  return [...ordered.values()];
}

/** Statements that make the tables and their indexes. */
export function tablesInPostgres(): string[] {
  const made = schemaTables().map(tableInPostgres);
  return [...made.flatMap(({ table }) => table), ...made.flatMap(({ after }) => after)];
}

function tableInPostgres(table: SQLiteTable): { table: string[]; after: string[] } {
  const { name, columns, indexes, primaryKeys, foreignKeys } = getTableConfig(table);
  const own = numberOf(columns);
  const number = own ?? 'rowid';
  const lines = [
    ...columns.map((column) => columnInPostgres(name, column)),
    ...(own === null ? ['"rowid" bigint NOT NULL'] : []),
    ...primaryKeys.map((key) => `PRIMARY KEY (${key.columns.map((column) => quoted(column.name)).join(', ')})`),
  ];
  const sequence = `${name}_${number}_seq`;
  const unique = columns.filter(({ isUnique }) => isUnique);
  return {
    table: [`CREATE TABLE ${quoted(name)} (\n  ${lines.join(',\n  ')}\n)`],
    after: [
      // A row that is inserted without its number, or with null as SQLite's are, gets the next one.
      ...(NUMBERS.includes(number)
        ? [
            `CREATE SEQUENCE ${quoted(sequence)} OWNED BY ${quoted(name)}.${quoted(number)}`,
            `CREATE TRIGGER a_numbered BEFORE INSERT ON ${quoted(name)} FOR EACH ROW WHEN (new.${quoted(number)} IS NULL) EXECUTE FUNCTION numbered_by_${number}('${sequence}')`,
          ]
        : []),
      ...(own === null ? [`CREATE UNIQUE INDEX ${quoted(`${name}_by_rowid`)} ON ${quoted(name)} ("rowid")`] : []),
      ...unique.map(
        (column) =>
          `CREATE UNIQUE INDEX ${quoted(column.uniqueName ?? column.name)} ON ${quoted(name)} (${quoted(column.name)})`,
      ),
      ...indexes.flatMap(({ config }) => {
        if (NOT_NEEDED.includes(config.name)) return [];
        const over = config.columns.map((column) => quoted((column as SQLiteColumn).name)).join(', ');
        const some = config.where === undefined ? '' : ` WHERE ${conditionInPostgres(config.where)}`;
        return `CREATE ${config.unique ? 'UNIQUE ' : ''}INDEX ${quoted(config.name)} ON ${quoted(name)} (${over})${some}`;
      }),
      ...foreignKeys.map((key) => {
        const { columns: from, foreignTable, foreignColumns } = key.reference();
        const [one, other] = [from, foreignColumns].map((of) => of.map((column) => quoted(column.name)).join(', '));
        return `ALTER TABLE ${quoted(name)} ADD FOREIGN KEY (${one}) REFERENCES ${quoted(getTableConfig(foreignTable).name)} (${other}) ON DELETE ${key.onDelete ?? 'no action'}`;
      }),
    ],
  };
}

function columnInPostgres(table: string, column: SQLiteColumn): string {
  const own = OWN[`${table}.${column.name}`];
  if (own !== undefined) return `${quoted(column.name)} ${own}`;
  const type = TYPES[column.getSQLType()];
  if (type === undefined) throw new Error(`${table}.${column.name} has a type without a translation.`);
  const key = column.primary ? ' PRIMARY KEY' : '';
  const given = column.default === undefined ? '' : ` DEFAULT ${defaultInPostgres(column)}`;
  return `${quoted(column.name)} ${type}${key}${column.notNull ? ' NOT NULL' : ''}${given}`;
}

function defaultInPostgres(column: SQLiteColumn): string {
  if (typeof column.default === 'object' && column.default !== null && 'queryChunks' in column.default) return NOW;
  const value = column.mapToDriverValue(column.default);
  return typeof value === 'number' ? String(value) : `'${String(value)}'`;
}

/** The condition of a partial index, which is plain text in the schema. */
function conditionInPostgres(where: SQL): string {
  const text = where.queryChunks.map((chunk) => (chunk as { value?: string[] }).value?.join('') ?? '').join('');
  return text.replaceAll(/ glob '([^'*]*)\*'/g, " like '$1%'");
}
