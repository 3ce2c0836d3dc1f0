/** Names of objects in the store, in the registry's file. Asks no store. */
import type { Clock } from '../../base/clock.ts';
import { objectNameOf, parseCloudAddress } from '../../base/cloud-address.ts';
import { COPY_KINDS } from '../../base/copy-paths.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { FiledInStore } from '../instances.ts';
import { storeNameStatements } from '../statements/store-names.ts';
import type { StoreNameStore } from '../store-names.ts';
import type { InstanceRow } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

function nameGiven(of: string): WinterdockError {
  return new WinterdockError('conflict', `The name "${of}" was given to an object before.`);
}

/** The statements that a transaction of a row needs too. */
export class StoreNameTable {
  readonly #database: RegistryDatabase;
  readonly #clock: Clock;

  readonly #statements;

  constructor(database: RegistryDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#statements = storeNameStatements(database);
  }

  /** Within a transaction: the name is what the row names from now on. False when its upload is not under way. */
  replace(id: InstanceId, current: string, nowMs: number): boolean {
    if (this.#statements.finish().run({ instance: id, name: current }).changes !== 1) return false;
    this.#statements.supersedeOthers().run({ instance: id, name: current, nowMs });
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
    const added = this.#statements.insert().run({ ...taken, state: 'current', supersededMs: null });
    if (added.changes !== 1) throw nameGiven(of);
  }

  /** Within a transaction: nothing names the objects of this sandbox any more. */
  supersedeOf(id: InstanceId): void {
    this.#statements.supersedeOf().run({ instance: id, nowMs: this.#clock.now() });
  }

  store(): SyncMethods<StoreNameStore> {
    const database = this.#database;
    const {
      insert,
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
    } = this.#statements;
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
