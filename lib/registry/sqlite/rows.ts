/** Rows of the instances table: read, inserted, changed. Decides nothing. */
import { eq, getTableColumns, gt, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import type { State } from '../../lifecycle/states.ts';
import type { Fault } from '../../lifecycle/words.ts';
import type { FileRecord, InstanceRow, Intent } from '../registry.ts';
import type { RegistryDatabase, Value } from './database.ts';
import { boundAll } from './placeholders.ts';

const { tombstone: _, words, dueAt, nameKey: __, bytesKey: ___, ...columns } = getTableColumns(instances);

/** What to select for a row of the contract. */
export const ROW = columns;

const PROPERTIES = Object.keys(ROW) as (keyof InstanceRow)[];

/** Columns that the registry keeps beside the row. */
export interface Kept {
  dueAt: number | null;
  words: string;
}

/** The row of `id`, tombstones included, or null. */
export function findRow(database: RegistryDatabase, id: string): InstanceRow | null {
  const statement = database.shape('instances: one', (queries) =>
    queries
      .select(ROW)
      .from(instances)
      .where(eq(instances.id, placeholder('id')))
      .prepare(),
  );
  return statement.get({ id }) ?? null;
}

/** Rows in the order of their ids after `after`, tombstones included; at most `limit`. */
export function rowsAfter(queries: Queries) {
  return queries
    .select(ROW)
    .from(instances)
    .where(gt(instances.id, placeholder('after')))
    .orderBy(instances.id)
    .limit(placeholder('limit'));
}

/** Inserts a whole row. Throws SQLite's own constraint errors. */
export function insertRow(database: RegistryDatabase, row: InstanceRow, kept: Kept): void {
  const statement = database.shape('instances: insert', (queries) =>
    queries
      .insert(instances)
      .values(boundAll({ ...ROW, words, dueAt }))
      .prepare(),
  );
  statement.run({ ...row, ...kept });
}

/** Writes what differs and what of `kept` is given, and only that: each column named costs the indexes it is in. */
export function updateRow(
  database: RegistryDatabase,
  before: InstanceRow,
  after: InstanceRow,
  kept: Partial<Kept>,
): void {
  const changed: Record<string, unknown> = { ...kept };
  for (const property of PROPERTIES) if (before[property] !== after[property]) changed[property] = after[property];
  if (after.state === 'deleted' && before.state !== 'deleted') changed.tombstone = 1;
  if (Object.keys(changed).length === 0) return;
  const statement = database.shape(`instances: update ${Object.keys(changed).join()}`, (queries) =>
    queries
      .update(instances)
      .set(boundAll(changed))
      .where(eq(instances.id, placeholder('id')))
      .prepare(),
  );
  statement.run({ ...changed, id: before.id });
}

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

/** What to select for `rowOf`. */
export const ROW_COLUMNS = PROPERTIES.map((property) => `instances.${COLUMNS[property]}`).join(', ');

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
