/**
 * Security headers: one set for every answer, one content security policy for pages and one for everything else. Knows
 * of Next only that it reads the nonce for its scripts from the request's policy.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** On every answer. Not `no-referrer`: with it browsers send forms with `Origin: null`. */
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

/** The policy of everything that is not a page: nothing may be loaded, sent, framed or run. */
const INERT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of every answer; a page replaces the policy with its own. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = { ...EVERYWHERE, 'content-security-policy': INERT };

const PROXY_HEADERS = /^(?:x-forwarded-.*|forwarded|x-real-ip|via)$/;

/** Removes the headers of proxies. Without a trusted proxy anybody could have sent them. */
export function dropProxyHeaders(headers: IncomingHttpHeaders): void {
  for (const name of Object.keys(headers)) if (PROXY_HEADERS.test(name)) delete headers[name];
}

/**
 * The policy of a page: only scripts with this request's nonce run, and those that they load; all else comes from this
 * origin; no string becomes markup or code (Trusted Types, whose one policy is in instrumentation-client.ts). `dev`
 * also allows what hot reloading needs: `eval`, inline styles and a web socket.
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
