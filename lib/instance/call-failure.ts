/** An error as it travels between the server and an Instance. Knows nothing of the messages around it. */
import { type ErrorCode, isWinterdockError, messageOf, storageFailure, WinterdockError } from '../base/errors.ts';

export interface CallFailure {
  code: ErrorCode;
  message: string;
  hint?: string;
  extra?: Record<string, unknown>;
  retryAfterSeconds?: number;
}

/**
 * Anything that was thrown. A disk that refuses is `storage_unavailable`; what else is none of the contract's is
 * `internal` and its message is for the server's log alone.
 */
export function failureOf(thrown: unknown): CallFailure {
  const error = storageFailure(thrown) ?? thrown;
  if (!isWinterdockError(error)) {
    return { code: 'internal', message: 'The Instance failed unexpectedly.', extra: { reason: messageOf(error) } };
  }
  const { code, message, hint, extra, retryAfterSeconds } = error;
  return {
    code,
    message,
    extra,
    ...(hint !== undefined && { hint }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** The error that a failure was. An `internal` one keeps its reason as the cause, out of answers. */
export function errorOf({ code, message, hint, extra = {}, retryAfterSeconds }: CallFailure): WinterdockError {
  if (code === 'internal')
    return new WinterdockError(code, message, { cause: new Error(String(extra.reason ?? message)) });
  return new WinterdockError(code, message, { hint, extra, retryAfterSeconds });
}
