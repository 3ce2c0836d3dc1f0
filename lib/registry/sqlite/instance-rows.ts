/** Rows of the instances table: read, inserted, changed. Decides nothing. */
import { instances } from '../../../db/schema.ts';
import { messageOf, type WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { idTaken, nameTaken } from '../registry-errors.ts';
import { changedColumns, type DerivedColumns, INSTANCE_COLUMNS, rowStatements } from '../statements/instance-rows.ts';
import { NULL } from '../statements/raw.ts';
import type { InstanceRow } from '../types.ts';
import { type RegistryDatabase, sqliteCode } from './database.ts';
import type { RegistryFileReader } from './file-reader.ts';

const statements = new WeakMap<RegistryDatabase, ReturnType<typeof rowStatements>>();

/** The statements of a connection. */
function of(database: RegistryDatabase) {
  const known = statements.get(database) ?? rowStatements(database);
  statements.set(database, known);
  return known;
}

/** The row of `id`, tombstones included, or null. */
export function findRow(database: RegistryDatabase, id: InstanceId): InstanceRow | null {
  return of(database).find().get({ id }) ?? null;
}

/** The columns of a row in a file that may be of an earlier version. Those that it lacks are null: not set. */
export function columnsIn(file: RegistryFileReader): typeof INSTANCE_COLUMNS {
  const present = file.present(instances);
  const fields = Object.entries(INSTANCE_COLUMNS).map(([name, column]) => [name, name in present ? column : NULL]);
  return Object.fromEntries(fields);
}

/** Inserts a whole row. Throws SQLite's own constraint errors. */
export function insertRow(database: RegistryDatabase, row: InstanceRow, kept: DerivedColumns): void {
  of(database)
    .insert()
    .run({ ...row, ...kept });
}

/** Writes what has changed. */
export function updateRow(
  database: RegistryDatabase,
  before: InstanceRow,
  after: InstanceRow,
  kept: Partial<DerivedColumns>,
): void {
  const changed = changedColumns(before, after, kept);
  if (Object.keys(changed).length === 0) return;
  of(database)
    .update(Object.keys(changed))
    .run({ ...changed, id: before.id });
}

/** The registry's error for a row whose id or name another one has; null for any other failure. */
export function taken(error: unknown, row: InstanceRow): WinterdockError | null {
  const code = sqliteCode(error);
  if (code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return idTaken(row.id, error);
  return code === 'SQLITE_CONSTRAINT_UNIQUE' && messageOf(error).includes('instances.name')
    ? nameTaken(row, error)
    : null;
}
