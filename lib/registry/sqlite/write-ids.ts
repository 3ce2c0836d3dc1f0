/** Ids of writes that add: one that is there was made, whether its answer came or not. */
import { lt, placeholder } from '../../../db/drizzle.ts';
import { writes } from '../../../db/schema.ts';
import type { Clock } from '../../base/clock.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';

/** Nobody tries a write again after this time, in milliseconds. */
const KEPT_MS = 86_400_000;
/** Old ids are removed with each so many new ones. */
const REMOVED_EVERY = 200;

/** Notes the id of a write inside its transaction. False: it has happened before, and nothing is to be done. */
export type NoteWrite = (id: string | undefined) => boolean;

export function openWriteIds(database: RegistryDatabase, clock: Clock): NoteWrite {
  const { id, atMs } = writes;
  const note = database.statement((queries) =>
    queries.insert(writes).values(boundColumns({ id, atMs })).onConflictDoNothing().prepare(),
  );
  const removeOld = database.statement((queries) =>
    queries
      .delete(writes)
      .where(lt(atMs, placeholder('before')))
      .prepare(),
  );
  let noted = 0;
  return (writeId) => {
    if (writeId === undefined) return true;
    const now = clock.now();
    if (noted % REMOVED_EVERY === 0) removeOld().run({ before: now - KEPT_MS });
    noted += 1;
    return note().run({ id: writeId, atMs: now }).changes === 1;
  };
}
