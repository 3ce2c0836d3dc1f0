/**
 * When each error code is answered, in words for people: the explorer's table. Exhaustive: a code without words does
 * not compile.
 */
import type { ErrorCode } from '../base/errors.ts';

export const ERROR_WORDS: Readonly<Record<ErrorCode, string>> = {
  validation: 'The body, the query or the path does not fit its schema; `errors` says where.',
  bad_json: 'The body is not JSON, or ended in its middle.',
  bad_request:
    'What came is not HTTP as the standard has it, or its address or form cannot be read. The connection may end with the answer.',
  unauthorized: 'There is neither a good key nor a session.',
  forbidden: 'The key or the session may not do this, or names a tenant that is not its own.',
  capability: 'The sandbox’s policy lacks what the call needs; `needs` and `policy` say what.',
  not_found: 'There is no such thing, or it belongs to a tenant that is not yours.',
  unknown_volume: 'There are three volumes: workspace, memory and tmp.',
  method_not_allowed: 'The address has other methods; `Allow` names them.',
  gone: 'The sandbox was deleted. Its id is never used again.',
  moment_gone: 'The replica has nothing that old; `oldest` says from when on it has, and is null when it has nothing.',
  invalid_transition: 'The state map has no such hop; `from`, `to` and `allowed` say what there is.',
  archived: 'A call or a write to an archived sandbox. Revive it first.',
  conflict:
    'An id or name is taken, a call is running, another operation holds the sandbox, or an ephemeral one would be put to sleep.',
  unknown_state: 'Filing the sandbox failed several times. `hint` says what to do.',
  corrupt: 'The sandbox’s file failed its check and is kept for repair.',
  missing_file: 'The sandbox’s file is not where its row says.',
  unreachable:
    'The sandbox is on another host, which is dead; `host`, `last_seen` and `recovery_point` say which, since when, and how far the object store has it. Nothing older is given in its place.',
  unverified:
    'The sandbox’s file was filed a moment ago and has no hash yet, so nothing of it leaves. `Retry-After` says when to come back.',
  precondition_failed: '`If-Match` or the like names another version than there is.',
  too_large: 'The body or the file is over the limit. Nothing of it is kept.',
  uri_too_long: 'The address is longer, or has more parameters, than any page’s.',
  range_not_satisfiable: 'The range starts past the end of the file.',
  expectation_failed: 'The header `Expect` asks for something else than `100-continue`.',
  quota_exceeded: 'A quota is used up; `quota`, `limit` and `used` say which.',
  rate_limited: 'Too many at once, or in too short a time. `Retry-After` says when to come back.',
  headers_too_large:
    'The address and the headers together are over 16 KiB, or there are more than a hundred headers. The connection ends with the answer.',
  internal: 'Something went wrong in the server. Its log has the details under the request id.',
  unsupported:
    'This server, or a sandbox with real programs while it is awake, has no such thing; `hint` says what to do.',
  capacity:
    'There is no place or no memory for another process, and none that could be suspended for it. `Retry-After` says when to come back.',
  not_replicated:
    'The sandbox answers only what its replica has (`sync`), and that is not there. Without `committed` nothing was done; with `committed: "local"` it was, and is on this machine alone. `Retry-After` says when to come back.',
  registry_unavailable:
    'The database of the registry is away, or takes no writes. Nothing that was acknowledged is lost. `Retry-After` says when to come back.',
  storage_unavailable: 'The store is away, or the server is stopping. `Retry-After` says when to come back.',
};
