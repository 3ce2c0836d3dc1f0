/**
 * The problem document of an error, for answers and for pages. Stack traces, paths of the machine and secrets never
 * enter it.
 */
import { ERROR_STATUS, isWinterdockError, storageFailure } from '../base/errors.ts';
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
 * Makes the problem document of anything thrown: a disk that refuses is `storage_unavailable`. What nobody expected is
 * `internal` and tells nothing.
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
  // Twice: what every problem has comes first, for who reads, and nothing extra takes its place.
  return { ...known, ...error.extra, ...known };
}
