/** Rows and the store: what is whole there is recorded, and what is to be uploaded is found. Asks no store. */
import { and, asc, count, gt, isNotNull, min, placeholder } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import { objectNameOf } from '../../base/cloud-address.ts';
import type { InstanceStore } from '../instances.ts';
import { storedRow } from '../row-changes.ts';
import type { RegistryDatabase } from './database.ts';
import { isOwnOrFree } from './instance-queries.ts';
import { findRow, INSTANCE_COLUMNS, updateRow } from './instance-rows.ts';
import type { LedgerTable } from './ledger.ts';
import { IS_IN_STORE, IS_UPLOAD_DUE, pastPosition, selectBy } from './raw.ts';
import type { StoreNameTable } from './store-names.ts';
import type { SyncMethods } from './to-async.ts';

type StoredMethods = Pick<
  InstanceStore,
  'recordStored' | 'recordBrought' | 'uploadsDue' | 'uploadBacklog' | 'inStore' | 'countInStore'
>;

export function storedRows(
  database: RegistryDatabase,
  ledger: LedgerTable,
  names: StoreNameTable,
): SyncMethods<StoredMethods> {
  const { id: rowId, tenant: rowTenant, stateSince } = instances;
  const inStore = database.statement((queries) =>
    selectBy(queries, { n: count() }, instances, 'instances_in_store').where(IS_IN_STORE).prepare(),
  );
  const whose = (host: string | undefined) => (host === undefined ? undefined : isOwnOrFree());
  return {
    recordStored({ id, generation, vfsPath, host, stored, nowMs, ledger: entries }) {
      const done = database.write(() => {
        const before = findRow(database, id);
        if (before?.vfsPath === stored.address && before.stored?.address === stored.address) return { row: before };
        const isSame =
          before !== null &&
          before.generation === generation &&
          before.vfsPath === vfsPath &&
          before.pending === null &&
          before.ownerToken === null &&
          before.file !== null &&
          (before.file.sha256 === null || before.file.sha256 === stored.sha256) &&
          (before.ownerHost === null || before.ownerHost === host) &&
          (before.state === 'frozen' || before.state === 'archived');
        if (!isSame || !names.replace(id, objectNameOf(stored.address), nowMs)) return { row: null };
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
        if (before === null || before.generation !== generation || before.pending !== null) return;
        if (before.file === null || before.state === 'active') return;
        const { sha256, quickCheck, identity } = before.file;
        const known = { sha256, quickCheck, ...(identity === undefined ? {} : { identity }) };
        updateRow(database, before, { ...before, file: { ...file, ...known } }, {});
      });
    },
    uploadsDue({ tenant, id }, limit, host) {
      const statement = database.shape(`uploads: due ${host === undefined}`, (queries) =>
        selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_upload_due')
          .where(and(IS_UPLOAD_DUE, pastPosition([rowTenant, rowId], '>', ['tenant', 'id']), whose(host)))
          .orderBy(asc(rowTenant), asc(rowId))
          .limit(placeholder('limit'))
          .prepare(),
      );
      return statement.all({ tenant, id, limit, host });
    },
    uploadBacklog(host) {
      const statement = database.shape(`uploads: backlog ${host === undefined}`, (queries) =>
        selectBy(queries, { n: count(), since: min(stateSince) }, instances, 'instances_upload_due')
          .where(and(IS_UPLOAD_DUE, isNotNull(rowTenant), whose(host)))
          .prepare(),
      );
      const found = statement.get({ host });
      return { n: found?.n ?? 0, since: found?.since ?? null };
    },
    inStore: (after, limit) =>
      database
        .shape('instances: in the store', (queries) =>
          selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_in_store')
            .where(and(IS_IN_STORE, gt(rowId, placeholder('after'))))
            .orderBy(asc(rowId))
            .limit(placeholder('limit'))
            .prepare(),
        )
        .all({ after, limit }),
    countInStore: () => inStore().get({})?.n ?? 0,
  };
}
