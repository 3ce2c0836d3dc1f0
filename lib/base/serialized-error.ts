/**
 * The form in which an error crosses from one process to another, and its check at the receiving end. Knows nothing of
 * the messages around it. Uses no schema library, which would take 9 MB in every reader process.
 */
import { ERROR_STATUS } from './error-status.ts';
import {
  boundedText,
  type ErrorCode,
  isWinterdockError,
  messageOf,
  storageFailure,
  WinterdockError,
} from './errors.ts';
import { isDeepValue } from './json-weight.ts';

export interface SerializedError {
  code: ErrorCode;
  message: string;
  hint?: string;
  extra?: Record<string, unknown>;
  retryAfterSeconds?: number;
}

/**
 * Converts any thrown value. A failing disk becomes `storage_unavailable`. An error outside the contract becomes
 * `internal` with the message `unexpected`; its own message goes to the server's log only.
 */
export function serializeError(thrown: unknown, unexpected: string): SerializedError {
  const error = storageFailure(thrown) ?? thrown;
  if (!isWinterdockError(error)) return { code: 'internal', message: unexpected, extra: { reason: messageOf(error) } };
  const { code, message, hint, extra, retryAfterSeconds } = error;
  return {
    code,
    message,
    extra,
    ...(hint !== undefined && { hint }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** Characters of JSON of the extra members of an error from elsewhere. The errors of a validation have 8000. */
const MOST_EXTRA = 16_384;
const MOST_RETRY_SECONDS = 3600;

/**
 * Restores the error, within bounds: it may come from hostile hands. An `internal` one keeps its reason as the cause,
 * which answers do not show.
 */
export function deserializeError({ code, message, hint, extra = {}, retryAfterSeconds }: SerializedError) {
  if (code === 'internal') {
    const { reason } = extra;
    return new WinterdockError(code, message, {
      cause: new Error(boundedText(typeof reason === 'string' ? reason : message)),
    });
  }
  return new WinterdockError(code, message, {
    hint,
    extra: JSON.stringify(extra).length > MOST_EXTRA ? {} : extra,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds: Math.min(retryAfterSeconds, MOST_RETRY_SECONDS) }),
  });
}

/** True when a value from another process has the form of a serialized error, with a known code. */
export function isSerializedError(value: unknown): value is SerializedError {
  if (!isRecord(value)) return false;
  const { code, message, hint, extra, retryAfterSeconds } = value;
  return (
    typeof code === 'string' &&
    Object.hasOwn(ERROR_STATUS, code) &&
    typeof message === 'string' &&
    (hint === undefined || typeof hint === 'string') &&
    (extra === undefined || (isRecord(extra) && !isDeepValue(extra))) &&
    (retryAfterSeconds === undefined || (Number.isFinite(retryAfterSeconds) && Number(retryAfterSeconds) >= 0))
  );
}

/** Only plain objects: an untrusted worker can send a Map or an array too. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
