/** Statements over a registry that its server may be using: what a backup asks, and whoever looks at one row. */
import { and, count, eq, gt, isNotNull, isNull, placeholder } from '../../../db/drizzle.ts';
import { blueprints, instances, snapshots, storeNames } from '../../../db/schema.ts';
import { parseCopyPath } from '../../base/copy-paths.ts';
import type { NeededCopy } from '../driver.ts';
import { type INSTANCE_COLUMNS, rowsAfter } from './instance-rows.ts';
import { selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const copyColumns = ({ hash, bytes }: typeof snapshots | typeof blueprints) => ({ hash, bytes });

/** `columns`: of an instance's row, as they are there. */
export function liveStatements(database: Pick<StatementMaker, 'statement'>, columns: () => typeof INSTANCE_COLUMNS) {
  return {
    row: database.statement((queries) =>
      queries
        .select(columns())
        .from(instances)
        .where(eq(instances.id, placeholder('id')))
        .prepare(),
    ),
    rows: database.statement((queries) => rowsAfter(queries, columns()).prepare()),
    count: database.statement((queries) => queries.select({ n: count() }).from(instances).prepare()),
    storedCopy: database.statement((queries) =>
      selectBy(queries, { name: storeNames.name }, storeNames, 'store_names_by_hash')
        .where(
          and(
            eq(storeNames.hash, placeholder('hash')),
            eq(storeNames.kind, placeholder('kind')),
            isNotNull(storeNames.hash),
            eq(storeNames.state, 'current').inlineParams(),
          ),
        )
        .limit(1)
        .prepare(),
    ),
    snapshot: database.statement((queries) =>
      queries
        .select(copyColumns(snapshots))
        .from(snapshots)
        .where(eq(snapshots.id, placeholder('id')))
        .prepare(),
    ),
    blueprint: database.statement((queries) =>
      queries
        .select({ ...copyColumns(blueprints), created: blueprints.created })
        .from(blueprints)
        .where(eq(blueprints.name, placeholder('name')))
        .prepare(),
    ),
    snapshots: database.statement((queries) =>
      queries.select(copyColumns(snapshots)).from(snapshots).where(isNull(snapshots.deleted)).prepare(),
    ),
    blueprints: database.statement((queries) => queries.select(copyColumns(blueprints)).from(blueprints).prepare()),
    waiting: database.statement((queries) =>
      selectBy(queries, { path: instances.vfsPath, bytes: instances.bytes }, instances, 'instances_by_source')
        .where(and(eq(instances.state, 'created').inlineParams(), isNotNull(instances.vfsPath)))
        .prepare(),
    ),
    storeNames: database.statement((queries) =>
      queries
        .select({ name: storeNames.name })
        .from(storeNames)
        .where(and(gt(storeNames.name, placeholder('after')), eq(storeNames.state, 'current').inlineParams()))
        .orderBy(storeNames.name)
        .limit(placeholder('limit'))
        .prepare(),
    ),
  };
}

type OfCopy = Pick<NeededCopy, 'hash' | 'bytes'>;

/** The files of copies that rows need, each once. */
export function neededCopies(rows: {
  snapshots: readonly OfCopy[];
  blueprints: readonly OfCopy[];
  waiting: readonly { path: string | null; bytes: number | null }[];
}): NeededCopy[] {
  const needed = new Map<string, NeededCopy>();
  const need = (copy: NeededCopy) => needed.set(`${copy.kind} ${copy.hash}`, copy);
  for (const copy of rows.snapshots) need({ kind: 'snapshot', ...copy });
  for (const copy of rows.blueprints) need({ kind: 'blueprint', ...copy });
  for (const { path, bytes } of rows.waiting) {
    const copy = path === null ? null : parseCopyPath(path);
    if (copy !== null) need({ ...copy, bytes: bytes ?? 0 });
  }
  return [...needed.values()];
}
