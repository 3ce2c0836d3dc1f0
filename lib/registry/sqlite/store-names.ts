/** Names of objects in the store, in the registry's file. Asks no store. */
import { and, asc, eq, getTableColumns, gt, inArray, isNotNull, lte, ne, placeholder } from '../../../db/drizzle.ts';
import { storeNames } from '../../../db/schema.ts';
import type { Clock } from '../../base/clock.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { StoreNameStore } from '../store-names.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { inBoundList, selectBy } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

const COLUMNS = getTableColumns(storeNames);
const { name, instance, tenant, host, state, supersededMs } = storeNames;
const SUPERSEDED = { state: 'superseded', supersededMs: boundValue('nowMs') } as const;

/** The statements that a transaction of a row needs too. */
export class StoreNameTable {
  readonly #database: RegistryDatabase;
  readonly #clock: Clock;
  readonly #finish;
  readonly #supersedeOthers;
  readonly #supersedeOf;

  constructor(database: RegistryDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    const isOf = eq(instance, placeholder('instance'));
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

  /** Within a transaction: nothing names the objects of this sandbox any more. */
  supersedeOf(id: InstanceId): void {
    this.#supersedeOf().run({ instance: id, nowMs: this.#clock.now() });
  }

  store(): SyncMethods<StoreNameStore> {
    const database = this.#database;
    const insert = database.statement((queries) =>
      queries.insert(storeNames).values(boundColumns(COLUMNS)).onConflictDoNothing().prepare(),
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
    return {
      begin(begunName) {
        const added = database.write(() => insert().run({ ...begunName, state: 'uploading', supersededMs: null }));
        if (added.changes === 1) return;
        throw new WinterdockError('conflict', `The name "${begunName.name}" was given to an object before.`);
      },
      get: (of) => get().get({ name: of }) ?? null,
      supersede(names, nowMs) {
        if (names.length === 0) return;
        database.write(() => void supersede().run({ names: JSON.stringify(names), nowMs }));
      },
      begunUploads: (of) => begun().all({ host: of }),
      superseded: (untilMs, limit) => superseded().all({ untilMs, limit }),
      remove: (of) => database.write(() => void remove().run({ name: of })),
      ofInstance: (id) => ofInstance().all({ instance: id }),
      ofTenant: (of, after, limit) => ofTenant().all({ tenant: of, after, limit }),
      page: (after, limit) => page().all({ after, limit }),
    };
  }
}
