/**
 * Sends calls and reads their answers: addresses, keys, bodies, and retries of what is safe to repeat. Knows no
 * operation by name. Safe for the browser.
 */
import { pathOf, searchOf } from './address.ts';
import { Download, isUpload, sizeOf, uploadBody } from './bytes.ts';
import type { CallLine, CallOptions, Upload, Written } from './call.ts';
import { ApiError, errorFromResponse, networkError, unexpectedAnswer } from './error.ts';
import { pageFromResponse } from './pages.ts';
import { addressOfClient, whereaboutsIn } from './whereabouts.ts';

export interface ClientOptions {
  /**
   * The server's address. Default: `WINTERDOCK_URL` of the program's environment, else this machine
   * (`http://localhost:3000`); in a browser, and when it is empty, where the page came from.
   */
  url?: string;
  /**
   * A key, or what gives one before each call. Default: `WINTERDOCK_KEY` of the program's environment. Null, and none
   * in a browser: the browser's session is used.
   */
  key?: string | (() => string | Promise<string>) | null;
  /** Headers of every call. */
  headers?: Record<string, string>;
  /** Replaces the platform's `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Retries of what is safe to repeat. Default 2. */
  retries?: number;
}

/** A call with everything it takes. */
interface Call {
  line: CallLine;
  parameters: readonly string[];
  query?: object;
  body?: unknown;
  /** What the answer should be, when the line does not say it. */
  accept?: string;
  options: CallOptions;
}

export interface Transport {
  readonly url: string;
  /** The server's answer to a call that it took. Rejects with ApiError, or with the reason of the call's own signal. */
  send(call: Call): Promise<Response>;
  /** The answer in the shape that the call's line says. */
  answer(call: Call): Promise<unknown>;
}

const RETRIES = 2;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 30_000;

/** Waits; rejects with the signal's reason when that is aborted before. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Exponential backoff from 0.2 s with up to half of it as jitter, so that clients do not return all at once. */
export function backoffMs(attempt: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
}

/** Whether a call is idempotent: reads, deletions, writes that name the version they replace, and what has a key. */
function isRepeatable({ line, body, options }: Call): boolean {
  if (body instanceof ReadableStream) return false;
  if (options.idempotencyKey !== undefined) return true;
  if (line.method === 'GET' || line.method === 'HEAD' || line.method === 'DELETE') return true;
  return line.method === 'PUT' && options.ifMatch !== undefined;
}

/** Whether the server says that it has done nothing yet and will soon: any such call is safe to repeat. */
const isUndone = (error: ApiError) =>
  error.code === 'unverified' || (error.code === 'not_replicated' && !isCommitted(error));

/** Whether the server says that it did it, and cannot vouch for it yet. */
const isCommitted = ({ code, problem }: ApiError) => code === 'not_replicated' && problem?.committed === 'local';

/** How long to wait before the next attempt, or null for none. */
function waitFor(error: ApiError, attempt: number): number | null {
  if (error.code === 'network') return backoffMs(attempt);
  const { status, retryAfterSeconds } = error;
  if ((status !== 429 && status !== 503 && !isUndone(error)) || retryAfterSeconds === null) return null;
  const wait = retryAfterSeconds * 1000;
  return wait > LONGEST_WAIT_MS ? null : Math.max(wait, backoffMs(attempt));
}

function rangeHeader({ start, end }: { start: number; end?: number }): string {
  return `bytes=${start}-${end ?? ''}`;
}

/** Makes the transport of a client. Throws a TypeError when the address is none. */
export function createTransport(clientOptions: ClientOptions): Transport {
  const environment = whereaboutsIn();
  const url = addressOfClient(clientOptions.url, environment);
  const given = clientOptions.key === undefined ? environment.key : clientOptions.key;
  const send = clientOptions.fetch ?? globalThis.fetch.bind(globalThis);

  const requestOf = async (call: Call): Promise<RequestInit & { duplex?: 'half' }> => {
    const { line, body, options } = call;
    const headers = new Headers({ ...clientOptions.headers, ...options.headers });
    const key = typeof given === 'function' ? await given() : given;
    if (key !== null) headers.set('authorization', `Bearer ${key}`);
    if (call.accept !== undefined) headers.set('accept', call.accept);
    if (options.ifMatch !== undefined) headers.set('if-match', options.ifMatch);
    if (options.ifNoneMatch !== undefined) headers.set('if-none-match', options.ifNoneMatch);
    if (options.idempotencyKey !== undefined) headers.set('idempotency-key', options.idempotencyKey);
    if (options.range !== undefined) headers.set('range', rangeHeader(options.range));
    const request: RequestInit & { duplex?: 'half' } = {
      method: line.method,
      headers,
      // A redirected POST would arrive as a GET: the address must be the server's own.
      redirect: 'error',
      signal: options.signal,
    };
    const sendsJson = line.body === 'json' || (line.body === 'either' && !isUpload(body));
    if (sendsJson && body !== undefined) {
      headers.set('content-type', 'application/json');
      request.body = JSON.stringify(body);
    } else if (line.body !== null && !sendsJson) {
      const upload = (body ?? '') as Upload;
      if (!headers.has('content-type')) headers.set('content-type', 'application/octet-stream');
      request.body = uploadBody(upload, options.onProgress);
      if (request.body instanceof ReadableStream) {
        request.duplex = 'half';
        const size = sizeOf(upload);
        if (size !== null) headers.set('content-length', String(size));
      }
    }
    return request;
  };

  const attemptOnce = async <T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> => {
    const address = `${url}${pathOf(call.line, call.parameters)}${searchOf(call.query)}`;
    const request = await requestOf(call);
    try {
      const response = await send(address, request);
      if (!response.ok && response.status !== 304) throw await errorFromResponse(response);
      return await read(response);
    } catch (error) {
      if (call.options.signal?.aborted === true) throw call.options.signal.reason;
      throw error instanceof ApiError ? error : networkError(url === '' ? address : url, error);
    }
  };

  const attempt = async <T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> => {
    const wanted = call.options.retries ?? clientOptions.retries ?? RETRIES;
    const repeatable = isRepeatable(call);
    const isRead = call.line.method === 'GET' || call.line.method === 'HEAD';
    let lost = false;
    for (let attempts = 1; ; attempts++) {
      try {
        return await attemptOnce(call, read);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // The answer to an earlier attempt was lost, and it seems that one did it.
        const done = lost && call.line.method === 'DELETE' && (error.status === 404 || error.status === 410);
        if (done) return undefined as T;
        lost ||= error.code === 'network';
        const retries = repeatable || (isUndone(error) && !(call.body instanceof ReadableStream)) ? wanted : 0;
        const isFound = isRead || call.options.idempotencyKey !== undefined;
        const isOver = attempts > retries || (isCommitted(error) && !isFound);
        const wait = isOver ? null : waitFor(error, attempts);
        if (wait === null) throw error;
        await pause(wait, call.options.signal);
      }
    }
  };

  return {
    url,
    send: (call) => attempt(call, async (response) => response),
    answer: (call) => attempt(call, (response) => readAnswer(response, call)),
  };
}

async function readAnswer(response: Response, { line, options }: Call): Promise<unknown> {
  switch (line.answer) {
    case 'nothing':
      await response.body?.cancel();
      return undefined;
    case 'text':
      return response.text();
    case 'written': {
      await response.body?.cancel();
      return { created: response.status === 201, etag: response.headers.get('etag') } satisfies Written;
    }
    case 'download':
    case 'events':
      return new Download(response, options);
    case 'page':
    case 'json': {
      const value = await jsonOf(response);
      if (line.answer === 'json') return value;
      if (!Array.isArray(value)) throw unexpectedAnswer(response);
      return pageFromResponse(value, response.headers);
    }
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unexpectedAnswer(response, error);
  }
}
