/** Names of objects in the store, in the registry's file. Asks no store. */
import type { Clock } from '../../base/clock.ts';
import { objectNameOf, parseCloudAddress } from '../../base/cloud-address.ts';
import { COPY_KINDS } from '../../base/copy-paths.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { FiledInStore } from '../instances.ts';
import { storeNameStatements, supersedeOf } from '../statements/store-names.ts';
import type { StoreNameStore } from '../store-names.ts';
import type { InstanceRow } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import { type Bound, compiled } from './statement.ts';

function nameGiven(of: string): WinterdockError {
  return new WinterdockError('conflict', `The name "${of}" was given to an object before.`);
}

const IS_DELETED = ` and exists (select 1 from instances where id = "store_names"."instance" and state = 'deleted')`;

/** The statements that a transaction of a row needs too. */
export class StoreNameTable {
  readonly #database: PostgresDatabase;
  readonly #clock: Clock;

  readonly #statements;
  readonly #superseding = compiled((queries) => supersedeOf(queries).prepare(), IS_DELETED);

  constructor(database: PostgresDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#statements = database.with(storeNameStatements);
  }

  /** Within a transaction: the name is what the row names from now on. False when its upload is not under way. */
  async replace(id: InstanceId, current: string, nowMs: number): Promise<boolean> {
    if ((await this.#statements.finish().run({ instance: id, name: current })).changes !== 1) return false;
    await this.#statements.supersedeOthers().run({ instance: id, name: current, nowMs });
    return true;
  }

  /**
   * Within a transaction: a row is made of the object that a former registry had named. Throws `conflict` for a name
   * that this one has recorded, whatever became of it.
   */
  async adopt({ id, tenant: whose }: InstanceRow, { stored, host: by }: FiledInStore, nowMs: number): Promise<void> {
    const of = objectNameOf(stored.address);
    const kindOf = parseCloudAddress(stored.address)?.kind ?? 'cold';
    const taken = { name: of, instance: id, tenant: whose, kind: kindOf, hash: null, host: by, begunMs: nowMs };
    const added = await this.#statements.insert().run({ ...taken, state: 'current', supersededMs: null });
    if (added.changes !== 1) throw nameGiven(of);
  }

  /** A statement after the one that may delete the sandbox: nothing names its objects any more. */
  supersedeOfDeleted(id: InstanceId): Bound {
    const { text, bind } = this.#superseding;
    return { text, params: bind({ instance: id, nowMs: this.#clock.now() }) };
  }

  store(): StoreNameStore {
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
      async begin(begunName) {
        const row = { ...begunName, hash: begunName.hash ?? null, state: 'uploading', supersededMs: null } as const;
        const added = await database.write(async () => await insert().run(row));
        if (added.changes === 1) return;
        throw nameGiven(begunName.name);
      },
      get: async (of) => (await get().get({ name: of })) ?? null,
      async supersede(names, nowMs) {
        if (names.length === 0) return;
        await database.write(async () => void (await supersede().run({ names: JSON.stringify(names), nowMs })));
      },
      begunUploads: (of) => begun().all({ host: of }),
      clampSuperseded: (nowMs) => database.write(async () => (await clamp().run({ nowMs })).changes),
      superseded: (untilMs, limit) => superseded().all({ untilMs, limit }),
      copyName: async (ofKind, ofHash) => (await copyName().get({ kind: ofKind, hash: ofHash })) ?? null,
      finishCopy: (of) => database.write(async () => (await finishCopy().run({ name: of })).changes === 1),
      supersedeCopy: (ofKind, ofHash, nowMs) =>
        database.write(async () => void (await supersedeCopy().run({ kind: ofKind, hash: ofHash, nowMs }))),
      async copiesToStore(limit, except) {
        const bound = { limit, except: JSON.stringify(except) };
        const found = COPY_KINDS.map(async (of) =>
          (await toStore[of]().all(bound)).map((one) => ({ kind: of, ...one })),
        );
        return (await Promise.all(found)).flat().slice(0, limit);
      },
      remove: (of) => database.write(async () => void (await remove().run({ name: of }))),
      ofInstance: (id) => ofInstance().all({ instance: id }),
      ofTenant: (of, after, limit) => ofTenant().all({ tenant: of, after, limit }),
      page: (after, limit) => page().all({ after, limit }),
    };
  }
}
