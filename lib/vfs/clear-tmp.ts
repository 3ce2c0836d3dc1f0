/** What a cold resume clears: the volumes that do not survive one. The first to open a live file clears them. */
import type { DatabaseSync } from 'node:sqlite';
import { VOLUME_CONTRACTS, VOLUMES } from './volumes.ts';

/** The volumes that do not survive a resume, as a list of SQL strings. */
const CLEARED_VOLUMES = VOLUMES.filter((volume) => !VOLUME_CONTRACTS[volume].survivesResume)
  .map((volume) => `'${volume}'`)
  .join(', ');

/** Whether there is anything in them. */
export function hasTmp(db: DatabaseSync): boolean {
  const some = db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM vfs WHERE volume IN (${CLEARED_VOLUMES})) OR EXISTS (SELECT 1 FROM vfs_node WHERE volume IN (${CLEARED_VOLUMES})) AS some`,
    )
    .get()?.some;
  return some !== 0;
}

/** Empties them, in one transaction with one statement for each table. */
export function clearTmp(db: DatabaseSync): void {
  db.exec(
    `BEGIN IMMEDIATE; DELETE FROM vfs WHERE volume IN (${CLEARED_VOLUMES}); DELETE FROM vfs_node WHERE volume IN (${CLEARED_VOLUMES}); COMMIT`,
  );
}
