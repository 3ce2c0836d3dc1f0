/** Headers of requests and answers that cross the broker. Pure. */
import { ADDRESS_OVERRIDES, comparedName, METHOD_OVERRIDES, OWN_HEADERS } from '../outgoing/header-names.ts';
import { MOST_HEADER_BYTES } from '../outgoing/network-limits.ts';
import type { SecretHeader } from '../secrets/secrets.ts';

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Printable characters of Latin-1 and the tab: nothing that ends a line. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Of an answer: what is true of the connection and of the bytes before they were decompressed. */
const NOT_RETURNED = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'trailer',
  'proxy-authenticate',
]);
const OF_ENCODED = new Set(['content-encoding', 'content-length']);

/** The headers to send, by name; otherwise what is wrong with the guest's. Those of secrets replace the guest's. */
export function requestHeaders(
  given: readonly (readonly [string, string])[],
  { url, method, secrets, decode }: { url: URL; method: string; secrets: readonly SecretHeader[]; decode: boolean },
): { headers: Record<string, string | string[]> } | { wrong: string } {
  const named = given.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, list]) => list.split(','));
  const dropped = new Set([...OWN_HEADERS, ...named.map((name) => comparedName(name.trim()))]);
  const secretNames = new Set(secrets.map(({ name }) => comparedName(name)));
  const headers = new Map<string, string[]>();
  let bytes = 0;
  for (const [name, value] of given) {
    if (!NAME.test(name)) return { wrong: `the header name ${JSON.stringify(name.slice(0, 100))} is none` };
    if (!VALUE.test(value)) return { wrong: `the header ${name} has characters that no header may have` };
    const key = name.toLowerCase();
    const compared = comparedName(name);
    if (compared === 'host' && value.trim().toLowerCase() !== url.host) {
      return { wrong: `the header Host must be the host of the address, ${url.host}` };
    }
    if (METHOD_OVERRIDES.has(compared) && value.trim().toUpperCase() !== method) {
      return { wrong: `the header ${name} would make another method of ${method}` };
    }
    if (ADDRESS_OVERRIDES.has(compared)) return { wrong: `the header ${name} could make another address of this one` };
    if (dropped.has(compared) || secretNames.has(compared)) continue;
    bytes += name.length + value.length;
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  if (bytes > MOST_HEADER_BYTES) return { wrong: `the headers have more than ${MOST_HEADER_BYTES} bytes` };
  for (const { name, value } of secrets) headers.set(name.toLowerCase(), [value]);
  headers.set('accept-encoding', [decode ? 'gzip, deflate, br' : 'identity']);
  const entries = [...headers].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]);
  return { headers: Object.fromEntries(entries) };
}

/** The headers of an answer as the guest gets them, in their order. `isDecoded`: its body was decompressed. */
export function answerHeaders(raw: readonly string[], isDecoded: boolean): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const key = name.toLowerCase();
    if (NOT_RETURNED.has(key) || (isDecoded && OF_ENCODED.has(key))) continue;
    pairs.push([key, value]);
  }
  return pairs;
}
