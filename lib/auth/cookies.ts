/**
 * Names and attributes of the console's cookies, which depend on the public address: over plain HTTP, browsers reject
 * `Secure` and `__Host-` cookies except on localhost, so nobody could sign in. Pure.
 */
import type { Config } from '../base/config.ts';

export interface CookieRules {
  /** Whether cookies are `Secure` and bound to this very host by their `__Host-` prefix. */
  secure: boolean;
  /** The prefix of the auth library's cookie names, without the dot. */
  prefix: string;
  /** The name of the session cookie. */
  session: string;
}

const LOOPBACK = /^(?:(?:localhost|[^:]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?|::1)$/;

/** True for a loopback name or address, with or without a port. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host.toLowerCase());
}

/** Cookies that are kept of one request. The console has six. */
const MOST_COOKIES = 16;
/** Characters of one: browsers keep no more. */
const MOST_CHARACTERS = 4096;

/**
 * Of a `Cookie` header the cookies of this console, which all have its prefix: each once, the first of its name, and
 * none that no browser would keep. Takes time that grows with the header's length.
 */
export function ownCookies(header: string, { prefix }: Pick<CookieRules, 'prefix'>): string {
  const kept = new Map<string, string>();
  for (const part of header.split(';')) {
    const pair = part.trim();
    if (!pair.startsWith(`${prefix}.`) || pair.length > MOST_CHARACTERS) continue;
    const name = pair.split('=', 1)[0] ?? '';
    if (!kept.has(name)) kept.set(name, pair);
    if (kept.size === MOST_COOKIES) break;
  }
  return [...kept.values()].join('; ');
}

/**
 * The rules of a server: secure when its public URL is https or a loopback address. Without a public URL: when it
 * listens on a loopback address.
 */
export function cookieRules({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>): CookieRules {
  const address = publicUrl === null ? null : new URL(publicUrl);
  const secure = address === null ? isLoopback(host) : address.protocol === 'https:' || isLoopback(address.host);
  const prefix = secure ? '__Host-winterdock' : 'winterdock';
  return { secure, prefix, session: `${prefix}.session_token` };
}
