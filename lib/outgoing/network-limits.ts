/** What requests of sandboxes may take, and what two lists allow together. Pure, and safe for the browser. */
import { covers, type UrlRule, WILDCARD } from './url-rules.ts';

const MIB = 1024 * 1024;

/** A request's body: JSON and small uploads. It crosses the channel whole, and the server holds it until it is sent. */
export const MOST_REQUEST_BYTES = 8 * MIB;
/** An answer's body, after decompression. Guest memory is 256 MiB, and QuickJS holds a text of it three times. */
export const MOST_ANSWER_BYTES = 16 * MIB;
/** From the look-up of the name to the end of the answer: half of what a call of the profile has. */
export const MOST_REQUEST_MS = 30_000;
/** Headers of one request or answer: what common servers accept at most. */
export const MOST_HEADERS = 100;
export const MOST_HEADER_BYTES = 16 * 1024;
/** Requests of one sandbox at a time, as browsers have to one host; more wait. */
export const PARALLEL_OF_SANDBOX = 6;
/** Requests of the whole server at a time: what is being read and decompressed of their answers is 1 GiB at most. */
export const PARALLEL = 32;
/**
 * Bytes of requests that wait or are being sent, and of answers that their sandboxes have not taken yet, of the whole
 * server and of one tenant: the requests that one call can have open, with the largest bodies. More are refused.
 */
export const MOST_HELD = 384 * MIB;
export const MOST_HELD_OF_TENANT = 128 * MIB;
/** Requests that wait for their turn, of the whole server and of one tenant; more are refused. */
export const MOST_WAITING = 1000;
export const MOST_WAITING_OF_TENANT = 200;

/** The numbers that apply where a list has none. */
export const NETWORK_DEFAULTS = {
  /** Two a second: an agent that pages an API stays below, a scanner does not. A tenant's sandboxes together. */
  sandbox: { requestsPerMinute: 120, bytesPerDay: 1024 * MIB },
  tenant: { requestsPerMinute: 600, bytesPerDay: 10 * 1024 * MIB },
} as const;

/**
 * What both lists allow: of two entries that overlap, one lies within the other, so the narrower one with the methods
 * of both. Without a list of its own (null) a sandbox has that of its tenant. Only a tenant's entry makes an address
 * that is not public reachable.
 */
export function allowedByBoth(tenant: readonly UrlRule[], sandbox: readonly UrlRule[] | null): UrlRule[] {
  if (sandbox === null) return [...tenant];
  const both = tenant.flatMap((outer) =>
    sandbox.flatMap((inner) => {
      const methods = outer.methods.filter((method) => inner.methods.includes(method));
      const url = isWithin(inner.url, outer.url) ? inner.url : isWithin(outer.url, inner.url) ? outer.url : null;
      return url === null || methods.length === 0 ? [] : [{ url, methods, private: outer.private }];
    }),
  );
  return both.filter((rule, at) => both.findIndex((other) => isSame(rule, other)) === at);
}

function isWithin(inner: string, outer: string): boolean {
  if (inner === WILDCARD) return outer === WILDCARD;
  return covers(outer, new URL(inner));
}

function isSame(a: UrlRule, b: UrlRule): boolean {
  return a.url === b.url && a.private === b.private && a.methods.join() === b.methods.join();
}
