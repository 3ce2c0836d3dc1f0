/** Exit codes: the one table that the program, its help and its documentation are made from. Pure. */

import type { ErrorCode } from '../base/errors.ts';
import type { ClientCode } from '../client/client.ts';

/** Every exit code. `exec` and `shell` end with the command's own code instead, once it ran. */
export const EXIT_CODES = [
  { exit: 0, name: 'ok', says: 'it is done' },
  { exit: 1, name: 'internal', says: 'something nobody expected: see the server’s log under the request id' },
  { exit: 2, name: 'usage', says: 'the command line is wrong, or a question was not answered with yes' },
  { exit: 3, name: 'refused', says: 'no valid key, or the key or the sandbox’s policy does not allow it' },
  { exit: 4, name: 'absent', says: 'there is no such thing, or it was deleted' },
  { exit: 5, name: 'conflict', says: 'not from this state, archived, taken, busy, or changed meanwhile' },
  { exit: 6, name: 'invalid', says: 'the server cannot take what was sent: not valid, or too large' },
  { exit: 7, name: 'limit', says: 'a quota is used up, or too many requests' },
  { exit: 8, name: 'unavailable', says: 'no room for another process, or the store is away: try later' },
  { exit: 9, name: 'fault', says: 'the sandbox is faulted: `show` tells why and what to do' },
  { exit: 10, name: 'network', says: 'no whole answer came, or not one of Winterdock' },
  { exit: 124, name: 'timeout', says: 'what `wait` waits for did not come in its time' },
  { exit: 130, name: 'interrupted', says: 'stopped with Ctrl-C (143: with SIGTERM)' },
] as const;

export type ExitCodeName = (typeof EXIT_CODES)[number]['name'];

/** The exit code of every stable error code. Exhaustive: an error code without one does not compile. */
const EXIT_BY_CODE: Readonly<Record<ErrorCode | ClientCode, ExitCodeName>> = {
  unauthorized: 'refused',
  forbidden: 'refused',
  capability: 'refused',
  not_found: 'absent',
  unknown_volume: 'absent',
  gone: 'absent',
  moment_gone: 'absent',
  invalid_transition: 'conflict',
  archived: 'conflict',
  conflict: 'conflict',
  precondition_failed: 'conflict',
  validation: 'invalid',
  bad_json: 'invalid',
  bad_request: 'invalid',
  method_not_allowed: 'invalid',
  too_large: 'invalid',
  uri_too_long: 'invalid',
  range_not_satisfiable: 'invalid',
  expectation_failed: 'invalid',
  headers_too_large: 'invalid',
  quota_exceeded: 'limit',
  rate_limited: 'limit',
  capacity: 'unavailable',
  not_replicated: 'unavailable',
  registry_unavailable: 'unavailable',
  storage_unavailable: 'unavailable',
  unreachable: 'unavailable',
  unverified: 'unavailable',
  unknown_state: 'fault',
  corrupt: 'fault',
  missing_file: 'fault',
  internal: 'internal',
  unsupported: 'refused',
  network: 'network',
  unexpected: 'network',
};

/** Exit codes by HTTP status, for error codes of a newer server. */
const EXIT_BY_STATUS: Readonly<Record<number, ExitCodeName>> = {
  400: 'invalid',
  401: 'refused',
  403: 'refused',
  404: 'absent',
  409: 'conflict',
  410: 'absent',
  412: 'conflict',
  413: 'invalid',
  417: 'invalid',
  422: 'invalid',
  429: 'limit',
  431: 'invalid',
  503: 'unavailable',
};

/** The number of an exit code. */
export function exitCode(name: ExitCodeName): number {
  return EXIT_CODES.find((exit) => exit.name === name)?.exit ?? 1;
}

/** The exit code of an API error, by its code or else by its status. */
export function exitCodeOfError(code: string, status: number): number {
  const name = Object.hasOwn(EXIT_BY_CODE, code) ? EXIT_BY_CODE[code as ErrorCode] : EXIT_BY_STATUS[status];
  return exitCode(name ?? 'internal');
}

/** The table of exit codes with their error codes, for the help. */
export function exitCodeTable(): string {
  const codes = (name: ExitCodeName) =>
    Object.entries(EXIT_BY_CODE)
      .filter(([, exit]) => exit === name)
      .map(([code]) => code);
  const lines = EXIT_CODES.map(({ exit, name, says }) => {
    const from = codes(name);
    return `  ${String(exit).padStart(3)}  ${says}${from.length === 0 ? '' : `\n       (${from.join(', ')})`}`;
  });
  return `Exit codes:\n${lines.join('\n')}\n  exec and shell end with the command's own exit code when it ran.`;
}
