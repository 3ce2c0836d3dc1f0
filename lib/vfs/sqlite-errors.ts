/** Maps errors of node:sqlite to the contract's codes. A path of the machine never gets into a message. */
import { isWinterdockError, STORAGE_HINT, WinterdockError } from '../base/errors.ts';
import { waysOut } from '../lifecycle/ways-out.ts';

export const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
export const FULL = 13;
const CANTOPEN = 14;
const TOOBIG = 18;
const NOTADB = 26;

/** SQLite's primary result code of an error of node:sqlite; null for any other error. */
export function resultCodeOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

/**
 * The contract's error for anything thrown while a VFS file was used. The contract's own errors, and errors that are
 * not SQLite's, are returned unchanged.
 */
export function translateSqliteError(error: unknown): unknown {
  if (isWinterdockError(error)) return error;
  // Node's permissions ask the disk where a path leads, and refuse one of which it does not say so.
  if (error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED') return unreadableBytes(error);
  // node:sqlite refuses integers past 2^53 in this way. A valid file has none in these columns.
  if (error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE')
    return corruptFile('it holds numbers that cannot be', error);
  switch (resultCodeOf(error)) {
    case null:
      return error;
    case BUSY:
    case LOCKED:
      return new WinterdockError('conflict', 'The file of the sandbox is held by another reader or writer.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    case CORRUPT:
    case NOTADB:
      return corruptFile(error instanceof Error ? error.message : 'SQLite cannot read it', error);
    case TOOBIG:
      return new WinterdockError('too_large', 'A value is larger than SQLite can hold.', { cause: error });
    case FULL:
    case READONLY:
    case IOERR:
    case CANTOPEN:
      return unreadableBytes(error);
    case NOMEM:
      return new WinterdockError('capacity', 'The machine has no memory for the bytes of the sandbox.', {
        hint: 'Nothing was changed. Try again; when it stays so, give it more memory.',
        retryAfterSeconds: 5,
        cause: error,
      });
    default:
      return new WinterdockError('internal', 'SQLite refused an operation on the file of the sandbox.', {
        cause: error,
      });
  }
}

/** `storage_unavailable`: what the disk has of the file is not known. */
export function unreadableBytes(cause?: unknown): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The disk could not read or write the bytes of the sandbox.', {
    hint: STORAGE_HINT,
    retryAfterSeconds: 5,
    cause,
  });
}

/** Whether a check of the structure tells of pages that the disk did not give, which says nothing of the file. */
export function isOfDisk(says: string): boolean {
  const codes = [...says.matchAll(/\berror code=(\d+)/g)].map(([, code]) => Number(code) & 0xff);
  return codes.some((code) => code === IOERR || code === NOMEM || code === CANTOPEN);
}

/** `corrupt`: the file is no VFS file. `why` completes "The file of the sandbox is damaged: …". */
export function corruptFile(why: string, cause?: unknown): WinterdockError {
  return new WinterdockError('corrupt', `The file of the sandbox is damaged: ${why}.`, {
    hint: waysOut('corrupt'),
    cause,
  });
}
