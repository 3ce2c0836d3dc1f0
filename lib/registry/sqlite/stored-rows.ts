/** Rows and the store: what is whole there is recorded, and what is to be uploaded is found. Asks no store. */
import { objectNameOf } from '../../base/cloud-address.ts';
import type { InstanceStore } from '../instances.ts';
import { broughtRow, isFiledAs, storedRow } from '../row-changes.ts';
import type { RegistryDatabase } from './database.ts';
import type { InstanceQueries } from './instance-queries.ts';
import { findRow, updateRow } from './instance-rows.ts';
import type { LedgerTable } from './ledger.ts';
import type { StoreNameTable } from './store-names.ts';
import type { SyncMethods } from './to-async.ts';

type StoredMethods = Pick<
  InstanceStore,
  'recordStored' | 'recordBrought' | 'uploadsDue' | 'uploadBacklog' | 'inStore' | 'countInStore' | 'sizeInStore'
>;

export function storedRows(
  database: RegistryDatabase,
  queries: InstanceQueries,
  ledger: LedgerTable,
  names: StoreNameTable,
): SyncMethods<StoredMethods> {
  const { statements } = queries;
  return {
    recordStored({ id, generation, vfsPath, host, stored, nowMs, ledger: entries }) {
      const done = database.write(() => {
        const before = findRow(database, id);
        if (before?.vfsPath === stored.address && before.stored?.address === stored.address) return { row: before };
        if (
          !isFiledAs(before, { generation, vfsPath, host, stored }) ||
          !names.replace(id, objectNameOf(stored.address), nowMs)
        )
          return { row: null };
        const after = storedRow(before, stored);
        updateRow(database, before, after, {});
        return { row: after, lines: ledger.append(entries) };
      });
      if (done.lines !== undefined) ledger.announce(done.lines);
      return done.row;
    },
    recordBrought(id, generation, file) {
      database.write(() => {
        const before = findRow(database, id);
        const after = before && broughtRow(before, generation, file);
        if (before !== null && after !== null) updateRow(database, before, after, {});
      });
    },
    uploadsDue: ({ tenant, id }, limit, host) => statements.uploadsDue(host).all({ tenant, id, limit, host }),
    uploadBacklog(host) {
      const found = statements.uploadBacklog(host).get({ host });
      return { n: found?.n ?? 0, since: found?.since ?? null };
    },
    inStore: (after, limit) => statements.inStore().all({ after, limit }),
    countInStore: () => statements.countInStore().get({})?.n ?? 0,
    sizeInStore: () => statements.sizeInStore().get({}) ?? { sandboxes: 0, bytes: 0 },
  };
}
