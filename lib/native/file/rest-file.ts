/** Puts files to rest that no process has open: after a kill, and to mark them. Runs in a reader process. */
import { openLiveFile, openRestingFile, restLiveFile } from '../../vfs/handles.ts';
import { ensureIdentity } from '../../vfs/identity.ts';
import { closeToRest, openLive, recoverToRest } from '../../vfs/open.ts';
import { translateSqliteError } from '../../vfs/sqlite-errors.ts';
import { openNativeFile } from './native-file.ts';

/** A rest gives back more than it takes, and a file that a process had must come to rest. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Recovers the file of a killed process, and folds what real programs had not put to rest. `keepsFrames`: another name
 * of the log keeps every frame, and nothing is folded; who reads or opens the file knows its tables. Returns the
 * identity. Throws what `recoverToRest` and `NativeFile.close` throw.
 */
export function restKilledFile(file: string, options: { keepsFrames?: boolean } = {}): string | null {
  const identity = recoverToRest(file, options);
  if (options.keepsFrames === true || !isAwake(file)) return identity;
  openNativeFile(file, { maxBytes: NO_LIMIT, keepsTmp: true }).close();
  return recoverToRest(file);
}

/** Writes an identity into a file that has none, and returns it. Throws what opening it for a process throws. */
export function markFile(file: string, limits: Parameters<typeof openLive>[1]): string | null {
  if (!limits.mustExist || !isNativeOnly(file)) return closeToRest(openLive(file, limits));
  const { db } = openLiveFile(file, { ...limits, joins: true, knowsNative: true });
  try {
    const identity = ensureIdentity(db);
    restLiveFile(db);
    return identity;
  } catch (error) {
    throw translateSqliteError(error);
  } finally {
    if (db.isOpen) db.close();
  }
}

function isNativeOnly(file: string): boolean {
  const { db, schema } = openRestingFile(file);
  db.close();
  return schema.isNativeOnly;
}

/** Whether a file at rest has changes of real programs that its two tables do not have. */
function isAwake(file: string): boolean {
  try {
    const { db, schema } = openRestingFile(file);
    try {
      return schema.isNativeOnly && db.prepare('SELECT 1 FROM native_state WHERE awake <> 0').get() !== undefined;
    } finally {
      db.close();
    }
  } catch {
    // Whether its contents are sound is checked elsewhere.
    return false;
  }
}
