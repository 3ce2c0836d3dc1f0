/** Statements over backups that the server makes. */
import { and, desc, eq, getTableColumns, inArray, lt, placeholder } from '../../../db/drizzle.ts';
import { backups } from '../../../db/schema.ts';
import type { BackupRecord } from '../backups.ts';
import { boundColumns } from './bound-values.ts';
import { inBoundList } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const COLUMNS = getTableColumns(backups);
const OPEN = ['asked', 'running'] as const;
/** Whether a backup is asked for or under way. */
export const isOpenBackup = (row: BackupRecord | null) =>
  row !== null && (OPEN as readonly string[]).includes(row.state);

export function backupStatements(database: StatementMaker) {
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

  return {
    find,
    page,
    opened,
    put,
    drop,
  };
}
