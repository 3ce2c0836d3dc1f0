/** The types of calls: a line of the table, and the options that every call takes. Safe for the browser. */

/** How a call's answer is read. */
export type AnswerKind = 'json' | 'page' | 'text' | 'download' | 'events' | 'written' | 'nothing';

/** One line of the table of calls, as the route table has it. */
export interface CallLine {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` parameters; a last `*` is the path of a file. */
  path: string;
  /** `either`: bytes when an Upload is given, else JSON. */
  body: 'json' | 'bytes' | 'either' | null;
  query: boolean;
  answer: AnswerKind;
}

/**
 * Bytes to send. A stream is sent as it comes and can be sent once; anything else may be sent again when that is safe.
 */
export type Upload = Blob | ArrayBuffer | Uint8Array | string | ReadableStream<Uint8Array>;

/** Called with the bytes transferred so far and the total, null when unknown. */
export type Progress = (bytes: number, total: number | null) => void;

export interface CallOptions {
  /** Aborting it closes the connection: the call rejects with its reason, a running script is stopped. */
  signal?: AbortSignal;
  /** Additional headers, such as `X-Request-Id` or `If-Modified-Since`. */
  headers?: Record<string, string>;
  /** `If-Match`: only when the file's `ETag` is this one. It makes a write safe to repeat. */
  ifMatch?: string;
  /** `If-None-Match`: only when the file's `ETag` is another; `*`: only when there is none. */
  ifNoneMatch?: string;
  /**
   * `Idempotency-Key`: the server carries the request out once, and answers it as before when it is sent again. It
   * makes any call safe to repeat whose body and answer are no streams. A random UUID for each request.
   */
  idempotencyKey?: string;
  /** Part of a file, in bytes; `end` is inclusive, without it the rest. */
  range?: { start: number; end?: number };
  /** Called as an upload or a download proceeds. */
  onProgress?: Progress;
  /** How often to try again what is safe to repeat; 0 never. Default: the client's. */
  retries?: number;
}

/** How a file was written. */
export interface Written {
  /** Whether the file is new. */
  created: boolean;
  /** Its version now. */
  etag: string | null;
}
