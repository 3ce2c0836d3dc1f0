/** Which headers of a request and of its answer cross from one host to another, and those of the hop itself. Pure. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What a host states of a request that it sends on, and its signature. No client may send it. */
export const HOP_HEADER = 'x-winterdock-hop';
/** What the host that was asked says of the hop itself, in the place of an answer. */
export const HOP_ANSWER = 'x-winterdock-hop-answer';
/** The clock of the host that was asked, with `stale`. */
export const HOP_CLOCK = 'x-winterdock-hop-clock';

/** The status of what is an answer to the hop and not to the client (RFC 9110, 15.5.20). */
export const MISDIRECTED = 421;

/** Of one connection (RFC 9110, 7.6.1), or said anew by whoever sends the message. */
const OF_A_CONNECTION =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|host|content-length|x-winterdock-hop.*)$/;
/** Of proxies: what they say of the client is in the statement. */
const OF_PROXIES = /^(?:x-forwarded-.*|forwarded|x-real-ip|via)$/;
/** Marks of the front inside of its own process. */
const OF_THE_FRONT = /^x-winterdock-(?:inner|peer)$/;

const namesIn = (connection: string | undefined): string[] =>
  connection === undefined ? [] : connection.split(',').map((name) => name.trim().toLowerCase());

const textOf = (value: string | string[]) => (Array.isArray(value) ? value.join(', ') : value);

/** The headers of a request that cross, by name. */
export function crossingHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const dropped = namesIn(headers.connection);
  const crossing: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || dropped.includes(name)) continue;
    if (OF_A_CONNECTION.test(name) || OF_PROXIES.test(name) || OF_THE_FRONT.test(name)) continue;
    crossing[name] = textOf(value);
  }
  return crossing;
}

/** The headers of an answer that cross. Its length does, where it is no part of how it was sent. */
export function answeredHeaders(headers: IncomingHttpHeaders): Record<string, string | readonly string[]> {
  const dropped = namesIn(headers.connection);
  const crossing: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name === 'date' || dropped.includes(name)) continue;
    if (name === 'content-length' || !OF_A_CONNECTION.test(name)) crossing[name] = value;
  }
  return crossing;
}

/** Another digest for each other set of headers. */
export function headersDigest(crossing: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(crossing).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url');
}
