/** Errors of Postgres, of its client and of the connection, told apart. Knows nothing of what was asked. */
import { WinterdockError } from '../../base/errors.ts';

/** Another row has this key. */
export const UNIQUE_VIOLATION = '23505';
/** There is no row that this one points at. */
export const FOREIGN_KEY_VIOLATION = '23503';

/** Of what a trigger refuses for a tenant that is being forgotten (db/postgres/triggers.ts). */
export const FORGOTTEN = 'WD001';
/** Two writers waited for each other, and this one was undone as a whole. */
export const DEADLOCK = '40P01';
/** The server, or the session, takes no writes. */
export const READ_ONLY = '25006';

/** The code of an error of Postgres (SQLSTATE), of its client or of the system; null for any other. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** The index or constraint that an error of Postgres names. */
export function constraintOf(error: unknown): string | null {
  const { constraint_name: name } = error as { constraint_name?: unknown };
  return typeof name === 'string' ? name : null;
}

/** Whether a key or a trigger refused a row (db/postgres/triggers.ts). */
export function isRefused(error: unknown): boolean {
  return /^(23|WD002)/.test(codeOf(error) ?? '');
}

/** The connection is gone, or there is none: nothing more of a transaction comes. */
export function isAway(error: unknown): boolean {
  return (
    isCut(error) ||
    /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|EHOST|ENET|ENOTFOUND|ENOENT|EAI_|ERR_TLS|ERR_SSL|57P0)/.test(
      codeOf(error) ?? '',
    )
  );
}

/**
 * The connection was lost while something was under way, for which there was one: it may have been done. With a reason
 * where Postgres had the time to say one: it was stopped (57P01), another process of it crashed (57P02), the session
 * was idle (57P05), the transaction idle or too long (25P03, 25P04).
 */
export function isCut(error: unknown): boolean {
  return /^(CONNECTION_(CLOSED|DESTROYED)|ECONNRESET|EPIPE|ETIMEDOUT|57P0[125]|25P0[34]|08)/.test(codeOf(error) ?? '');
}

/** Read-only, full, out of connections or memory, told to stop, or taken over by another server. */
export function isUnwritable(error: unknown): boolean {
  return /^(25006|53|58|55P03|57014|40|WD003)/.test(codeOf(error) ?? '');
}

/** Its message names no host and no row: whoever asks may see it. The log has the cause. */
export function unavailable(error: unknown): WinterdockError {
  const why = `The registry cannot be reached, or takes no writes now (${codeOf(error)}).`;
  return new WinterdockError('registry_unavailable', why, {
    hint: 'What was answered before is kept, and nothing of this was changed. Try again.',
    retryAfterSeconds: 1,
    cause: error,
  });
}
