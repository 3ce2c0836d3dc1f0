/** What errors of Postgres, of its client and of the connection mean, by their codes (SQLSTATE). */

/** Of what a trigger refuses for a tenant that is being forgotten (db/postgres/triggers.ts). */
export const FORGOTTEN = 'WD001';
/** Two writers waited for each other, and this one was undone as a whole. */
export const DEADLOCK = '40P01';
/** Another row has this key. */
export const UNIQUE_VIOLATION = '23505';
/** There is no row that this one points at. */
export const FOREIGN_KEY_VIOLATION = '23503';

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
  const code = codeOf(error) ?? '';
  return /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|ENOENT|EAI_|ERR_TLS|ERR_SSL|08|57P0)/.test(
    code,
  );
}

/** The connection was lost while something was under way; before that there was one. */
export function isCut(error: unknown): boolean {
  return /^(CONNECTION_(CLOSED|DESTROYED)|ECONNRESET|EPIPE|ETIMEDOUT)/.test(codeOf(error) ?? '');
}

/** Read-only, full, out of connections or memory, told to stop, or taken over by another server. */
export function isUnwritable(error: unknown): boolean {
  return /^(25006|53|58|55P03|57014|40|WD003)/.test(codeOf(error) ?? '');
}
