/** Every stable error code, with its HTTP status. Knows nothing of HTTP itself. */

/** HTTP status of every stable error code. Exhaustive: a code without a status does not compile. */
export const ERROR_STATUS = {
  validation: 422,
  bad_json: 400,
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  capability: 403,
  not_found: 404,
  unknown_volume: 404,
  method_not_allowed: 405,
  gone: 410,
  moment_gone: 410,
  invalid_transition: 409,
  archived: 409,
  conflict: 409,
  unknown_state: 409,
  corrupt: 409,
  missing_file: 409,
  unreachable: 409,
  unverified: 409,
  precondition_failed: 412,
  too_large: 413,
  uri_too_long: 414,
  range_not_satisfiable: 416,
  expectation_failed: 417,
  quota_exceeded: 429,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  capacity: 503,
  not_replicated: 503,
  registry_unavailable: 503,
  storage_unavailable: 503,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_STATUS;
