/** Errors as problems that a person can read. */

import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { Problem } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { toProblem } from '#lib/http/problem.ts';

/** The problem of anything thrown. An unexpected error goes to the log under the request id that the problem names. */
export function problemOf(error: unknown, caller: Caller): Problem {
  if (!isWinterdockError(error)) {
    getHost().log.error({ err: error, requestId: caller.requestId }, 'the console failed');
  }
  return toProblem(error, caller.requestId);
}

/** A problem in two sentences: what happened, and what to do. An internal error names its request id. */
export function problemInWords({ code, detail, hint, request_id }: Problem): { says: string; hint?: string } {
  return code === 'internal' ? { says: detail, hint: `Request ${request_id}` } : { says: detail, hint };
}
