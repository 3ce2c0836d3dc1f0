/** Names of headers that a request has of its own, whoever sets others. Pure, and safe for the browser. */

/**
 * What is between two hops, what says where a body ends, and what names the host: the broker's own. A guest's
 * `Content-Length` beside a `Transfer-Encoding` would let two servers see two different requests.
 */
export const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'http2-settings', 'content-length', 'expect', 'host', 'accept-encoding'],
]);

/** What a server can be told to take instead of the method that was allowed. */
export const METHOD_OVERRIDES: ReadonlySet<string> = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
]);

/** Whether a secret may be sent as this header. Lower case. What says how the body is to be read is the guest's. */
export function maySecretBe(header: string): boolean {
  return !(
    OWN_HEADERS.has(header) ||
    METHOD_OVERRIDES.has(header) ||
    /^(?:proxy-|content-)/.test(header) ||
    ['range', 'if-range'].includes(header)
  );
}
