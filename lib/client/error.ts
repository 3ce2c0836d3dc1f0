/** The one error class of the client: a refusal of the server, or no answer. Safe for the browser. */
import type { ErrorCode } from '../base/errors.ts';
import type { Problem } from './types.ts';

/**
 * Codes of the client's own: `network` – no whole answer came; `unexpected` – what came is not an answer of Winterdock
 * (a proxy's page, another server).
 */
export type ClientCode = 'network' | 'unexpected';

export interface ApiErrorInit {
  /** 0 when there was no answer. */
  status?: number;
  hint?: string;
  request_id?: string | null;
  problem?: Problem | null;
  /** From `Retry-After`. */
  retryAfterSeconds?: number | null;
  cause?: unknown;
}

/** Thrown by every call that fails, unless its own signal was aborted: then the signal's reason is thrown. */
export class ApiError extends Error {
  /** Stable. A newer server may know codes that this client does not. */
  readonly code: ErrorCode | ClientCode | (string & {});
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** What to do about it, when the server sends it. */
  readonly hint: string | null;
  /** The request's id in the ledger and in the server's log; null when there was no answer. */
  readonly request_id: string | null;
  /** The whole problem document: `from`, `to`, `allowed`, `quota`, `errors`, … are in it. */
  readonly problem: Problem | null;
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode | ClientCode | (string & {}), message: string, init: ApiErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = init.status ?? 0;
    this.hint = init.hint ?? null;
    this.request_id = init.request_id ?? null;
    this.problem = init.problem ?? null;
    this.retryAfterSeconds = init.retryAfterSeconds ?? null;
  }
}

/** The error of a problem document. */
export function problemError(problem: Problem, retryAfterSeconds: number | null = null): ApiError {
  const { code, detail, status, hint, request_id } = problem;
  return new ApiError(code, detail, { status, hint, request_id, problem, retryAfterSeconds });
}

/** The reason of a failed connection: the system's code when there is one. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof Error) return 'code' in cause && cause.code !== '' ? String(cause.code) : cause.message;
  return String(cause);
}

/** No whole answer came from `url`. */
export function networkError(url: string, cause: unknown): ApiError {
  return new ApiError('network', `No answer from ${url}: ${reasonOf(cause)}.`, {
    hint: 'See whether the server runs and the address is right.',
    cause,
  });
}

function retryAfterOf(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

function isProblem(value: unknown): value is Problem {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'string' &&
    'detail' in value
  );
}

/** The error of a response that is no success; reads its body. */
export async function errorFromResponse(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const value: unknown = JSON.parse(text);
    if (isProblem(value)) return problemError(value, retryAfterOf(response));
  } catch {
    // Not JSON: the answer is not one of Winterdock's, and is reported as that.
  }
  return unexpectedAnswer(response);
}

/** An answer that Winterdock would not give. */
export function unexpectedAnswer(response: Response, cause?: unknown): ApiError {
  return new ApiError('unexpected', `The answer ${response.status} of ${response.url} is not one of Winterdock.`, {
    status: response.status,
    hint: 'See whether the address is that of a Winterdock server, and what stands between.',
    request_id: response.headers.get('x-request-id'),
    retryAfterSeconds: retryAfterOf(response),
    cause,
  });
}
