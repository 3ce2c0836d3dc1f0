/** Statements over workbooks and their versions. */
import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  isNotNull,
  lt,
  notInArray,
  or,
  placeholder,
  type Queries,
} from '../../../db/drizzle.ts';
import { instances, scheduleSyncs, workbooks, workbookVersions } from '../../../db/schema.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { containsAnyCase, inBoundList, pastPosition } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const WORKBOOK = getTableColumns(workbooks);
const VERSION = getTableColumns(workbookVersions);
const { source: _source, plan, problemList, builder, schedules, tenant: _tenant, id: _id, ...LISTED } = VERSION;
/** What a plan builder makes of a source. */
const BUILT = {
  title: LISTED.title,
  components: LISTED.components,
  problems: LISTED.problems,
  plan,
  problemList,
  builder,
  schedules,
};

export type WorkbookCriterion = 'tenant' | 'tenants' | 'id' | 'hash' | 'text' | 'after';

export function workbookStatements(database: StatementMaker) {
  const isIt = and(eq(workbooks.tenant, placeholder('tenant')), eq(workbooks.id, placeholder('id')));
  const isOfIt = and(eq(workbookVersions.tenant, placeholder('tenant')), eq(workbookVersions.id, placeholder('id')));
  const isVersionOfIt = and(isOfIt, eq(workbookVersions.version, placeholder('version')));
  const isDocked = and(
    eq(instances.tenant, placeholder('tenant')),
    eq(instances.workbook, placeholder('id')),
    isNotNull(instances.workbook),
    eq(instances.tombstone, 0).inlineParams(),
  );
  const pinned = (queries: Queries) =>
    queries
      .select({ version: instances.workbookVersion })
      .from(instances)
      .where(and(isDocked, isNotNull(instances.workbookVersion)));
  const { tenant: _, id: __, created: ___, ...changing } = WORKBOOK;
  return {
    select: (by: readonly WorkbookCriterion[]) =>
      database.shape(`workbooks: by ${by.join()}`, (queries) =>
        queries
          .select(WORKBOOK)
          .from(workbooks)
          .where(and(...by.map(conditionOf)))
          .orderBy(workbooks.tenant, workbooks.id)
          .limit(placeholder('limit'))
          .prepare(),
      ),
    insert: database.statement((queries) => queries.insert(workbooks).values(boundColumns(WORKBOOK)).prepare()),
    update: database.statement((queries) =>
      queries.update(workbooks).set(boundColumns(changing)).where(isIt).prepare(),
    ),
    insertVersion: database.statement((queries) =>
      queries.insert(workbookVersions).values(boundColumns(VERSION)).prepare(),
    ),
    ofTenant: database.statement((queries) =>
      queries
        .select({ n: count() })
        .from(workbooks)
        .where(eq(workbooks.tenant, placeholder('tenant')))
        .prepare(),
    ),
    docked: database.statement((queries) => queries.select({ n: count() }).from(instances).where(isDocked).prepare()),
    unused: database.statement((queries) =>
      queries
        .select({ version: workbookVersions.version })
        .from(workbookVersions)
        .where(
          and(
            isOfIt,
            lt(workbookVersions.version, placeholder('keep')),
            notInArray(workbookVersions.version, pinned(queries)),
          ),
        )
        .prepare(),
    ),
    version: database.statement((queries) =>
      queries.select(VERSION).from(workbookVersions).where(isVersionOfIt).prepare(),
    ),
    plan: database.statement((queries) =>
      queries
        .select({ version: VERSION.version, hash: VERSION.hash, plan, builder: VERSION.builder })
        .from(workbookVersions)
        .where(isVersionOfIt)
        .prepare(),
    ),
    versions: database.statement((queries) =>
      queries
        .select(LISTED)
        .from(workbookVersions)
        .where(and(isOfIt, lt(workbookVersions.version, placeholder('before'))))
        .orderBy(desc(workbookVersions.version))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    rebuildVersion: database.statement((queries) =>
      queries.update(workbookVersions).set(boundColumns(BUILT)).where(isVersionOfIt).prepare(),
    ),
    rebuildNewest: database.statement((queries) =>
      queries
        .update(workbooks)
        .set(boundColumns({ title: BUILT.title, components: BUILT.components, problems: BUILT.problems }))
        .where(and(isIt, eq(workbooks.version, placeholder('version'))))
        .prepare(),
    ),
    dockedAt: database.statement((queries) =>
      queries
        .select({ instance: instances.id })
        .from(instances)
        .where(and(isDocked, eq(instances.workbookVersion, placeholder('version'))))
        .prepare(),
    ),
    synchronise: database.statement((queries) =>
      queries
        .insert(scheduleSyncs)
        .values({ instance: boundValue('instance') })
        .onConflictDoNothing()
        .prepare(),
    ),
    removeVersion: database.statement((queries) => queries.delete(workbookVersions).where(isVersionOfIt).prepare()),
    removeVersions: database.statement((queries) => queries.delete(workbookVersions).where(isOfIt).prepare()),
    remove: database.statement((queries) => queries.delete(workbooks).where(isIt).prepare()),
  };
}

function conditionOf(name: WorkbookCriterion) {
  switch (name) {
    case 'tenants':
      return inBoundList(workbooks.tenant, 'tenants');
    case 'text':
      return or(containsAnyCase(workbooks.id, 'text'), containsAnyCase(workbooks.title, 'text'));
    case 'after':
      return pastPosition([workbooks.tenant, workbooks.id], '>', ['afterTenant', 'afterId']);
    default:
      return eq(workbooks[name], placeholder(name));
  }
}
