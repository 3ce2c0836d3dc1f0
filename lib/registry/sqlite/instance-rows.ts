/** Rows of the instances table: read, inserted, changed. Decides nothing. */
import { eq, getTableColumns, gt, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import { messageOf, type WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { idTaken, nameTaken } from '../registry-errors.ts';
import type { InstanceRow } from '../types.ts';
import { boundColumns } from './bound-values.ts';
import { type RegistryDatabase, sqliteCode } from './database.ts';
import type { RegistryFileReader } from './file-reader.ts';
import { NULL } from './raw.ts';

const { tombstone: _, words, dueAt, nameKey: __, bytesKey: ___, ...columns } = getTableColumns(instances);

/** The columns of a row in the contract's form. */
export const INSTANCE_COLUMNS = columns;

const PROPERTIES = Object.keys(INSTANCE_COLUMNS) as (keyof InstanceRow)[];

/** Columns that are derived from the row. */
export interface DerivedColumns {
  dueAt: number | null;
  words: string;
}

/** The row of `id`, tombstones included, or null. */
export function findRow(database: RegistryDatabase, id: InstanceId): InstanceRow | null {
  const statement = database.shape('instances: one', (queries) =>
    queries
      .select(INSTANCE_COLUMNS)
      .from(instances)
      .where(eq(instances.id, placeholder('id')))
      .prepare(),
  );
  return statement.get({ id }) ?? null;
}

/** The columns of a row in a file that may be of an earlier version. Those that it lacks are null: not set. */
export function columnsIn(file: RegistryFileReader): typeof INSTANCE_COLUMNS {
  const present = file.present(instances);
  const fields = Object.entries(INSTANCE_COLUMNS).map(([name, column]) => [name, name in present ? column : NULL]);
  return Object.fromEntries(fields);
}

/** Rows in the order of their ids after `after`, tombstones included; at most `limit`. */
export function rowsAfter(queries: Queries, fields: typeof INSTANCE_COLUMNS) {
  return queries
    .select(fields)
    .from(instances)
    .where(gt(instances.id, placeholder('after')))
    .orderBy(instances.id)
    .limit(placeholder('limit'));
}

/** Inserts a whole row. Throws SQLite's own constraint errors. */
export function insertRow(database: RegistryDatabase, row: InstanceRow, kept: DerivedColumns): void {
  const statement = database.shape('instances: insert', (queries) =>
    queries
      .insert(instances)
      .values(boundColumns({ ...INSTANCE_COLUMNS, words, dueAt }))
      .prepare(),
  );
  statement.run({ ...row, ...kept });
}

/**
 * Writes changed columns, and the given columns of `kept`, and no others: each column costs an update of its indexes.
 */
export function updateRow(
  database: RegistryDatabase,
  before: InstanceRow,
  after: InstanceRow,
  kept: Partial<DerivedColumns>,
): void {
  const changed: Record<string, unknown> = { ...kept };
  for (const property of PROPERTIES) if (before[property] !== after[property]) changed[property] = after[property];
  if (after.state === 'deleted' && before.state !== 'deleted') changed.tombstone = 1;
  if (Object.keys(changed).length === 0) return;
  const statement = database.shape(`instances: update ${Object.keys(changed).join()}`, (queries) =>
    queries
      .update(instances)
      .set(boundColumns(changed))
      .where(eq(instances.id, placeholder('id')))
      .prepare(),
  );
  statement.run({ ...changed, id: before.id });
}

/** The registry's error for a row whose id or name another one has; null for any other failure. */
export function taken(error: unknown, row: InstanceRow): WinterdockError | null {
  const code = sqliteCode(error);
  if (code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return idTaken(row.id, error);
  return code === 'SQLITE_CONSTRAINT_UNIQUE' && messageOf(error).includes('instances.name')
    ? nameTaken(row, error)
    : null;
}
