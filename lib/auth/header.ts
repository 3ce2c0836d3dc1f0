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
