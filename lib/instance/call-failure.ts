/** The form in which an error travels between the server and a worker. Knows nothing of the messages around it. */
import { type ErrorCode, isWinterdockError, messageOf, storageFailure, WinterdockError } from '../base/errors.ts';

export interface CallFailure {
  code: ErrorCode;
  message: string;
  hint?: string;
  extra?: Record<string, unknown>;
  retryAfterSeconds?: number;
}

/**
 * Converts any thrown value. A failing disk becomes `storage_unavailable`. An error outside the contract becomes
 * `internal`, and its message goes to the server's log only.
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

/** Restores the error. An `internal` one keeps its reason as the cause, which answers do not show. */
export function errorOf({ code, message, hint, extra = {}, retryAfterSeconds }: CallFailure): WinterdockError {
  if (code === 'internal')
    return new WinterdockError(code, message, { cause: new Error(String(extra.reason ?? message)) });
  return new WinterdockError(code, message, { hint, extra, retryAfterSeconds });
}
