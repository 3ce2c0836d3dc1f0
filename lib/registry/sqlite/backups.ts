/** Backups that the server makes, as rows of the registry's file. Knows nothing of their bytes. */
import { BACKUP_STATES, type BackupRecord, type BackupStore, backupContentOf, UNBEGUN_BACKUP } from '../backups.ts';
import { backupStatements, isOpenBackup } from '../statements/backups.ts';
import type { LedgerEntry } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

/** Behind every id. */
const LAST = '~';
const ENDED = ['failed', 'removed'] as const;

export function openBackups(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<BackupStore> {
  const { find, page, opened, put, drop } = backupStatements(database);
  const get = (id: string): BackupRecord | null => find().get({ id }) ?? null;
  const list = (
    limit: number,
    { before = LAST, states = BACKUP_STATES }: Parameters<BackupStore['list']>[1] = {},
  ): BackupRecord[] => page().all({ before, limit, states: JSON.stringify(states) });
  const write = (row: BackupRecord) => put().run({ ...row });

  /** Changes rows and appends the line in one transaction. Null: nothing is changed. */
  const logged = <T>(entry: LedgerEntry, work: () => T | null): T | null => {
    const [result, lines] = database.write(() => {
      const done = work();
      return [done, done === null ? [] : ledger.append([entry])] as const;
    });
    ledger.announce(lines);
    return result;
  };

  return {
    get,
    list,
    open: () => opened().get() ?? null,
    ask: (backup, entry) =>
      logged(entry, () => {
        if (opened().get() !== undefined) return null;
        const row: BackupRecord = { ...UNBEGUN_BACKUP, ...backup };
        write(row);
        return row;
      }),
    begin: (id, begunMs, entry) =>
      logged(entry, () => {
        const row = get(id);
        if (row === null || !isOpenBackup(row)) return null;
        write({ ...row, state: 'running', begunMs, attempts: row.attempts + 1, done: 0, total: 0 });
        return true;
      }) ?? false,
    progress(id, done, total) {
      database.writeWithoutSync(() => {
        const row = get(id);
        if (row?.state === 'running') write({ ...row, done, total });
      });
    },
    made: (backup, entry) =>
      logged(entry, () => {
        const row = get(backup.id);
        if (row !== null && !isOpenBackup(row) && row.state !== 'failed') return null;
        const known = row ?? { ...UNBEGUN_BACKUP, ...backup };
        write({ ...known, ...backupContentOf(backup), state: 'made', error: null });
        return true;
      }) ?? false,
    failed: (id, endedMs, error, entry) =>
      logged(entry, () => {
        const row = get(id);
        if (row === null || !isOpenBackup(row)) return null;
        write({ ...row, state: 'failed', endedMs, error });
        return true;
      }) ?? false,
    tried(id, trial, entry) {
      logged(entry, () => {
        const row = get(id);
        if (row?.state !== 'made') return null;
        write({ ...row, ...trial });
        return true;
      });
    },
    removed(ids, entry) {
      logged(entry, () => {
        const rows = ids.map(get).filter((row) => row !== null && row.state === 'made');
        for (const row of rows) if (row !== null) write({ ...row, state: 'removed' });
        return rows.length > 0 ? true : null;
      });
    },
    forget(keep) {
      const [last] = list(keep + 1, { states: ENDED }).slice(keep);
      if (last === undefined) return;
      database.write(() => {
        for (const { id } of [last, ...list(1000, { before: last.id, states: ENDED })]) drop().run({ id });
      });
    },
  };
}
