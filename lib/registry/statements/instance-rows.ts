/** Statements over rows of the instances table. */
import { eq, getTableColumns, gt, placeholder, type Queries } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import type { InstanceRow } from '../types.ts';
import { boundColumns } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

const { tombstone: _, words, dueAt, nameKey: __, bytesKey: ___, ...columns } = getTableColumns(instances);

/** The columns of a row in the contract's form. */
export const INSTANCE_COLUMNS = columns;

const PROPERTIES = Object.keys(INSTANCE_COLUMNS) as (keyof InstanceRow)[];

/** Columns that are derived from the row. */
export interface DerivedColumns {
  dueAt: number | null;
  words: string;
}

/** Selects the row of an id. */
export function selectRow(queries: Queries) {
  return queries
    .select(INSTANCE_COLUMNS)
    .from(instances)
    .where(eq(instances.id, placeholder('id')));
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

/** One row: read, inserted as a whole, changed in some columns. */
export function rowStatements(database: StatementMaker) {
  return {
    find: database.statement((queries) => selectRow(queries).prepare()),
    insert: database.statement((queries) =>
      queries
        .insert(instances)
        .values(boundColumns({ ...INSTANCE_COLUMNS, words, dueAt }))
        .prepare(),
    ),
    update: (names: readonly string[]) =>
      database.shape(`instances: update ${names.join()}`, (queries) =>
        queries
          .update(instances)
          .set(boundColumns(Object.fromEntries(names.map((name) => [name, true]))))
          .where(eq(instances.id, placeholder('id')))
          .prepare(),
      ),
  };
}

/** The changed columns, the given ones of `kept`, and no others: each column costs an update of its indexes. */
export function changedColumns(
  before: InstanceRow,
  after: InstanceRow,
  kept: Partial<DerivedColumns>,
): Record<string, unknown> {
  const changed: Record<string, unknown> = { ...kept };
  for (const property of PROPERTIES) if (before[property] !== after[property]) changed[property] = after[property];
  if (after.state === 'deleted' && before.state !== 'deleted') changed.tombstone = 1;
  return changed;
}
