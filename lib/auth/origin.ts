/** The check against cross-site request forgery: whether a request comes from our own pages. Pure. */
import { type AnyHeaders, headerOf } from './header.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** True for methods that change nothing. */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/**
 * True for the origin of a page that this server sent: that of the public URL, or that of the request, if its host
 * is an address or `localhost`. The owner of any other name can make it lead here (DNS rebinding).
 */
export function isTrustedOrigin(origin: string, host: string | null, publicUrl: string | null): boolean {
  if (!URL.canParse(origin)) return false;
  const sender = new URL(origin);
  if (publicUrl !== null && new URL(publicUrl).origin === sender.origin) return true;
  const isFixed = /^(?:localhost|\d+(?:\.\d+){3}|\[.*\])$/.test(sender.hostname);
  return isFixed && sender.host === host?.toLowerCase();
}

/**
 * True when the headers prove a same-origin request: by `Sec-Fetch-Site`, else by an `Origin` that is the public URL's
 * or has the request's host. Without either header there is no proof. `X-Forwarded-Host` counts only from a trusted
 * proxy.
 */
export function isSameOrigin(
  headers: AnyHeaders,
  settings: { publicUrl: string | null; trustProxy: boolean },
): boolean {
  const site = headerOf(headers, 'sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headerOf(headers, 'origin');
  if (origin === null || !URL.canParse(origin)) return false;
  const { origin: sender, host } = new URL(origin);
  if (settings.publicUrl !== null && new URL(settings.publicUrl).origin === sender) return true;
  const forwarded = settings.trustProxy ? headerOf(headers, 'x-forwarded-host') : null;
  const requested = forwarded ?? headerOf(headers, 'host');
  return host !== '' && host === requested?.toLowerCase();
}
