/** The problem document (RFC 9457) of an error, for answers and pages. Never holds stack traces, paths or secrets. */
import { ERROR_STATUS } from '../base/error-status.ts';
import { isWinterdockError, storageFailure } from '../base/errors.ts';
import type { Problem } from '../contract/schema.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition failed',
  413: 'Too large',
  416: 'Range not satisfiable',
  417: 'Expectation failed',
  422: 'Not valid',
  429: 'Too many',
  431: 'Headers too large',
  500: 'Internal error',
  503: 'Unavailable',
};

/**
 * Makes the problem document of anything thrown: a disk error is `storage_unavailable`, an unexpected error is
 * `internal` without details.
 */
export function toProblem(thrown: unknown, requestId: string): Problem {
  const error = storageFailure(thrown) ?? thrown;
  if (!isWinterdockError(error) || error.code === 'internal') {
    return {
      type: 'about:blank',
      title: 'Internal error',
      status: 500,
      code: 'internal',
      detail: 'Something went wrong in the server. Its log has the details under this request id.',
      request_id: requestId,
    };
  }
  const status = ERROR_STATUS[error.code];
  const known = {
    type: 'about:blank',
    title: TITLES[status] ?? 'Error',
    status,
    code: error.code,
    detail: error.message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    request_id: requestId,
  };
  // Spread twice: the standard members come first in the document, and no extra member overrides them.
  return { ...known, ...error.extra, ...known };
}
