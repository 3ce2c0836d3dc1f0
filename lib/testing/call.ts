/** For tests: one HTTP request and its whole answer, parsed. Knows nothing of the engine. */
import { request } from 'node:http';

/** JSON of unknown shape, to be read freely and proved by what a test expects. */
interface Loose {
  readonly [member: string]: Loose;
}

export interface Got<T = Loose> {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
  text: string;
  /** The parsed body; an empty object when it is not JSON. */
  json: T;
}

interface CallOptions {
  headers?: Record<string, string>;
  /** Bearer key; null sends none. Default: the server's. */
  key?: string | null;
  /** Ends the request. */
  signal?: AbortSignal;
}

export type Call = <T = Loose>(method: string, path: string, body?: unknown, options?: CallOptions) => Promise<Got<T>>;

/**
 * Makes a caller of the server at `url`. `path` goes out as it is: neither encoded nor normalised. A body that is bytes
 * or a string is sent as it is, anything else as JSON.
 */
export function caller(url: string, serverKey: string): Call {
  const { hostname, port } = new URL(url);
  return (method, path, body, { headers = {}, key = serverKey, signal } = {}) =>
    new Promise((resolve, reject) => {
      const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
      const sent = raw ? body : JSON.stringify(body);
      const req = request(
        {
          hostname,
          port,
          method,
          path,
          agent: false,
          ...(signal === undefined ? {} : { signal }),
          headers: {
            ...(key === null ? {} : { authorization: `Bearer ${key}` }),
            ...(raw ? {} : { 'content-type': 'application/json' }),
            ...(sent === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent)) }),
            ...headers,
          },
        },
        (res) => {
          const chunks: Buffer[] = [];
          res.on('data', (chunk: Buffer) => chunks.push(chunk));
          res.on('error', reject);
          res.on('end', () => {
            const bytes = Buffer.concat(chunks);
            const text = bytes.toString();
            const flat = Object.entries(res.headers).map(([name, value]) => [name, String(value)]);
            const isJson = /json(?:;|$)/.test(res.headers['content-type'] ?? '') && text !== '';
            resolve({
              status: res.statusCode ?? 0,
              headers: Object.fromEntries(flat),
              bytes,
              text,
              json: isJson ? JSON.parse(text) : {},
            });
          });
        },
      );
      req.on('error', reject);
      req.end(sent);
    });
}
