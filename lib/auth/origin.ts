/** Whether a request that a browser sends with its cookie comes from our own pages. Pure. */
import { type AnyHeaders, headerOf } from './header.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** True for methods that change nothing. */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/**
 * True when the headers prove a same-origin request: by `Sec-Fetch-Site`, else by an `Origin` that is the public URL's
 * or names the host that was asked. Without either there is no proof. A proxy's word for the host counts only when it
 * is trusted.
 */
export function isSameOrigin(headers: AnyHeaders, front: { publicUrl: string | null; trustProxy: boolean }): boolean {
  const site = headerOf(headers, 'sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headerOf(headers, 'origin');
  if (origin === null || !URL.canParse(origin)) return false;
  const { origin: from, host } = new URL(origin);
  if (front.publicUrl !== null && new URL(front.publicUrl).origin === from) return true;
  const forwarded = front.trustProxy ? headerOf(headers, 'x-forwarded-host') : null;
  const asked = forwarded ?? headerOf(headers, 'host');
  return host !== '' && host === asked?.toLowerCase();
}
