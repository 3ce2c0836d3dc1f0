/**
 * The headers that make browsers careful: one set for everything that is answered, one policy for pages, one for all
 * else. Knows no route but the explorer's, and nothing of Next but that it takes the nonce of its scripts from the
 * request's own policy.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** What every answer carries. Never `no-referrer`: browsers would then send forms with `Origin: null`. */
const EVERYWHERE: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-permitted-cross-domain-policies': 'none',
};

/** The policy of what is no page: nothing in it is ever loaded, sent, framed or run. */
const INERT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of every answer; a page replaces the policy by its own. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = { ...EVERYWHERE, 'content-security-policy': INERT };

const PROXY_HEADERS = /^(?:x-forwarded-.*|forwarded|x-real-ip|via)$/;

/** Takes out what a proxy would say of the client, which anyone may claim where no proxy is trusted. */
export function dropProxyHeaders(headers: IncomingHttpHeaders): void {
  for (const name of Object.keys(headers)) if (PROXY_HEADERS.test(name)) delete headers[name];
}

/**
 * The policy of a page: scripts run by this request's nonce or because such a script loaded them, everything comes from
 * here, and texts become markup or code nowhere (Trusted Types; the one policy is in instrumentation-client.ts). `dev`
 * allows what hot reloading needs: code from strings, inline styles, its web socket.
 */
export function pagePolicy(nonce: string, { dev }: { dev: boolean }): string {
  const policy: Record<string, string> = {
    'default-src': "'none'",
    'script-src': `'nonce-${nonce}' 'strict-dynamic'${dev ? " 'unsafe-eval'" : ''}`,
    'style-src': dev ? "'self' 'unsafe-inline'" : "'self'",
    'img-src': dev ? "'self' data: blob:" : "'self'",
    'font-src': "'self'",
    'manifest-src': "'self'",
    'connect-src': dev ? "'self' ws: wss:" : "'self'",
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  };
  if (!dev) {
    policy['require-trusted-types-for'] = "'script'";
    policy['trusted-types'] = 'default';
  }
  return Object.entries(policy)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}
