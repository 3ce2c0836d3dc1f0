/** Backups that the server makes, as rows of the registry's file. Knows nothing of their bytes. */
import { and, desc, eq, getTableColumns, inArray, lt, placeholder } from '../../../db/drizzle.ts';
import { backups } from '../../../db/schema.ts';
import { BACKUP_STATES, type BackupRecord, type BackupStore, type NewBackup } from '../backups.ts';
import type { LedgerEntry } from '../types.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { inBoundList } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

const COLUMNS = getTableColumns(backups);
/** Behind every id. */
const LAST = '~';
const OPEN = ['asked', 'running'] as const;
const ENDED = ['failed', 'removed'] as const;

const UNBEGUN = {
  state: 'asked',
  begunMs: null,
  endedMs: null,
  attempts: 0,
  done: 0,
  total: 0,
  sandboxes: null,
  bytes: null,
  addedObjects: null,
  addedBytes: null,
  wrong: null,
  keys: false,
  error: null,
  verifiedMs: null,
  verifiedTookMs: null,
  verifiedError: null,
} as const satisfies Omit<BackupRecord, keyof NewBackup>;

export function openBackups(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<BackupStore> {
  const find = database.statement((queries) =>
    queries
      .select()
      .from(backups)
      .where(eq(backups.id, placeholder('id')))
      .prepare(),
  );
  const page = database.statement((queries) =>
    queries
      .select()
      .from(backups)
      .where(and(lt(backups.id, placeholder('before')), inBoundList(backups.state, 'states')))
      .orderBy(desc(backups.id))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const opened = database.statement((queries) =>
    queries
      .select()
      .from(backups)
      .where(inArray(backups.state, [...OPEN]))
      .orderBy(backups.id)
      .limit(1)
      .prepare(),
  );
  const put = database.statement((queries) =>
    queries
      .insert(backups)
      .values(boundColumns(COLUMNS))
      .onConflictDoUpdate({ target: backups.id, set: boundColumns(COLUMNS) })
      .prepare(),
  );
  const drop = database.statement((queries) =>
    queries
      .delete(backups)
      .where(eq(backups.id, placeholder('id')))
      .prepare(),
  );

  const get = (id: string): BackupRecord | null => find().get({ id }) ?? null;
  const list = (
    limit: number,
    { before = LAST, states = BACKUP_STATES }: Parameters<BackupStore['list']>[1] = {},
  ): BackupRecord[] => page().all({ before, limit, states: JSON.stringify(states) });
  const isOpen = (row: BackupRecord | null) => row !== null && (OPEN as readonly string[]).includes(row.state);
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
        const row: BackupRecord = { ...UNBEGUN, ...backup };
        write(row);
        return row;
      }),
    begin: (id, begunMs, entry) =>
      logged(entry, () => {
        const row = get(id);
        if (row === null || !isOpen(row)) return null;
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
        if (row !== null && !isOpen(row) && row.state !== 'failed') return null;
        const known = row ?? { ...UNBEGUN, ...backup };
        write({ ...known, ...contentOf(backup), state: 'made', error: null });
        return true;
      }) ?? false,
    failed: (id, endedMs, error, entry) =>
      logged(entry, () => {
        const row = get(id);
        if (row === null || !isOpen(row)) return null;
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

/** What the making of one says, without what was said when it was asked for. */
function contentOf(made: Parameters<BackupStore['made']>[0]) {
  const { begunMs, endedMs, sandboxes, bytes, addedObjects, addedBytes, wrong, keys } = made;
  return { begunMs, endedMs, sandboxes, bytes, addedObjects, addedBytes, wrong, keys };
}
