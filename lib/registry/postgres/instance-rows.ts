/** Rows of the instances table: read, locked, inserted, changed. Decides nothing. */
import type { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { idTaken, nameTaken } from '../registry-errors.ts';
import { changedColumns, type DerivedColumns, rowStatements, selectRow } from '../statements/instance-rows.ts';
import type { InstanceRow } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import { codeOf, constraintOf, UNIQUE_VIOLATION } from './errors.ts';

const statements = new WeakMap<PostgresDatabase, ReturnType<typeof prepare>>();

function prepare(database: PostgresDatabase) {
  return { ...database.with(rowStatements), lock: database.locking((queries) => selectRow(queries).prepare()) };
}

/** The statements of a registry. */
function of(database: PostgresDatabase) {
  const known = statements.get(database) ?? prepare(database);
  statements.set(database, known);
  return known;
}

/** The row of `id`, tombstones included, or null. */
export async function findRow(database: PostgresDatabase, id: InstanceId): Promise<InstanceRow | null> {
  return (await of(database).find().get({ id })) ?? null;
}

/** The same within a transaction: nobody else changes it before that ends. */
export async function lockRow(database: PostgresDatabase, id: InstanceId): Promise<InstanceRow | null> {
  return (await of(database).lock().get({ id })) ?? null;
}

/** Inserts a whole row. Rejects with Postgres's own constraint errors. */
export async function insertRow(database: PostgresDatabase, row: InstanceRow, kept: DerivedColumns): Promise<void> {
  await of(database)
    .insert()
    .run({ ...row, ...kept });
}

/** Writes what has changed. */
export async function updateRow(
  database: PostgresDatabase,
  before: InstanceRow,
  after: InstanceRow,
  kept: Partial<DerivedColumns>,
): Promise<void> {
  const changed = changedColumns(before, after, kept);
  if (Object.keys(changed).length === 0) return;
  await of(database)
    .update(Object.keys(changed))
    .run({ ...changed, id: before.id });
}

/** The registry's error for a row whose id or name another one has; null for any other failure. */
export function taken(error: unknown, row: InstanceRow): WinterdockError | null {
  if (codeOf(error) !== UNIQUE_VIOLATION) return null;
  const constraint = constraintOf(error);
  if (constraint === 'instances_pkey') return idTaken(row.id, error);
  return constraint === 'instances_name_taken' ? nameTaken(row, error) : null;
}
