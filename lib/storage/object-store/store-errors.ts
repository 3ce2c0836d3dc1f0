/** The errors of object stores. Knows no driver. */
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import type { AwayReason } from './object-store.ts';

/** Seconds after which a request makes sense again. */
const RETRY_SECONDS = 5;

const REASONS: Readonly<Record<AwayReason, string>> = {
  unreachable: 'it cannot be reached',
  timeout: 'it does not answer in time',
  failing: 'it answers with errors of its own',
  full: 'it is full',
  refused: 'it refuses the credentials, or what they may do',
  no_bucket: 'its bucket or folder is not there',
  no_marker: 'the marker of this installation is not there',
  other_installation: 'it has the marker of another installation',
  taken_over: 'a later start of this installation has it, of a copy of the data folder or of a restored backup',
};

/** `storage_unavailable`: the store is away, and nothing is known of any object. */
export function storeAway(reason: AwayReason, cause?: unknown): WinterdockError {
  return new WinterdockError('storage_unavailable', `The object store is away: ${REASONS[reason]}.`, {
    hint: 'What is on this machine keeps working. Try again later; /readyz says when the store is back.',
    extra: { away: reason },
    retryAfterSeconds: RETRY_SECONDS,
    cause,
  });
}

/** Why the store is away, by an error; null for any other. One of the machine's own disk does not say it. */
export function awayOf(error: unknown): AwayReason | null {
  if (!isWinterdockError(error) || error.code !== 'storage_unavailable') return null;
  const { away } = error.extra;
  return typeof away === 'string' ? (away as AwayReason) : null;
}

export function noSuchObject(name: string, cause?: unknown): WinterdockError {
  return new WinterdockError('missing_file', `The object store has no "${name}".`, { cause });
}

export function wrongBytes(name: string, what: string, cause?: unknown): WinterdockError {
  return new WinterdockError('corrupt', `The object "${name}" is not what was stored: ${what}.`, { cause });
}

export function objectTaken(name: string, cause?: unknown): WinterdockError {
  return new WinterdockError('conflict', `The object store has "${name}" already.`, { cause });
}

export function objectTooLarge(name: string, most: number): WinterdockError {
  return new WinterdockError('too_large', `The object "${name}" has more than ${most} bytes.`);
}

export function behindTheEnd(name: string): WinterdockError {
  return new WinterdockError('range_not_satisfiable', `The object "${name}" ends before this range.`);
}
