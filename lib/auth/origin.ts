/** The check against cross-site request forgery: whether a request comes from our own pages. Pure. */
import { type AnyHeaders, headerOf } from './header.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** True for methods that change nothing. */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/**
 * True for the origin of a page that this server sent: that of the public URL, or that of the request over plain HTTP,
 * which the server speaks, if its host is an address or `localhost`. The owner of any other name can make it lead here
 * (DNS rebinding).
 */
export function isTrustedOrigin(origin: string, host: string | null, publicUrl: string | null): boolean {
  if (!URL.canParse(origin)) return false;
  const sender = new URL(origin);
  if (publicUrl !== null && new URL(publicUrl).origin === sender.origin) return true;
  const isFixed = /^(?:localhost|\d+(?:\.\d+){3}|\[.*\])$/.test(sender.hostname);
  return isFixed && sender.protocol === 'http:' && sender.host === host?.toLowerCase();
}

/**
 * True when the headers prove a same-origin request: by `Sec-Fetch-Site`, else by an `Origin` that is the public URL's
 * or has the request's scheme and host. Without either header there is no proof. `X-Forwarded-Host` and `-Proto` count
 * only from a trusted proxy; without it the scheme is plain HTTP, which the server speaks.
 */
export function isSameOrigin(
  headers: AnyHeaders,
  settings: { publicUrl: string | null; trustProxy: boolean },
): boolean {
  const site = headerOf(headers, 'sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headerOf(headers, 'origin');
  if (origin === null || !URL.canParse(origin)) return false;
  const { origin: sender, host, protocol } = new URL(origin);
  const known = settings.publicUrl === null ? null : new URL(settings.publicUrl);
  // The public host under another scheme is somebody else: whoever sits on the way of plain HTTP.
  if (known !== null && known.host === host) return known.origin === sender;
  const forwarded = (name: string) => (settings.trustProxy ? headerOf(headers, name) : null);
  const requested = forwarded('x-forwarded-host') ?? headerOf(headers, 'host');
  const scheme = forwarded('x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase() ?? 'http';
  return host !== '' && host === requested?.toLowerCase() && protocol === `${scheme}:`;
}
