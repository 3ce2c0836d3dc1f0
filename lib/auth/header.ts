/** Reading one header of a request, however it came. Pure: pages may import it without the engine behind the door. */
import type { IncomingHttpHeaders } from 'node:http';

export type AnyHeaders = Headers | IncomingHttpHeaders;

/** One header of either kind of header bag; null when absent. */
export function headerOf(headers: AnyHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name);
  const value = (headers as IncomingHttpHeaders)[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : value;
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/**
 * The request's own `X-Request-Id` when it is a sane one, else a new id. The front puts it in, so that everybody after
 * it reads the same.
 */
export function requestIdOf(headers: AnyHeaders): string {
  const given = headerOf(headers, 'x-request-id');
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}
