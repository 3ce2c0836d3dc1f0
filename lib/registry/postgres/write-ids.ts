/** Ids of writes: one that is there was made, whether its answer came or not. */
import type { Clock } from '../../base/clock.ts';
import { writeIdStatements } from '../statements/write-ids.ts';
import { madeBefore, type WriteStore } from '../write-store.ts';
import type { PostgresDatabase } from './database.ts';
import { findRow } from './instance-rows.ts';

/** Nobody tries a write again after this time, in milliseconds. */
const KEPT_MS = 86_400_000;
/** Old ids are removed with each so many new ones. */
const REMOVED_EVERY = 200;

/** Notes the id of a write inside its transaction. False: it has happened before, and nothing is to be done. */
export type NoteWrite = (id: string | undefined) => Promise<boolean>;

interface WriteIds {
  isNew: NoteWrite;
  /** The same for a write that is made already: throws then, so that its transaction is undone. */
  requireNew(id: string): Promise<void>;
  /** To be called for each id that a statement notes by itself: removes old ones now and then. Returns the time. */
  tidy(): Promise<number>;
  store: WriteStore;
}

export function openWriteIds(database: PostgresDatabase, clock: Clock): WriteIds {
  const { note, removeOld, known } = database.with(writeIdStatements);
  let noted = 0;
  const tidy = async () => {
    const now = clock.now();
    if (noted % REMOVED_EVERY === 0) await removeOld().run({ before: now - KEPT_MS });
    noted += 1;
    return now;
  };
  const isNew: NoteWrite = async (writeId) => {
    if (writeId === undefined) return true;
    return (await note().run({ id: writeId, atMs: await tidy() })).changes === 1;
  };
  return {
    isNew,
    tidy,
    async requireNew(writeId) {
      if (!(await isNew(writeId))) throw madeBefore();
    },
    store: {
      happened: (writeId) => database.onPrimary(async () => (await known().get({ id: writeId })) !== undefined),
      rowMadeBy: (id, writeId) =>
        database.onPrimary(async () => {
          const row = await findRow(database, id);
          return row?.writeId === writeId ? row : null;
        }),
    },
  };
}
