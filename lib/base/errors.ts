/**
 * The one error class. Errors cross module copies (bundled console, unbundled engine), so they are recognised by
 * `code`, not by `instanceof`.
 */

import { ERROR_STATUS, type ErrorCode } from './error-status.ts';

export type { ErrorCode } from './error-status.ts';

export interface ErrorOptions {
  /** What the caller can do about it, one sentence. */
  hint?: string;
  /** Extra members of the problem document (`from`, `to`, `quota`, …); JSON values only. */
  extra?: Record<string, unknown>;
  /** Which field of the new row is refused, for code that decides by it. Not shown. */
  field?: 'id' | 'name';
  /** Seconds after which trying again makes sense (`Retry-After`). */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** Characters of one text of an error. The longest of our own names a path, a file of it and what to do. */
const MOST_TEXT = 4096;

/**
 * A text within `most` characters, well formed: what goes into the ledger and into answers may come from a guest, and
 * what is in the ledger stays.
 */
export function boundedText(text: string, most = MOST_TEXT): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Every expected failure: a stable code, a message that names the object, and a hint what to do. */
export class WinterdockError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly extra: Record<string, unknown>;
  readonly field: ErrorOptions['field'];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(boundedText(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'WinterdockError';
    this.code = code;
    this.hint = options.hint === undefined ? undefined : boundedText(options.hint);
    this.extra = options.extra ?? {};
    this.field = options.field;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** True for a WinterdockError of this or of another copy of this module. */
export function isWinterdockError(error: unknown): error is WinterdockError {
  return (
    error instanceof Error &&
    error.name === 'WinterdockError' &&
    'code' in error &&
    Object.hasOwn(ERROR_STATUS, String(error.code))
  );
}

/** What to do when the disk fails. */
export const STORAGE_HINT =
  'What was answered before is kept. /readyz names what cannot be written: make room there or mend the disk, then try again.';

/** System error codes of a disk that is full, read-only, broken, gone or on another filesystem than expected. */
const DISK_CODES = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'EXDEV', 'ESTALE', 'ENODEV', 'ENXIO', 'ENOTCONN'],
  // Node has no names for EDQUOT and ESTALE: these are their numbers on Linux and on macOS.
  ...['122', '116', '69', '70'].map((number) => `Unknown system error -${number}`),
]);
/** System error codes of a machine that has no more open files, processes or memory to give. */
const LIMIT_CODES = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);
/** System calls of processes and networks, which fail with the codes of disks for other reasons. */
const NOT_DISK_CALLS = /^(?:spawn|kill|connect|listen|bind|accept|send|recv|getaddrinfo|uv_os_setpriority)/;
/** Names of SQLite's results that speak of the disk, or of another process that holds the file for too long. */
const DISK_RESULTS = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|PROTOCOL)/;
const MEMORY_RESULTS = /^SQLITE_(?:NOMEM|IOERR_NOMEM)$/;
/** The same results as node:sqlite gives them, by their numbers: READONLY, IOERR, FULL, CANTOPEN; and NOMEM. */
const DISK_NUMBERS: ReadonlySet<number> = new Set([8, 10, 13, 14]);
const MEMORY_NUMBER = 7;

/**
 * What the machine refused, for errors of the system and of SQLite: `storage_unavailable` for a full,
 * read-only or broken disk, `capacity` where it has no more open files, processes or memory to give; null for any other
 * error. The message names the code and the call, never the path.
 */
export function storageFailure(error: unknown): WinterdockError | null {
  if (!(error instanceof Error) || isWinterdockError(error) || !('code' in error)) return null;
  const code = String(error.code);
  const isSystem = 'syscall' in error;
  const number = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;
  if (number === MEMORY_NUMBER || MEMORY_RESULTS.test(code) || (isSystem && isLimit(code, String(error.syscall)))) {
    return new WinterdockError('capacity', `The machine has no more to give: ${publicMessage(error)}.`, {
      hint: 'Nothing was changed. Try again; when it stays so, raise the limit of open files, processes or memory.',
      retryAfterSeconds: 5,
      cause: error,
    });
  }
  const isDisk = isSystem && DISK_CODES.has(code) && !NOT_DISK_CALLS.test(String(error.syscall));
  if (!isDisk && !DISK_RESULTS.test(code) && !(number !== null && DISK_NUMBERS.has(number))) return null;
  return new WinterdockError(
    'storage_unavailable',
    `The disk could not read or write the file: ${publicMessage(error)}.`,
    {
      hint: STORAGE_HINT,
      retryAfterSeconds: 5,
      cause: error,
    },
  );
}

function isLimit(code: string, syscall: string): boolean {
  return LIMIT_CODES.has(code) || (code === 'EAGAIN' && syscall.startsWith('spawn'));
}

/** Whether what was asked is away: the disk, the store, or the database of the registry. */
export function isUnavailable(error: unknown): boolean {
  return isWinterdockError(error) && ['storage_unavailable', 'registry_unavailable'].includes(error.code);
}

/** Whether the machine refused, its disk or a limit of it: nothing is known of the file then. */
export function isMachineFailure(error: unknown): boolean {
  if (isWinterdockError(error)) return isUnavailable(error) || error.code === 'capacity';
  return storageFailure(error) !== null;
}

/**
 * The message of an error that callers and the ledger may see: that of a WinterdockError, or the code and call of a
 * system error. Any other message may contain paths of the machine and stays in the log.
 */
export function publicMessage(error: unknown): string {
  if (isWinterdockError(error) && error.code !== 'internal') return error.message;
  if (error instanceof Error && 'code' in error) {
    if ('syscall' in error) return `${error.code} at ${error.syscall}`;
    if (/^(?:ERR_)?SQLITE_/.test(String(error.code)))
      return 'errstr' in error ? String(error.errstr) : String(error.code);
  }
  return "an unexpected error, which is in the server's log";
}

/** The message of anything thrown, for the log. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
