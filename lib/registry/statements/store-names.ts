/** Statements over names of objects in the store. */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  not,
  notExists,
  placeholder,
  type Queries,
} from '../../../db/drizzle.ts';
import { blueprints, snapshots, storeNames } from '../../../db/schema.ts';
import type { CopyKind } from '../../base/copy-paths.ts';
import { NOBODYS } from '../store-names.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { inBoundList, selectBy, textOr } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const COLUMNS = getTableColumns(storeNames);
const { name, instance, tenant, kind, hash, host, state, supersededMs } = storeNames;
const BLUEPRINT_TENANT = textOr(blueprints.tenant, NOBODYS);
const SUPERSEDED = { state: 'superseded', supersededMs: boundValue('nowMs') } as const;

/** The whole objects of a copy that a tenant has. */
function storedCopy(queries: Queries, ofKind: CopyKind, ofHash: SQLiteColumn, ofTenant: SQLiteColumn | SQL) {
  return queries
    .select({ name })
    .from(storeNames)
    .where(
      and(
        isNotNull(hash),
        eq(hash, ofHash),
        eq(kind, ofKind).inlineParams(),
        eq(tenant, ofTenant),
        eq(state, 'current').inlineParams(),
      ),
    );
}

/** Nothing names the objects of a sandbox any more. */
export function supersedeOf(queries: Queries) {
  return queries
    .update(storeNames)
    .set(SUPERSEDED)
    .where(and(isNotNull(instance), eq(instance, placeholder('instance')), eq(state, 'current')));
}

export function storeNameStatements(database: StatementMaker) {
  const isOf = eq(instance, placeholder('instance'));
  const insert = database.statement((queries) =>
    queries.insert(storeNames).values(boundColumns(COLUMNS)).onConflictDoNothing().prepare(),
  );
  const finish = database.statement((queries) =>
    queries
      .update(storeNames)
      .set({ state: 'current' })
      .where(and(eq(name, placeholder('name')), isOf, eq(state, 'uploading')))
      .prepare(),
  );
  const supersedeOthers = database.statement((queries) =>
    queries
      .update(storeNames)
      .set(SUPERSEDED)
      .where(and(isNotNull(instance), isOf, eq(state, 'current'), ne(name, placeholder('name'))))
      .prepare(),
  );
  const get = database.statement((queries) =>
    queries
      .select()
      .from(storeNames)
      .where(eq(name, placeholder('name')))
      .prepare(),
  );
  const supersede = database.statement((queries) =>
    queries
      .update(storeNames)
      .set(SUPERSEDED)
      .where(and(inBoundList(name, 'names'), inArray(state, ['uploading', 'current'])))
      .prepare(),
  );
  const begun = database.statement((queries) =>
    selectBy(queries, COLUMNS, storeNames, 'store_names_begun')
      .where(and(eq(host, placeholder('host')), eq(state, 'uploading').inlineParams()))
      .prepare(),
  );
  const superseded = database.statement((queries) =>
    selectBy(queries, COLUMNS, storeNames, 'store_names_superseded')
      .where(and(isNotNull(supersededMs), lte(supersededMs, placeholder('untilMs'))))
      .orderBy(asc(supersededMs))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const clamp = database.statement((queries) =>
    queries
      .update(storeNames)
      .set({ supersededMs: boundValue('nowMs') })
      .where(and(isNotNull(supersededMs), gt(supersededMs, placeholder('nowMs'))))
      .prepare(),
  );
  const remove = database.statement((queries) =>
    queries
      .delete(storeNames)
      .where(and(eq(name, placeholder('name')), eq(state, 'superseded')))
      .prepare(),
  );
  const ofInstance = database.statement((queries) =>
    selectBy(queries, COLUMNS, storeNames, 'store_names_by_instance')
      .where(and(isNotNull(instance), eq(instance, placeholder('instance'))))
      .prepare(),
  );
  const ofTenant = database.statement((queries) =>
    selectBy(queries, COLUMNS, storeNames, 'store_names_by_tenant')
      .where(and(eq(tenant, placeholder('tenant')), gt(name, placeholder('after'))))
      .orderBy(asc(name))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const page = database.statement((queries) =>
    queries
      .select()
      .from(storeNames)
      .where(gt(name, placeholder('after')))
      .orderBy(asc(name))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const isOfCopy = and(isNotNull(hash), eq(hash, placeholder('hash')), eq(kind, placeholder('kind')));
  const copyName = database.statement((queries) =>
    selectBy(queries, COLUMNS, storeNames, 'store_names_by_hash')
      .where(and(isOfCopy, eq(state, 'current').inlineParams()))
      .limit(1)
      .prepare(),
  );
  const finishCopy = database.statement((queries) =>
    queries
      .update(storeNames)
      .set({ state: 'current' })
      .where(and(eq(name, placeholder('name')), isNotNull(hash), eq(state, 'uploading')))
      .prepare(),
  );
  const supersedeCopy = database.statement((queries) =>
    queries
      .update(storeNames)
      .set(SUPERSEDED)
      .where(and(isOfCopy, inArray(state, ['uploading', 'current'])))
      .prepare(),
  );
  const toStore = {
    snapshot: database.statement((queries) =>
      queries
        .selectDistinct({ hash: snapshots.hash, tenant: snapshots.tenant })
        .from(snapshots)
        .where(
          and(
            isNull(snapshots.deleted),
            notExists(storedCopy(queries, 'snapshot', snapshots.hash, snapshots.tenant)),
            not(inBoundList(snapshots.hash, 'except')),
          ),
        )
        .limit(placeholder('limit'))
        .prepare(),
    ),
    blueprint: database.statement((queries) =>
      queries
        .selectDistinct({ hash: blueprints.hash, tenant: BLUEPRINT_TENANT })
        .from(blueprints)
        .where(
          and(
            notExists(storedCopy(queries, 'blueprint', blueprints.hash, BLUEPRINT_TENANT)),
            not(inBoundList(blueprints.hash, 'except')),
          ),
        )
        .limit(placeholder('limit'))
        .prepare(),
    ),
  };
  return {
    insert,
    finish,
    supersedeOthers,
    supersedeOf: database.statement((queries) => supersedeOf(queries).prepare()),
    get,
    supersede,
    begun,
    superseded,
    clamp,
    remove,
    ofInstance,
    ofTenant,
    page,
    copyName,
    finishCopy,
    supersedeCopy,
    toStore,
  };
}
