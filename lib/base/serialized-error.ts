/**
 * The form in which an error crosses from one process to another, and its check at the receiving end. Knows nothing of
 * the messages around it. Uses no schema library, which would take 9 MB in every reader process.
 */
import {
  ERROR_STATUS,
  type ErrorCode,
  isWinterdockError,
  messageOf,
  storageFailure,
  WinterdockError,
} from './errors.ts';

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

/** Restores the error. An `internal` one keeps its reason as the cause, which answers do not show. */
export function deserializeError({ code, message, hint, extra = {}, retryAfterSeconds }: SerializedError) {
  if (code === 'internal')
    return new WinterdockError(code, message, { cause: new Error(String(extra.reason ?? message)) });
  return new WinterdockError(code, message, { hint, extra, retryAfterSeconds });
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
    (extra === undefined || isRecord(extra)) &&
    (retryAfterSeconds === undefined || typeof retryAfterSeconds === 'number')
  );
}

/** Only plain objects: an untrusted worker can send a Map or an array too. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
