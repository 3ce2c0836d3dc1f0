/**
 * What a caller is told of a read that did not end as it should: the process that ran it died, or the server stops.
 * Knows nothing of processes.
 */
import { STORAGE_HINT, WinterdockError } from '../base/errors.ts';
import { GUEST_SQL, type ReaderJob } from './messages.ts';
import type { JobDeath, ReaderDeath } from './reader-process.ts';
import { unreadableBytes } from './sqlite-errors.ts';

/** Whose SQL a job runs, in the words of an error; null when it runs none. */
export function guestSqlOf(job: ReaderJob): { what: string; field: string; hint: string } | null {
  if (job.kind !== 'read' || !GUEST_SQL.has(job.request.op)) return null;
  return job.request.op === 'query'
    ? { what: 'The query', field: 'sql', hint: 'Narrow it down with WHERE or LIMIT.' }
    : { what: 'Reading the tables', field: 'path', hint: 'Download the file to look at it elsewhere.' };
}

/** The caller's error when a read's process had to be killed, or died twice. */
export function readDeathError(job: ReaderJob, death: ReaderDeath, queryTimeoutMs: number): WinterdockError {
  const sql = guestSqlOf(job);
  if (sql !== null && death.why !== 'disk') {
    const { what, field, hint } = sql;
    const says: Record<Exclude<JobDeath, 'disk'>, string> = {
      timeout: `${what} was ended after ${queryTimeoutMs} ms.`,
      memory: `${what} was ended: it needs too much memory.`,
      crash: `${what} ended the process that ran it.`,
    };
    return new WinterdockError('validation', says[death.why], {
      hint,
      extra: { errors: [{ path: field, message: says[death.why] }] },
      cause: death,
    });
  }
  if (death.why === 'disk') return unreadableBytes(death);
  if (death.why === 'timeout') {
    return new WinterdockError('storage_unavailable', 'The disk did not return the bytes of the sandbox in time.', {
      hint: STORAGE_HINT,
      retryAfterSeconds: 5,
      cause: death,
    });
  }
  return new WinterdockError('internal', 'A reader ended before it answered.', { cause: death });
}

/** The caller's error while the pool stops. */
export function readersStopping(): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
}
