/** Names of objects in the store, in the registry's file. Asks no store. */
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
import type { Clock } from '../../base/clock.ts';
import { objectNameOf, parseCloudAddress } from '../../base/cloud-address.ts';
import { COPY_KINDS, type CopyKind } from '../../base/copy-paths.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { FiledInStore } from '../instances.ts';
import { NOBODYS, type StoreNameStore } from '../store-names.ts';
import type { InstanceRow } from '../types.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { inBoundList, selectBy, textOr } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

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

function nameGiven(of: string): WinterdockError {
  return new WinterdockError('conflict', `The name "${of}" was given to an object before.`);
}

/** The statements that a transaction of a row needs too. */
export class StoreNameTable {
  readonly #database: RegistryDatabase;
  readonly #clock: Clock;
  readonly #insert;
  readonly #finish;
  readonly #supersedeOthers;
  readonly #supersedeOf;

  constructor(database: RegistryDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    const isOf = eq(instance, placeholder('instance'));
    this.#insert = database.statement((queries) =>
      queries.insert(storeNames).values(boundColumns(COLUMNS)).onConflictDoNothing().prepare(),
    );
    this.#finish = database.statement((queries) =>
      queries
        .update(storeNames)
        .set({ state: 'current' })
        .where(and(eq(name, placeholder('name')), isOf, eq(state, 'uploading')))
        .prepare(),
    );
    this.#supersedeOthers = database.statement((queries) =>
      queries
        .update(storeNames)
        .set(SUPERSEDED)
        .where(and(isNotNull(instance), isOf, eq(state, 'current'), ne(name, placeholder('name'))))
        .prepare(),
    );
    this.#supersedeOf = database.statement((queries) =>
      queries
        .update(storeNames)
        .set(SUPERSEDED)
        .where(and(isNotNull(instance), isOf, eq(state, 'current')))
        .prepare(),
    );
  }

  /** Within a transaction: the name is what the row names from now on. False when its upload is not under way. */
  replace(id: InstanceId, current: string, nowMs: number): boolean {
    if (this.#finish().run({ instance: id, name: current }).changes !== 1) return false;
    this.#supersedeOthers().run({ instance: id, name: current, nowMs });
    return true;
  }

  /**
   * Within a transaction: a row is made of the object that a former registry had named. Throws `conflict` for a name
   * that this one has recorded, whatever became of it.
   */
  adopt({ id, tenant: whose }: InstanceRow, { stored, host: by }: FiledInStore, nowMs: number): void {
    const of = objectNameOf(stored.address);
    const kindOf = parseCloudAddress(stored.address)?.kind ?? 'cold';
    const taken = { name: of, instance: id, tenant: whose, kind: kindOf, hash: null, host: by, begunMs: nowMs };
    const added = this.#insert().run({ ...taken, state: 'current', supersededMs: null });
    if (added.changes !== 1) throw nameGiven(of);
  }

  /** Within a transaction: nothing names the objects of this sandbox any more. */
  supersedeOf(id: InstanceId): void {
    this.#supersedeOf().run({ instance: id, nowMs: this.#clock.now() });
  }

  store(): SyncMethods<StoreNameStore> {
    const database = this.#database;
    const insert = this.#insert;
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
      begin(begunName) {
        const row = { ...begunName, hash: begunName.hash ?? null, state: 'uploading', supersededMs: null } as const;
        const added = database.write(() => insert().run(row));
        if (added.changes === 1) return;
        throw nameGiven(begunName.name);
      },
      get: (of) => get().get({ name: of }) ?? null,
      supersede(names, nowMs) {
        if (names.length === 0) return;
        database.write(() => void supersede().run({ names: JSON.stringify(names), nowMs }));
      },
      begunUploads: (of) => begun().all({ host: of }),
      clampSuperseded: (nowMs) => database.write(() => clamp().run({ nowMs }).changes),
      superseded: (untilMs, limit) => superseded().all({ untilMs, limit }),
      copyName: (ofKind, ofHash) => copyName().get({ kind: ofKind, hash: ofHash }) ?? null,
      finishCopy: (of) => database.write(() => finishCopy().run({ name: of }).changes === 1),
      supersedeCopy: (ofKind, ofHash, nowMs) =>
        database.write(() => void supersedeCopy().run({ kind: ofKind, hash: ofHash, nowMs })),
      copiesToStore: (limit, except) =>
        COPY_KINDS.flatMap((of) =>
          toStore[of]()
            .all({ limit, except: JSON.stringify(except) })
            .map((found) => ({ kind: of, ...found })),
        ).slice(0, limit),
      remove: (of) => database.write(() => void remove().run({ name: of })),
      ofInstance: (id) => ofInstance().all({ instance: id }),
      ofTenant: (of, after, limit) => ofTenant().all({ tenant: of, after, limit }),
      page: (after, limit) => page().all({ after, limit }),
    };
  }
}
