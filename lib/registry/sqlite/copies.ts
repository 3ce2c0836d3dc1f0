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
import type { InstanceRow, LedgerEntry, LedgerLine } from '../types.ts';
import { type RegistryDatabase, sqliteCode } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { QuotaTable } from './quotas.ts';
import type { SeedingChunks } from './seeding-chunks.ts';
import type { SyncMethods } from './to-async.ts';
import type { InstanceWriter } from './writes.ts';

interface Parts {
  database: RegistryDatabase;
  ledger: LedgerTable;
  writes: InstanceWriter;
  quotas: QuotaTable;
  chunks: SeedingChunks;
}

export function openCopies({ database, ledger, writes, quotas, chunks }: Parts): SyncMethods<CopyStore> {
  /** Runs one transaction; the lines are appended when `work` reports a change. */
  const logged = (entries: LedgerEntry[], work: () => boolean): boolean => {
    let lines: LedgerLine[] = [];
    const done = database.write(() => {
      if (!work()) return false;
      lines = ledger.append(entries);
      return true;
    });
    ledger.announce(lines);
    return done;
  };
  const statements = copyStatements(database);
  const isClaimed = (kind: CopyKind, hash: string) => statements.claimed(kind).get({ hash }) !== undefined;
  const markIfLast = (kind: CopyKind, hash: string) => {
    if (!isClaimed(kind, hash)) statements.mark().run({ path: copyPath(kind, hash) });
  };
  const snapshot = (id: string): SnapshotRow | null => statements.snapshot().get({ id }) ?? null;
  const blueprint = (name: string): BlueprintRow | null => statements.blueprint().get({ name }) ?? null;

  return {
    addSnapshot(row, entry) {
      logged([entry], () => {
        try {
          statements.insertSnapshot().run({ ...row, tag: row.tag?.toWellFormed() ?? null });
        } catch (error) {
          if (sqliteCode(error) !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
          throw momentNameTaken(row, error);
        }
        statements.unmark().run({ path: copyPath('snapshot', row.hash) });
        quotas.needSnapshots(row.tenant);
        return true;
      });
    },
    snapshotTenant: (id) => statements.snapshotTenant().get({ id })?.tenant ?? null,
    snapshot,
    snapshots({ source, tag, tenant, tenants, isTaken }, limit, cursor) {
      const [created, id] = cursor === undefined ? [] : readCursor(cursor, isTimeAndIdPosition);
      const values = { source, tag: tag?.toWellFormed(), tenant, tenants, created, isTaken };
      const by = (Object.keys(values) as (keyof typeof values)[]).filter((name) => values[name] !== undefined);
      const { isTaken: _, ...bound } = values;
      const bind = { ...bound, tenants: JSON.stringify(tenants), id, limit: limit + 1 };
      return pageOfRows(statements.snapshots(by).all(bind), limit, (last) => [last.created, last.id]);
    },
    snapshotsOf: (hash, limit) => statements.snapshotsOf().all({ hash, limit }),
    namedMoments: (source) => statements.namedMoments().all({ source }) as NamedMomentRow[],
    deleteSnapshot: (id, now, entry) =>
      logged([entry], () => {
        const row = snapshot(id);
        if (row === null || row.deleted !== null) return false;
        statements.deleteSnapshot().run({ deleted: now, id });
        markIfLast('snapshot', row.hash);
        return true;
      }),

    addBlueprint(row, entry) {
      logged([entry], () => {
        try {
          statements.insertBlueprint().run({ ...row });
        } catch (error) {
          if (sqliteCode(error) !== 'SQLITE_CONSTRAINT_PRIMARYKEY') throw error;
          throw blueprintTaken(row.name, error);
        }
        statements.unmark().run({ path: copyPath('blueprint', row.hash) });
        return true;
      });
    },
    blueprint,
    blueprintsOf: (hash, limit) => statements.blueprintsOf().all({ hash, limit }),
    blueprints(limit, cursor) {
      const [after] = cursor === undefined ? [''] : readCursor(cursor, isTextPosition);
      const rows = statements.blueprints().all({ after, limit: limit + 1 });
      return pageOfRows(rows, limit, (last) => [last.name]);
    },
    deleteBlueprint: (name, entry) =>
      logged([entry], () => {
        const row = blueprint(name);
        if (row === null) return false;
        statements.deleteBlueprint().run({ name });
        markIfLast('blueprint', row.hash);
        return true;
      }),

    seed(from, instances, now, entries, { start, atOnce = instances.length } = {}) {
      const ids = instances.map(({ id }) => id);
      const [first] = ids;
      if (first === undefined) return [];
      const pending = start === undefined ? null : { ids, from, ...start };
      const store = (rows: InstanceRow[]) => {
        if (rows.length === 0 && pending !== null) storeStart(pending);
        for (const chunk of chunksOf(first, rows, { atOnce, entries, pending })) chunks.store(chunk);
      };
      return writes.createAll(instances, now, entries, atOnce, () => contentOf(from), store);
    },
    unfinishedSeedings: () => chunks.unfinished(),
    nextOfSeeding: (first) => chunks.next(first)?.rows ?? null,
    continueSeeding(first) {
      const chunk = chunks.next(first);
      if (chunk === null) return null;
      return writes.createChunk(chunk, () => {
        if (chunk.start !== null) storeStart(chunk.start);
      });
    },
    pendingStarts: () => statements.startings().all(),
    removePendingStart(first, entry) {
      logged([entry], () => statements.endStart().run({ first }).changes === 1);
    },
    descendants(ancestor, limit, cursor) {
      const [created, number] = cursor === undefined ? [-1, -1] : readCursor(cursor, isTimeAndNumberPosition);
      const { kind, key } = ancestryOf(ancestor);
      const found = statements.descendants(kind).all({ key, created, number, limit: limit + 1 });
      const { rows, next } = pageOfRows(found, limit, (last) => [last.created, last.number]);
      return { rows: rows.map(({ number: _, ...row }) => row), next };
    },
    countDescendants(ancestor) {
      const { kind, key } = ancestryOf(ancestor);
      return statements.countDescendants(kind).get({ key })?.n ?? 0;
    },

    markUnclaimed(path) {
      database.write(() => statements.mark().run({ path }));
    },
    unclaimedFiles: () =>
      statements
        .unclaimed()
        .all()
        .map(({ path }) => path),
    isNeeded(path) {
      const copy = parseCopyPath(path);
      if (copy !== null && isClaimed(copy.kind, copy.hash)) return true;
      return statements.waitedFor().get({ path }) !== undefined || chunks.needs(path);
    },
    updateFileRecord(kind, hash, file) {
      database.write(() => {
        statements.restamp(kind).run({ file, hash });
        statements.restampWaiting().run({ file, path: copyPath(kind, hash) });
      });
    },
    clearUnclaimed(path) {
      database.write(() => statements.unmark().run({ path }));
    },
  };

  function storeStart({ ids, from, tenant, cause }: PendingStart): void {
    statements.insertStart().run({ first: ids[0] ?? '', ids, origin: from, tenant, cause });
  }

  /** The copy's facts for a seeded instance. Runs inside the transaction that inserts it. */
  function contentOf(from: Ancestor): Pick<InstanceRow, 'vfsPath' | 'bytes' | 'file'> {
    const { kind, key } = ancestryOf(from);
    const row = kind === 'snapshot' ? snapshot(key) : blueprint(key);
    return contentOfCopy({ kind, key }, row);
  }
}
