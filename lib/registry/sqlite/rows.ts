/** Rows of the instances table as objects and back. Knows the columns; decides nothing. */
import type { State } from '../../lifecycle/states.ts';
import type { Fault } from '../../lifecycle/words.ts';
import type { FileRecord, InstanceRow, Intent } from '../registry.ts';
import type { RegistryDatabase, Value } from './database.ts';

/** The column of every property, in the order in which `rowOf` reads them. */
const COLUMNS: Readonly<Record<keyof InstanceRow, string>> = {
  id: 'id',
  tenant: 'tenant',
  state: 'state',
  vfsPath: 'vfs_path',
  updated: 'updated',
  name: 'name',
  generation: 'generation',
  fault: 'fault',
  faultReason: 'fault_reason',
  pending: 'pending',
  created: 'created',
  stateSince: 'state_since',
  keepHot: 'keep_hot',
  holdUntil: 'hold_until',
  ephemeral: 'ephemeral',
  policy: 'policy',
  idleToSuspendSeconds: 'idle_to_suspend_s',
  idleToFreezeSeconds: 'idle_to_freeze_s',
  bytes: 'bytes',
  workbook: 'workbook',
  lineageBlueprint: 'lineage_blueprint',
  lineageSnapshot: 'lineage_snapshot',
  lineageParent: 'lineage_parent',
  file: 'file',
  failures: 'failures',
  labels: 'labels',
};

const PROPERTIES = Object.keys(COLUMNS) as (keyof InstanceRow)[];

/** What to select for `rowOf`. */
export const ROW_COLUMNS = PROPERTIES.map((property) => `instances.${COLUMNS[property]}`).join(', ');

const SELECT_ROW = `SELECT ${ROW_COLUMNS} FROM instances WHERE id = ?`;

/** One row of `ROW_COLUMNS`. The table was written by this registry, so its words are trusted. */
export function rowOf(values: Value[]): InstanceRow {
  return {
    id: values[0] as string,
    tenant: values[1] as string,
    state: values[2] as State,
    vfsPath: values[3] as string | null,
    updated: values[4] as number,
    name: values[5] as string | null,
    generation: values[6] as number,
    fault: values[7] as Fault | null,
    faultReason: values[8] as string | null,
    pending: values[9] === null ? null : (JSON.parse(values[9] as string) as Intent),
    created: values[10] as number,
    stateSince: values[11] as number,
    keepHot: values[12] === 1,
    holdUntil: values[13] as number | null,
    ephemeral: values[14] === 1,
    policy: values[15] as string,
    idleToSuspendSeconds: values[16] as number | null,
    idleToFreezeSeconds: values[17] as number | null,
    bytes: values[18] as number | null,
    workbook: values[19] as string | null,
    lineageBlueprint: values[20] as string | null,
    lineageSnapshot: values[21] as string | null,
    lineageParent: values[22] as string | null,
    file: values[23] === null ? null : (JSON.parse(values[23] as string) as FileRecord),
    failures: values[24] as number,
    labels: JSON.parse(values[25] as string) as Record<string, string>,
  };
}

/** The row of `id`, tombstones included, or null. */
export function findRow(database: RegistryDatabase, id: string): InstanceRow | null {
  const values = database.sql(SELECT_ROW).get(id);
  return values === undefined ? null : rowOf(values);
}

/** Columns that the registry keeps beside the row. */
export interface Kept {
  dueAt: number | null;
  words: string;
}

/** Inserts a whole row. Throws SQLite's own constraint errors. */
export function insertRow(database: RegistryDatabase, row: InstanceRow, kept: Kept): void {
  const columns = [...PROPERTIES.map((property) => COLUMNS[property]), 'due_at', 'words'];
  const sql = `INSERT INTO instances(${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
  database.sql(sql).run(...PROPERTIES.map((property) => stored(row[property])), kept.dueAt, kept.words);
}

/** Writes what differs and what of `kept` is given, and only that: each column named costs the indexes it is in. */
export function updateRow(
  database: RegistryDatabase,
  before: InstanceRow,
  after: InstanceRow,
  kept: Partial<Kept>,
): void {
  const columns: string[] = [];
  const values: Value[] = [];
  const set = (column: string, value: Value) => {
    columns.push(`${column} = ?`);
    values.push(value);
  };
  for (const property of PROPERTIES) {
    if (before[property] !== after[property]) set(COLUMNS[property], stored(after[property]));
  }
  if (kept.dueAt !== undefined) set('due_at', kept.dueAt);
  if (kept.words !== undefined) set('words', kept.words);
  if (after.state === 'deleted' && before.state !== 'deleted') set('tombstone', 1);
  if (columns.length === 0) return;
  database.sql(`UPDATE instances SET ${columns.join(', ')} WHERE id = ?`).run(...values, before.id);
}

function stored(value: InstanceRow[keyof InstanceRow]): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
