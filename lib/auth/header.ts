/** Reads headers from Node's and from the web's header objects. Pure: pages may import it without the engine. */
import type { IncomingHttpHeaders } from 'node:http';

export type AnyHeaders = Headers | IncomingHttpHeaders;

/** One header; null when absent. */
export function headerOf(headers: AnyHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name);
  const value = (headers as IncomingHttpHeaders)[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : value;
}

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/**
 * The request's `X-Request-Id` when it is well-formed, else a new id. The front sets it, so that later readers get the
 * same one.
 */
export function requestIdOf(headers: AnyHeaders): string {
  const given = headerOf(headers, 'x-request-id');
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}
