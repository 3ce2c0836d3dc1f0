/** Backups that the server makes, as rows of the registry. Knows nothing of their bytes. */
import { BACKUP_STATES, type BackupRecord, type BackupStore, backupContentOf, UNBEGUN_BACKUP } from '../backups.ts';
import { backupStatements, isOpenBackup } from '../statements/backups.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

/** Behind every id. */
const LAST = '~';
const ENDED = ['failed', 'removed'] as const;

export function openBackups(database: PostgresDatabase, ledger: LedgerTable): BackupStore {
  const { find, page, opened, put, drop } = database.with(backupStatements);
  const get = async (id: string): Promise<BackupRecord | null> => (await find().get({ id })) ?? null;
  const list = (
    limit: number,
    { before = LAST, states = BACKUP_STATES }: Parameters<BackupStore['list']>[1] = {},
  ): Promise<BackupRecord[]> => page().all({ before, limit, states: JSON.stringify(states) });
  const write = async (row: BackupRecord) => await put().run({ ...row });

  return {
    get,
    list,
    open: async () => (await opened().get()) ?? null,
    ask: (backup, entry) =>
      ledger.recorded([entry], async () => {
        if ((await opened().get()) !== undefined) return null;
        const row: BackupRecord = { ...UNBEGUN_BACKUP, ...backup };
        await write(row);
        return row;
      }),
    begin: async (id, begunMs, entry) =>
      (await ledger.recorded([entry], async () => {
        const row = await get(id);
        if (row === null || !isOpenBackup(row)) return null;
        await write({ ...row, state: 'running', begunMs, attempts: row.attempts + 1, done: 0, total: 0 });
        return true;
      })) ?? false,
    async progress(id, done, total) {
      await database.write(async () => {
        const row = await get(id);
        if (row?.state === 'running') await write({ ...row, done, total });
      });
    },
    made: async (backup, entry) =>
      (await ledger.recorded([entry], async () => {
        const row = await get(backup.id);
        if (row !== null && !isOpenBackup(row) && row.state !== 'failed') return null;
        const known = row ?? { ...UNBEGUN_BACKUP, ...backup };
        await write({ ...known, ...backupContentOf(backup), state: 'made', error: null });
        return true;
      })) ?? false,
    failed: async (id, endedMs, error, entry) =>
      (await ledger.recorded([entry], async () => {
        const row = await get(id);
        if (row === null || !isOpenBackup(row)) return null;
        await write({ ...row, state: 'failed', endedMs, error });
        return true;
      })) ?? false,
    async tried(id, trial, entry) {
      await ledger.recorded([entry], async () => {
        const row = await get(id);
        if (row?.state !== 'made') return null;
        await write({ ...row, ...trial });
        return true;
      });
    },
    async removed(ids, entry) {
      await ledger.recorded([entry], async () => {
        const found = await Promise.all(ids.map(get));
        const rows = found.filter((row) => row?.state === 'made');
        for (const row of rows) if (row !== null) await write({ ...row, state: 'removed' });
        return rows.length > 0 ? true : null;
      });
    },
    async forget(keep) {
      const [last] = (await list(keep + 1, { states: ENDED })).slice(keep);
      if (last === undefined) return;
      await database.write(async () => {
        for (const { id } of [last, ...(await list(1000, { before: last.id, states: ENDED }))])
          await drop().run({ id });
      });
    },
  };
}
