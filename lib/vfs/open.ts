/**
 * The ways to a sandbox's files: live, at rest, beside a live process, and back to rest. What each does to the SQLite
 * file is in handles.ts.
 */
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { openFileBeside, openLiveFile, openRestingFile, recoverFile, restLiveFile } from './handles.ts';
import { ensureIdentity, identityOf } from './identity.ts';
import { inspectSchema } from './schema.ts';
import { Vfs } from './vfs.ts';

/**
 * Opens the file (or `:memory:`) for its one writing process: WAL (from the first write on, with `walLater`),
 * `synchronous=FULL`, at most `maxBytes`, tmp cleared. See `openLiveFile`.
 */
export function openLive(
  file: string,
  options: { maxBytes: number; maxFileBytes: number; mustExist: boolean; walLater?: boolean; clock?: Clock },
): Vfs {
  const { db, schema, enterWal } = openLiveFile(file, options);
  return new Vfs(db, options, schema, enterWal);
}

/**
 * Checkpoints, leaves WAL mode and closes; afterwards there is one clean file. Throws `conflict` while another reader
 * or writer holds the file: the handle stays open and usable. Throws `internal` while a call has gathered what is not
 * committed. Returns the identity of the file.
 */
export function closeToRest(vfs: Vfs): string | null {
  if (vfs.hasUncommitted)
    throw new WinterdockError('internal', 'A file cannot be put to rest while a call writes to it.');
  const identity = giveIdentity(vfs);
  restLiveFile(vfs.db);
  return identity;
}

/**
 * Makes sure that a live file can be told from every other: a copy, and a file of an earlier time, has no identity of
 * its own yet. Returns it.
 */
export function giveIdentity(vfs: Vfs): string | null {
  const known = identityOf(vfs.db, true);
  if (known !== null || vfs.db.location() === null) return known;
  vfs.prepareToWrite();
  return ensureIdentity(vfs.db);
}

/**
 * Makes one clean file of what a killed process left (a log beside the file); a clean one is left as it is. Returns its
 * identity, null when it has none or cannot be read. See `recoverFile`.
 */
export function recoverToRest(file: string): string | null {
  recoverFile(file);
  try {
    const vfs = openAtRest(file);
    try {
      return identityAtRest(vfs);
    } finally {
      vfs.close();
    }
  } catch {
    // It is recovered; whether it is sound is asked elsewhere.
    return null;
  }
}

/** The identity of a file that is open to be read. */
export function identityAtRest(vfs: Vfs): string | null {
  return identityOf(vfs.db, inspectSchema(vfs.db).nodes);
}

/** Reads a file at rest and leaves nothing beside it. Close it with `close`. See `openRestingFile`. */
export function openAtRest(file: string): Vfs {
  const { db, schema } = openRestingFile(file);
  return new Vfs(db, { maxFileBytes: 0 }, schema);
}

/** Reads the committed state beside a live process. Close it with `close` before the process puts its file to rest. */
export function openBeside(file: string): Vfs {
  const { db, schema } = openFileBeside(file);
  return new Vfs(db, { maxFileBytes: 0 }, schema);
}
