/**
 * Opens a sandbox's files: live, at rest or beside a live process, and brings them back to rest. What happens to the
 * SQLite file itself is in handles.ts.
 */
import type { Clock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { PresentedRows } from '../native/file/presented-rows.ts';
import {
  openCheckpointer,
  openFileBeside,
  openLiveFile,
  openRestingFile,
  recoverFile,
  restLiveFile,
} from './handles.ts';
import { ensureIdentity, identityOf } from './identity.ts';
import type { VfsPath } from './paths.ts';
import { inspectSchema } from './schema.ts';
import { ShippedLog } from './shipped-log.ts';
import { translateSqliteError } from './sqlite-errors.ts';
import { Vfs } from './vfs.ts';
import type { Volume } from './volumes.ts';

/**
 * Opens the file (or `:memory:`) for a writing process: WAL (from the first write on, with `walLater`),
 * `synchronous=FULL`, at most `maxBytes`, tmp cleared unless it `joins` another. `shipsLog`: the server ships what is
 * committed, and its log is left to it. See `openLiveFile`, `ShippedLog`.
 */
export function openLive(
  file: string,
  options: {
    maxBytes: number;
    maxFileBytes: number;
    mustExist: boolean;
    walLater?: boolean;
    joins?: boolean;
    shipsLog?: boolean;
    clock?: Clock;
    beginAttempts?: number;
  },
): Vfs {
  try {
    const { db, schema, enterWal } = openLiveFile(file, options);
    const isShipped = options.shipsLog === true && db.location() !== null;
    const shippedLog = isShipped ? new ShippedLog(db, file, () => openCheckpointer(file)) : null;
    return new Vfs(db, { ...options, shippedLog }, schema, enterWal);
  } catch (error) {
    throw translateSqliteError(error);
  }
}

/**
 * Checkpoints, leaves WAL mode and closes; afterwards there is one clean file. Throws `conflict` while another reader
 * or writer has the file open: the handle then stays open and usable. Throws `internal` while a call has uncommitted
 * changes. A shipped log gives up its name with every frame in it: another name of it keeps them. Returns the identity
 * of the file.
 */
export function closeToRest(vfs: Vfs): string | null {
  if (vfs.hasUncommitted)
    throw new WinterdockError('internal', 'A file cannot be put to rest while a call writes to it.');
  const identity = giveIdentity(vfs);
  vfs.shippedLog?.close();
  restLiveFile(vfs.db, { keepsFrames: vfs.shippedLog !== null });
  return identity;
}

/**
 * The same of a file whose log is shipped and has no other name: with frames in it, it is left beside the file, as by a
 * killed process.
 */
export function closeOrLeave(vfs: Vfs): string | null {
  const identity = giveIdentity(vfs);
  if (vfs.shippedLog?.hasFrames !== true) return closeToRest(vfs);
  vfs.close();
  return identity;
}

/**
 * Gives a live file an identity when it has none, as a copy or a file of an older version does. Returns the identity.
 */
export function giveIdentity(vfs: Vfs): string | null {
  const known = identityOf(vfs.db, true);
  if (known !== null || vfs.db.location() === null) return known;
  vfs.prepareToWrite();
  return ensureIdentity(vfs.db);
}

/**
 * Recovers the file of a killed process, with the log beside it. A clean file is left unchanged. `keepsFrames`: another
 * name of the log keeps every frame. Returns its identity, null when it has none or cannot be read. See `recoverFile`.
 */
export function recoverToRest(file: string, options: { keepsFrames?: boolean } = {}): string | null {
  recoverFile(file, options);
  try {
    const { db, schema } = openRestingFile(file);
    try {
      return identityOf(db, schema.nodes);
    } finally {
      db.close();
    }
  } catch {
    // The file is recovered. Whether its contents are sound is checked elsewhere.
    return null;
  }
}

/** The identity of a file that is open for reading. */
export function identityAtRest(vfs: Vfs): string | null {
  return identityOf(vfs.db, inspectSchema(vfs.db, { knowsNative: true }).nodes);
}

/** One path, where a file that real programs changed need not be listed as a whole. See `PresentedRows`. */
export type ReadScope = { volume: Volume; path: VfsPath } | null;

/** Opens a file at rest for reading; creates no file beside it. Close it with `close`. See `openRestingFile`. */
export function openAtRest(
  file: string,
  { scope = null, ...options }: { mapped?: boolean; scope?: ReadScope } = {},
): Vfs {
  return reading(openRestingFile(file, options), scope);
}

/** Opens the committed state beside a live process. Close it with `close` before the process puts its file to rest. */
export function openBeside(file: string, { scope = null }: { scope?: ReadScope } = {}): Vfs {
  return reading(openFileBeside(file), scope);
}

function reading({ db, schema }: ReturnType<typeof openFileBeside>, scope: ReadScope): Vfs {
  try {
    const presented = schema.isNativeOnly ? new PresentedRows(db, scope) : null;
    return new Vfs(db, { maxFileBytes: 0, presented }, schema);
  } catch (error) {
    db.close();
    throw translateSqliteError(error);
  }
}
