/**
 * Requests that guest code sends to the network, and their answers, between the process of a sandbox and the server.
 * Knows neither who may reach what nor how it is sent.
 */
import { MOST_HEADERS, MOST_REQUEST_BYTES } from '../../outgoing/network-limits.ts';
import { LONGEST_URL } from '../../outgoing/url-rules.ts';

export interface FetchRequest {
  url: string;
  method: string;
  /** In their order; a name may occur more than once. */
  headers: [string, string][];
  body: Uint8Array | null;
  /** The answer may be compressed, and is decompressed. */
  decode: boolean;
  /** Milliseconds; the server's own limit applies too. */
  timeoutMs: number | null;
}

/** Why there is no answer. */
export type FetchFailure =
  | 'profile'
  | 'refused'
  | 'limit'
  | 'malformed'
  | 'resolve'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'too_large'
  | 'broken'
  | 'aborted';

export type FetchAnswer =
  | { status: number; statusText: string; headers: [string, string][]; body: Uint8Array }
  /** `message`: a sentence for the guest. */
  | { failure: FetchFailure; message: string };

/**
 * Carries out a request of a sandbox. `signal`: its call has ended. `taken`: its process has taken the answer, or never
 * will; until then the server holds it. Never throws.
 */
export type FetchHost = (
  id: string,
  request: FetchRequest,
  signal: AbortSignal,
  taken: Promise<void>,
) => Promise<FetchAnswer>;

/** Requests of one call that have no answer yet; a process keeps more back itself. */
export const MOST_OPEN_REQUESTS = 16;
const MOST_HEADER_CHARACTERS = 64 * 1024;
const MOST_TIME_MS = 3_600_000;

/** The sentence of a sandbox whose profile has no network. */
export function noNetwork(policy: string): string {
  return `the policy "${policy}" of this sandbox reaches no network: the policy "network" does`;
}

/** A request with its known fields alone, or null when it is none. */
export function parseFetchRequest(value: unknown): FetchRequest | null {
  if (typeof value !== 'object' || value === null) return null;
  const { url, method, headers, body, decode, timeoutMs } = value as Record<string, unknown>;
  // One character more than is allowed: the broker says what is too long.
  if (typeof url !== 'string' || url.length > LONGEST_URL + 1) return null;
  if (typeof method !== 'string' || method.length > 32 || typeof decode !== 'boolean') return null;
  if (body !== null && !(body instanceof Uint8Array && body.byteLength <= MOST_REQUEST_BYTES)) return null;
  const isTime = typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= MOST_TIME_MS;
  if (timeoutMs !== null && !isTime) return null;
  const pairs = parseHeaders(headers);
  return pairs === null ? null : { url, method, headers: pairs, body, decode, timeoutMs };
}

function parseHeaders(value: unknown): [string, string][] | null {
  if (!Array.isArray(value) || value.length > MOST_HEADERS) return null;
  const pairs: [string, string][] = [];
  let characters = 0;
  for (let at = 0; at < value.length; at += 1) {
    const pair: unknown = value[at];
    if (!Array.isArray(pair) || pair.length !== 2) return null;
    const [name, content] = pair as unknown[];
    if (typeof name !== 'string' || typeof content !== 'string') return null;
    characters += name.length + content.length;
    pairs.push([name, content]);
  }
  return characters > MOST_HEADER_CHARACTERS ? null : pairs;
}
