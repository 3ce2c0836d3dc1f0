/** The store of copies on the registry's SQLite file. Knows nothing of files but their names. */

import { type CopyKind, copyPath, parseCopyPath } from '../../base/copy-paths.ts';
import {
  type Ancestor,
  ancestryOf,
  type BlueprintRow,
  type CopyStore,
  chunksOf,
  contentOfCopy,
  momentNameTaken,
  type NamedMomentRow,
  type PendingStart,
  type SnapshotRow,
} from '../copies.ts';
import { isTextPosition, isTimeAndIdPosition, isTimeAndNumberPosition, pageOfRows, readCursor } from '../cursor.ts';
import { blueprintTaken } from '../registry-errors.ts';
import { copyStatements } from '../statements/copies.ts';
import type { InstanceRow } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import { codeOf, UNIQUE_VIOLATION } from './errors.ts';
import type { LedgerTable } from './ledger.ts';
import type { QuotaTable } from './quotas.ts';
import type { SeedingChunks } from './seeding-chunks.ts';
import type { InstanceWriter } from './writes.ts';

interface Parts {
  database: PostgresDatabase;
  ledger: LedgerTable;
  writes: InstanceWriter;
  quotas: QuotaTable;
  chunks: SeedingChunks;
}

export function openCopies({ database, ledger, writes, quotas, chunks }: Parts): CopyStore {
  const statements = database.with(copyStatements);
  const isClaimed = async (kind: CopyKind, hash: string) =>
    (await statements.claimed(kind).get({ hash })) !== undefined;
  const markIfLast = async (kind: CopyKind, hash: string) => {
    if (!(await isClaimed(kind, hash))) await statements.mark().run({ path: copyPath(kind, hash) });
  };
  const snapshot = async (id: string): Promise<SnapshotRow | null> => (await statements.snapshot().get({ id })) ?? null;
  const blueprint = async (name: string): Promise<BlueprintRow | null> =>
    (await statements.blueprint().get({ name })) ?? null;

  return {
    async addSnapshot(row, entry) {
      await ledger.recorded([entry], async () => {
        try {
          await statements.insertSnapshot().run({ ...row, tag: row.tag?.toWellFormed() ?? null });
        } catch (error) {
          if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
          throw momentNameTaken(row, error);
        }
        await statements.unmark().run({ path: copyPath('snapshot', row.hash) });
        await quotas.needSnapshots(row.tenant);
        return true;
      });
    },
    snapshotTenant: async (id) => (await statements.snapshotTenant().get({ id }))?.tenant ?? null,
    snapshot,
    async snapshots({ source, tag, tenant, tenants, isTaken }, limit, cursor) {
      const [created, id] = cursor === undefined ? [] : readCursor(cursor, isTimeAndIdPosition);
      const values = { source, tag: tag?.toWellFormed(), tenant, tenants, created, isTaken };
      const by = (Object.keys(values) as (keyof typeof values)[]).filter((name) => values[name] !== undefined);
      const { isTaken: _, ...bound } = values;
      const bind = { ...bound, tenants: JSON.stringify(tenants), id, limit: limit + 1 };
      return pageOfRows(await statements.snapshots(by).all(bind), limit, (last) => [last.created, last.id]);
    },
    snapshotsOf: async (hash, limit) => await statements.snapshotsOf().all({ hash, limit }),
    namedMoments: async (source) => (await statements.namedMoments().all({ source })) as NamedMomentRow[],
    deleteSnapshot: (id, now, entry) =>
      ledger.recorded([entry], async () => {
        const row = await snapshot(id);
        if (row === null || row.deleted !== null) return false;
        await statements.deleteSnapshot().run({ deleted: now, id });
        await markIfLast('snapshot', row.hash);
        return true;
      }),

    async addBlueprint(row, entry) {
      await ledger.recorded([entry], async () => {
        try {
          await statements.insertBlueprint().run({ ...row });
        } catch (error) {
          if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
          throw blueprintTaken(row.name, error);
        }
        await statements.unmark().run({ path: copyPath('blueprint', row.hash) });
        return true;
      });
    },
    blueprint,
    blueprintsOf: async (hash, limit) => await statements.blueprintsOf().all({ hash, limit }),
    async blueprints(limit, cursor) {
      const [after] = cursor === undefined ? [''] : readCursor(cursor, isTextPosition);
      const rows = await statements.blueprints().all({ after, limit: limit + 1 });
      return pageOfRows(rows, limit, (last) => [last.name]);
    },
    deleteBlueprint: (name, entry) =>
      ledger.recorded([entry], async () => {
        const row = await blueprint(name);
        if (row === null) return false;
        await statements.deleteBlueprint().run({ name });
        await markIfLast('blueprint', row.hash);
        return true;
      }),

    async seed(from, instances, now, entries, { start, atOnce = instances.length } = {}) {
      const ids = instances.map(({ id }) => id);
      const [first] = ids;
      if (first === undefined) return [];
      const pending = start === undefined ? null : { ids, from, ...start };
      const store = async (rows: InstanceRow[]) => {
        if (rows.length === 0 && pending !== null) await storeStart(pending);
        for (const chunk of chunksOf(first, rows, { atOnce, entries, pending })) await chunks.store(chunk);
      };
      return writes.createAll(instances, now, entries, atOnce, () => contentOf(from), store);
    },
    unfinishedSeedings: async () => await chunks.unfinished(),
    nextOfSeeding: async (first) => (await chunks.next(first))?.rows ?? null,
    async continueSeeding(first) {
      const chunk = await chunks.next(first);
      if (chunk === null) return null;
      return writes.createChunk(chunk, async () => {
        if (chunk.start !== null) await storeStart(chunk.start);
      });
    },
    pendingStarts: async () => await statements.startings().all(),
    async removePendingStart(first, entry) {
      await ledger.recorded([entry], async () => (await statements.endStart().run({ first })).changes === 1);
    },
    async descendants(ancestor, limit, cursor) {
      const [created, number] = cursor === undefined ? [-1, -1] : readCursor(cursor, isTimeAndNumberPosition);
      const { kind, key } = ancestryOf(ancestor);
      const found = await statements.descendants(kind).all({ key, created, number, limit: limit + 1 });
      const { rows, next } = pageOfRows(found, limit, (last) => [last.created, last.number]);
      return { rows: rows.map(({ number: _, ...row }) => row), next };
    },
    async countDescendants(ancestor) {
      const { kind, key } = ancestryOf(ancestor);
      return (await statements.countDescendants(kind).get({ key }))?.n ?? 0;
    },

    async markUnclaimed(path) {
      await statements.mark().run({ path });
    },
    unclaimedFiles: async () => (await statements.unclaimed().all()).map(({ path }) => path),
    async isNeeded(path) {
      const copy = parseCopyPath(path);
      if (copy !== null && (await isClaimed(copy.kind, copy.hash))) return true;
      return (await statements.waitedFor().get({ path })) !== undefined || (await chunks.needs(path));
    },
    async updateFileRecord(kind, hash, file) {
      await database.write(async () => {
        await statements.restamp(kind).run({ file, hash });
        await statements.restampWaiting().run({ file, path: copyPath(kind, hash) });
      });
    },
    async clearUnclaimed(path) {
      await statements.unmark().run({ path });
    },
  };

  async function storeStart({ ids, from, tenant, cause }: PendingStart): Promise<void> {
    await statements.insertStart().run({ first: ids[0] ?? '', ids, origin: from, tenant, cause });
  }

  /** The copy's facts for a seeded instance. Runs inside the transaction that inserts it. */
  async function contentOf(from: Ancestor): Promise<Pick<InstanceRow, 'vfsPath' | 'bytes' | 'file'>> {
    const { kind, key } = ancestryOf(from);
    const row = kind === 'snapshot' ? await snapshot(key) : await blueprint(key);
    return contentOfCopy({ kind, key }, row);
  }
}
