/** Rows and the store: what is whole there is recorded, and what is to be uploaded is found. Asks no store. */
import { objectNameOf } from '../../base/cloud-address.ts';
import type { InstanceStore } from '../instances.ts';
import { broughtRow, isFiledAs, storedRow } from '../row-changes.ts';
import type { PostgresDatabase } from './database.ts';
import type { InstanceQueries } from './instance-queries.ts';
import { lockRow, updateRow } from './instance-rows.ts';
import type { LedgerTable } from './ledger.ts';
import type { StoreNameTable } from './store-names.ts';

type StoredMethods = Pick<
  InstanceStore,
  'recordStored' | 'recordBrought' | 'uploadsDue' | 'uploadBacklog' | 'inStore' | 'countInStore' | 'sizeInStore'
>;

export function storedRows(
  database: PostgresDatabase,
  queries: InstanceQueries,
  ledger: LedgerTable,
  names: StoreNameTable,
): StoredMethods {
  const { statements } = queries;
  return {
    async recordStored({ id, generation, vfsPath, host, stored, nowMs, ledger: entries }) {
      const done = await database.write(async () => {
        const before = await lockRow(database, id);
        if (before?.vfsPath === stored.address && before.stored?.address === stored.address) return { row: before };
        if (!isFiledAs(before, { generation, vfsPath, host, stored })) return { row: null };
        if (!(await names.replace(id, objectNameOf(stored.address), nowMs))) return { row: null };
        const after = storedRow(before, stored);
        await updateRow(database, before, after, {});
        return { row: after, lines: await ledger.append(entries) };
      });
      if (done.lines !== undefined) await ledger.announce(done.lines);
      return done.row;
    },
    async recordBrought(id, generation, file) {
      await database.write(async () => {
        const before = await lockRow(database, id);
        const after = before && broughtRow(before, generation, file);
        if (before !== null && after !== null) await updateRow(database, before, after, {});
      });
    },
    uploadsDue: async ({ tenant, id }, limit, host) =>
      await statements.uploadsDue(host).all({ tenant, id, limit, host }),
    async uploadBacklog(host) {
      const found = await statements.uploadBacklog(host).get({ host });
      return { n: found?.n ?? 0, since: found?.since ?? null };
    },
    inStore: async (after, limit) => await statements.inStore().all({ after, limit }),
    countInStore: async () => (await statements.countInStore().get({}))?.n ?? 0,
    sizeInStore: async () => (await statements.sizeInStore().get({})) ?? { sandboxes: 0, bytes: 0 },
  };
}
