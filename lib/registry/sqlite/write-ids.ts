/** Ids of writes: one that is there was made, whether its answer came or not. */
import type { Clock } from '../../base/clock.ts';
import { writeIdStatements } from '../statements/write-ids.ts';
import { madeBefore, type WriteStore } from '../write-store.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

/** Nobody tries a write again after this time, in milliseconds. */
const KEPT_MS = 86_400_000;
/** Old ids are removed with each so many new ones. */
const REMOVED_EVERY = 200;

/** Notes the id of a write inside its transaction. False: it has happened before, and nothing is to be done. */
export type NoteWrite = (id: string | undefined) => boolean;

interface WriteIds {
  isNew: NoteWrite;
  /** The same for a write that is made already: throws then, so that its transaction is undone. */
  requireNew(id: string): void;
  store: Pick<SyncMethods<WriteStore>, 'happened'>;
}

export function openWriteIds(database: RegistryDatabase, clock: Clock): WriteIds {
  const { note, removeOld, known } = writeIdStatements(database);
  let noted = 0;
  const isNew: NoteWrite = (writeId) => {
    if (writeId === undefined) return true;
    const now = clock.now();
    if (noted % REMOVED_EVERY === 0) removeOld().run({ before: now - KEPT_MS });
    noted += 1;
    return note().run({ id: writeId, atMs: now }).changes === 1;
  };
  return {
    isNew,
    requireNew(writeId) {
      if (!isNew(writeId)) throw madeBefore();
    },
    store: { happened: (writeId) => known().get({ id: writeId }) !== undefined },
  };
}
