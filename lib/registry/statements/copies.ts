/** The statements of the store of copies, each built on first use. Decides nothing. */
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  max,
  placeholder,
} from '../../../db/drizzle.ts';
import { blueprints, instances, snapshots, starts, unclaimedFiles } from '../../../db/schema.ts';
import type { CopyKind } from '../../base/copy-paths.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { INSTANCE_COLUMNS } from './instance-rows.ts';
import { inBoundList, pastPosition, rowid, selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const SNAPSHOT = getTableColumns(snapshots);
const BLUEPRINT = getTableColumns(blueprints);
const DESCENT = {
  snapshot: { column: instances.lineageSnapshot, index: 'instances_by_snapshot' },
  blueprint: { column: instances.lineageBlueprint, index: 'instances_by_blueprint' },
} as const;
/** Instances made from a copy and never resumed, as the index has them. */
const NEVER_RESUMED = and(
  eq(instances.vfsPath, placeholder('path')),
  eq(instances.state, 'created').inlineParams(),
  isNotNull(instances.vfsPath),
);

/** The filters of a page of snapshots; `created` is the position to continue from. */
type Narrowed = 'source' | 'tag' | 'tenant' | 'tenants' | 'created' | 'isTaken';

export function copyStatements(database: StatementMaker) {
  const statement = database.statement.bind(database);
  const shape = database.shape.bind(database);
  return {
    snapshot: statement((queries) =>
      queries
        .select(SNAPSHOT)
        .from(snapshots)
        .where(eq(snapshots.id, placeholder('id')))
        .prepare(),
    ),
    snapshotTenant: statement((queries) =>
      queries
        .select({ tenant: max(snapshots.tenant) })
        .from(snapshots)
        .where(eq(snapshots.id, placeholder('id')))
        .prepare(),
    ),
    snapshotsOf: statement((queries) =>
      selectBy(queries, SNAPSHOT, snapshots, 'snapshots_by_hash')
        .where(and(eq(snapshots.hash, placeholder('hash')), isNull(snapshots.deleted)))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    namedMoments: statement((queries) =>
      selectBy(queries, SNAPSHOT, snapshots, 'snapshots_by_moment')
        .where(
          and(eq(snapshots.source, placeholder('source')), isNull(snapshots.deleted), isNotNull(snapshots.momentMs)),
        )
        .orderBy(desc(snapshots.momentMs), desc(snapshots.tag))
        .prepare(),
    ),
    insertSnapshot: statement((queries) => queries.insert(snapshots).values(boundColumns(SNAPSHOT)).prepare()),
    deleteSnapshot: statement((queries) =>
      queries
        .update(snapshots)
        .set({ deleted: boundValue('deleted') })
        .where(eq(snapshots.id, placeholder('id')))
        .prepare(),
    ),
    /** Newest first, by the index that begins with the filter's column. */
    snapshots: (by: readonly Narrowed[]) =>
      shape(`snapshots: page by ${by.join()}`, (queries) => {
        return queries
          .select(SNAPSHOT)
          .from(snapshots)
          .where(
            and(
              isNull(snapshots.deleted),
              by.includes('source') ? eq(snapshots.source, placeholder('source')) : undefined,
              by.includes('tag') ? eq(snapshots.tag, placeholder('tag')) : undefined,
              by.includes('tenant') ? eq(snapshots.tenant, placeholder('tenant')) : undefined,
              by.includes('tenants') ? inBoundList(snapshots.tenant, 'tenants') : undefined,
              by.includes('isTaken') ? isNull(snapshots.momentMs) : undefined,
              by.includes('created')
                ? pastPosition([snapshots.created, snapshots.id], '<', ['created', 'id'])
                : undefined,
            ),
          )
          .orderBy(desc(snapshots.created), desc(snapshots.id))
          .limit(placeholder('limit'))
          .prepare();
      }),

    blueprint: statement((queries) =>
      queries
        .select(BLUEPRINT)
        .from(blueprints)
        .where(eq(blueprints.name, placeholder('name')))
        .prepare(),
    ),
    blueprintsOf: statement((queries) =>
      selectBy(queries, BLUEPRINT, blueprints, 'blueprints_by_hash')
        .where(eq(blueprints.hash, placeholder('hash')))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    insertBlueprint: statement((queries) => queries.insert(blueprints).values(boundColumns(BLUEPRINT)).prepare()),
    blueprints: statement((queries) =>
      queries
        .select(BLUEPRINT)
        .from(blueprints)
        .where(gt(blueprints.name, placeholder('after')))
        .orderBy(blueprints.name)
        .limit(placeholder('limit'))
        .prepare(),
    ),
    deleteBlueprint: statement((queries) =>
      queries
        .delete(blueprints)
        .where(eq(blueprints.name, placeholder('name')))
        .prepare(),
    ),

    insertStart: statement((queries) =>
      queries
        .insert(starts)
        .values(boundColumns(getTableColumns(starts)))
        .prepare(),
    ),
    startings: statement((queries) =>
      queries
        .select({ tenant: starts.tenant, ids: starts.ids, from: starts.origin, cause: starts.cause })
        .from(starts)
        .orderBy(rowid(starts))
        .prepare(),
    ),
    endStart: statement((queries) =>
      queries
        .delete(starts)
        .where(eq(starts.first, placeholder('first')))
        .prepare(),
    ),
    /** Oldest first, each with its row number. */
    descendants: (kind: CopyKind) =>
      shape(`instances: descendants of ${kind}`, (queries) => {
        const { column, index } = DESCENT[kind];
        const number = rowid(instances);
        return selectBy(queries, { ...INSTANCE_COLUMNS, number }, instances, index)
          .where(
            and(
              eq(column, placeholder('key')),
              isNotNull(column),
              pastPosition([instances.created, number], '>', ['created', 'number']),
            ),
          )
          .orderBy(asc(instances.created), asc(number))
          .limit(placeholder('limit'))
          .prepare();
      }),
    countDescendants: (kind: CopyKind) =>
      shape(`instances: count descendants of ${kind}`, (queries) => {
        const { column, index } = DESCENT[kind];
        return selectBy(queries, { n: count() }, instances, index)
          .where(and(eq(column, placeholder('key')), isNotNull(column)))
          .prepare();
      }),

    mark: statement((queries) =>
      queries
        .insert(unclaimedFiles)
        .values({ path: boundValue('path') })
        .onConflictDoNothing()
        .prepare(),
    ),
    unmark: statement((queries) =>
      queries
        .delete(unclaimedFiles)
        .where(eq(unclaimedFiles.path, placeholder('path')))
        .prepare(),
    ),
    unclaimed: statement((queries) => queries.select().from(unclaimedFiles).orderBy(unclaimedFiles.path).prepare()),
    /** One of the living copies that use the file. */
    claimed: (kind: CopyKind) =>
      shape(`${kind}: claimed`, (queries) =>
        kind === 'snapshot'
          ? queries
              .select({ hash: snapshots.hash })
              .from(snapshots)
              .where(and(eq(snapshots.hash, placeholder('hash')), isNull(snapshots.deleted)))
              .limit(1)
              .prepare()
          : queries
              .select({ hash: blueprints.hash })
              .from(blueprints)
              .where(eq(blueprints.hash, placeholder('hash')))
              .limit(1)
              .prepare(),
      ),
    waitedFor: statement((queries) =>
      selectBy(queries, { id: instances.id }, instances, 'instances_by_source').where(NEVER_RESUMED).limit(1).prepare(),
    ),
    restamp: (kind: CopyKind) =>
      shape(`${kind}: restamp`, (queries) => {
        const table = kind === 'snapshot' ? snapshots : blueprints;
        return queries
          .update(table)
          .set({ file: boundValue('file') })
          .where(eq(table.hash, placeholder('hash')))
          .prepare();
      }),
    restampWaiting: statement((queries) =>
      queries
        .update(instances)
        .set({ file: boundValue('file') })
        .where(NEVER_RESUMED)
        .prepare(),
    ),
  };
}
