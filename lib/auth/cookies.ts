/**
 * How the console's cookies are named and kept, by the address that people use. Browsers refuse `__Host-` and `Secure`
 * over plain HTTP, except on the machine itself: there they would lock everyone out. Pure.
 */
import type { Config } from '../base/config.ts';

export interface CookieRules {
  /** Whether cookies are `Secure` and bound to this very host by their `__Host-` prefix. */
  secure: boolean;
  /** What the names of the auth library's cookies start with, without the dot. */
  prefix: string;
  /** Name of the cookie that is the session. */
  session: string;
}

const LOOPBACK = /^(?:(?:localhost|[^:]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?|::1)$/;

/** True for a name or address of the machine itself, with or without a port. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host.toLowerCase());
}

/**
 * The rules of a server: secure when its public address is https or the machine itself, or when only the machine
 * reaches it.
 */
export function cookieRules({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>): CookieRules {
  const address = publicUrl === null ? null : new URL(publicUrl);
  const secure = address === null ? isLoopback(host) : address.protocol === 'https:' || isLoopback(address.host);
  const prefix = secure ? '__Host-winterdock' : 'winterdock';
  return { secure, prefix, session: `${prefix}.session_token` };
}
