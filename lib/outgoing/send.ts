/**
 * Sends one request past the guard and reads a bounded answer: no redirect is followed, no connection is kept, the
 * certificate is verified for the name, and everything together has one deadline. Knows nothing of who asks.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isWinterdockError, WinterdockError } from '../base/errors.ts';
import { readInTurns } from '../base/read-in-turns.ts';
import type { AddressPolicy } from './address-policy.ts';

export interface OutgoingRequest {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string | string[]>>;
  body: string | Uint8Array;
  /** For everything, from the look-up of the name to the end of the answer. */
  timeoutMs: number;
  /** Bytes of the answer's body that are read. What is longer is cut off, and the connection with it. */
  mostBytes: number;
  /** Ends it early. */
  signal?: AbortSignal;
}

export interface OutgoingAnswer {
  status: number;
  statusText: string;
  headers: IncomingMessage['headers'];
  /** Names and values in turn, as they came. */
  rawHeaders: string[];
  body: Buffer;
  /** The body was longer than was read, or did not end in time. */
  isCut: boolean;
  /** Why it was: it was too long or in too many pieces, the time was up, or the connection broke. */
  cut: 'size' | 'pieces' | 'time' | 'broken' | null;
}

/** What kind of failure left a request without an answer. */
export type SendFailure = 'resolve' | 'connect' | 'tls' | 'timeout' | 'broken';

const HEADER_BYTES = 16 * 1024;
/** Of an answer: each costs the server the same time, however small it is. 16 MiB by the packet are 12 000. */
const MOST_PIECES = 65_536;
const UPGRADED = 'UPGRADED';
/** Methods whose requests say that they have no body. */
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Throws `forbidden` for what the guard refuses, and `capacity` with a sentence without any detail of this machine when
 * there is no answer.
 */
export async function sendOutgoing(guard: AddressPolicy, request: OutgoingRequest): Promise<OutgoingAnswer> {
  const { url, timeoutMs, signal } = request;
  const deadline = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]);
  try {
    guard.parse(url.href);
    const addresses = await untilAborted(guard.resolve(url), deadline);
    // Called for names alone: an address in the URL is the one that the guard has seen.
    const pinned: LookupFunction = (_name, options, callback) => {
      const [first] = addresses;
      if (options.all === true) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    };
    return await exchange(request, pinned, deadline);
  } catch (error) {
    if (isWinterdockError(error)) throw error;
    throw new WinterdockError('capacity', sentenceOf(error, signal, timeoutMs), { cause: error });
  }
}

function exchange(
  { url, method, headers, body, mostBytes }: OutgoingRequest,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  return new Promise((resolve, reject) => {
    const isPlain = url.protocol === 'http:';
    // An agent of its own: no proxy of the environment, no connection that another request has left.
    const agent = isPlain ? new HttpAgent({ keepAlive: false }) : new HttpsAgent({ keepAlive: false });
    const bytes = Buffer.byteLength(body);
    const length = bytes > 0 || WITH_BODY.has(method) ? { 'content-length': String(bytes) } : {};
    const sent = (isPlain ? httpRequest : httpsRequest)(url, {
      method,
      headers: { ...headers, ...length, connection: 'close' },
      agent,
      lookup,
      signal,
      maxHeaderSize: HEADER_BYTES,
      ...(isPlain ? {} : { rejectUnauthorized: true, minVersion: 'TLSv1.2' as const }),
    });
    sent.on('error', reject);
    // Nobody asked for another protocol: Node closes such a connection without a word.
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(Object.assign(new Error('upgraded'), { code: UPGRADED }));
    });
    sent.on('response', (response) => {
      readInTurns(response);
      const read = new BoundedBytes(mostBytes);
      const end = (cut: OutgoingAnswer['cut']) => {
        sent.destroy();
        const { statusCode: status = 0, statusMessage: statusText = '', headers: given, rawHeaders } = response;
        resolve({ status, statusText, headers: given, rawHeaders, body: read.bytes, isCut: cut !== null, cut });
      };
      const endEarly = () => end(signal.aborted ? 'time' : 'broken');
      let pieces = 0;
      response.on('data', (piece: Buffer) => {
        pieces += 1;
        if (!read.add(piece)) end('size');
        else if (pieces > MOST_PIECES) end('pieces');
      });
      response.on('end', () => end(null));
      // The status has come: a body that breaks off or is too slow does not take it back.
      sent.off('error', reject).on('error', endEarly);
      response.on('error', endEarly);
      response.on('close', () => (response.complete ? end(null) : endEarly()));
    });
    sent.end(body);
  });
}

/** Bytes that come in pieces, kept in one run of memory: however small the pieces are, they take what they hold. */
class BoundedBytes {
  readonly #most: number;
  #run = Buffer.alloc(0);
  #filled = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get bytes(): Buffer {
    return this.#run.subarray(0, this.#filled);
  }

  /** False when there are more than are kept. */
  add(piece: Buffer): boolean {
    const needed = Math.min(this.#filled + piece.length, this.#most);
    if (needed > this.#run.length) {
      const larger = Buffer.alloc(Math.min(Math.max(2 * this.#run.length, needed), this.#most));
      this.#run.copy(larger, 0, 0, this.#filled);
      this.#run = larger;
    }
    const copied = piece.copy(this.#run, this.#filled);
    this.#filled += copied;
    return copied === piece.length;
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** What each code of the system means for who reads it. */
const CODES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name does not resolve.',
  EAI_AGAIN: 'The name server does not answer.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before an answer.',
  EPIPE: 'The connection was closed before an answer.',
  ETIMEDOUT: 'The connection took too long.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The network cannot be reached.',
  [UPGRADED]: 'The server changed to another protocol.',
  HPE_HEADER_OVERFLOW: 'The headers of the answer are too long.',
};
const CERTIFICATE = /^(?:CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

const NOT_FOUND = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
const NOT_TRUSTED = /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'EPERM']);

/** The kind of what `sendOutgoing` threw for want of an answer. */
export function failureOf(error: unknown): SendFailure {
  const cause = error instanceof Error ? error.cause : null;
  if (!(cause instanceof Error)) return 'broken';
  if (cause.name === 'TimeoutError' || cause.name === 'AbortError') return 'timeout';
  const code = 'code' in cause ? String(cause.code) : '';
  if (NOT_FOUND.has(code)) return 'resolve';
  if (NOT_TRUSTED.test(code)) return 'tls';
  return code === 'ETIMEDOUT' ? 'timeout' : NOT_CONNECTED.has(code) ? 'connect' : 'broken';
}

function sentenceOf(error: unknown, signal: AbortSignal | undefined, timeoutMs: number): string {
  if (signal?.aborted) return 'The server stopped meanwhile.';
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return `No answer within ${timeoutMs / 1000} s.`;
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (CERTIFICATE.test(code)) return `The certificate is not trusted for this name (${code}).`;
  return CODES[code] ?? (code.startsWith('HPE_') ? 'The answer is not HTTP.' : 'The connection failed.');
}
