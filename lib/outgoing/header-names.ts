/** Names of headers that a request has of its own, whoever sets others. Pure, and safe for the browser. */

/**
 * What is between two hops, what says where a body ends, and what names the host: the broker's own. A guest's
 * `Content-Length` beside a `Transfer-Encoding` would let two servers see two different requests.
 */
export const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'http2-settings', 'content-length', 'expect', 'host', 'accept-encoding'],
]);

/** A name as servers compare it that make variables of headers (CGI, WSGI): to them an underscore is a dash. */
export function comparedName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** What servers and frameworks take in the place of the host and the path that were asked for, and allowed. */
export const ADDRESS_OVERRIDES: ReadonlySet<string> = new Set([
  ...['x-original-url', 'x-rewrite-url', 'x-original-uri', 'x-original-host', 'x-forwarded-host', 'x-forwarded-server'],
  ...['x-forwarded-prefix', 'x-forwarded-path', 'x-forwarded-uri', 'x-host', 'x-http-host-override', 'forwarded'],
]);

/** What a server can be told to take instead of the method that was allowed. */
export const METHOD_OVERRIDES: ReadonlySet<string> = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
]);

/** Whether a secret may be sent as this header. Lower case. What says how the body is to be read is the guest's. */
export function maySecretBe(header: string): boolean {
  const name = comparedName(header);
  return !(
    OWN_HEADERS.has(name) ||
    METHOD_OVERRIDES.has(name) ||
    ADDRESS_OVERRIDES.has(name) ||
    /^(?:proxy-|content-)/.test(name) ||
    ['range', 'if-range'].includes(name)
  );
}
