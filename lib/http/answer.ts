/** What a handler returns: status, headers and body. The adapters make bytes on a socket or a web Response of it. */
import type { SizedStream } from '../operations/streams.ts';

export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The client's end of a stream. Writing after it has disconnected does nothing. */
export interface StreamSink {
  write(piece: string | Uint8Array): void;
  end(): void;
  /** Cuts the connection, so that the client sees an incomplete answer. */
  drop(): void;
  /** Bytes written that the client has not taken yet. */
  readonly queuedBytes: number;
  /** Aborted when the client has disconnected, or once the stream has ended. */
  readonly gone: AbortSignal;
}

export interface Answer {
  status: number;
  headers?: AnswerHeaders;
  body?:
    | { json: unknown }
    | { text: string }
    | { bytes: Uint8Array }
    | { stream: (sink: StreamSink) => void }
    /** `isLive`: the headers are sent at once, however late the first piece comes. */
    | { outgoing: SizedStream; isLive?: boolean };
}

export const json = (status: number, value: unknown, headers?: AnswerHeaders): Answer => ({
  status,
  headers,
  body: { json: value },
});

export const empty = (status: number, headers?: AnswerHeaders): Answer => ({ status, headers });

/** Headers of a download, under a name of letters, digits, dots and dashes. It never runs in our origin. */
export const attachmentHeaders = (type: string, name: string): AnswerHeaders => ({
  'content-type': type,
  'content-disposition': `attachment; filename="${name}"`,
  'content-security-policy': "sandbox; default-src 'none'",
});

/** A download, streamed. */
export const attachment = (outgoing: SizedStream, headers: AnswerHeaders): Answer => ({
  status: 200,
  headers,
  body: { outgoing },
});

/** A checkout, streamed; a header says what it lacks. */
export const checkoutAnswer = (
  { outgoing, leftOut }: { outgoing: SizedStream; leftOut: string | null },
  headers: AnswerHeaders,
): Answer => attachment(outgoing, leftOut === null ? headers : { ...headers, 'x-left-out': leftOut });

const EVENT_STREAM_HEADERS: AnswerHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** A `text/event-stream` answer. */
export const eventStream = (stream: (sink: StreamSink) => void): Answer => ({
  status: 200,
  headers: EVENT_STREAM_HEADERS,
  body: { stream },
});

/** What HTTP allows in the value of a header, as Node checks it. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/g;
/** Characters of one value: all headers of a request may have 16 KiB in Node. */
const MOST_HEADER = 8192;

/**
 * Headers that can be sent, whatever they were made from: without control characters, and within bounds. A value that
 * breaks the rules would make the whole answer an error.
 */
export function soundHeaders(headers: AnswerHeaders): AnswerHeaders {
  const isSound = (value: string) => value.length <= MOST_HEADER && value.search(NOT_IN_HEADERS) < 0;
  if (Object.values(headers).every((value) => (typeof value === 'string' ? isSound(value) : value.every(isSound))))
    return headers;
  const sound = (value: string) => value.slice(0, MOST_HEADER).replace(NOT_IN_HEADERS, '');
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? sound(value) : value.map(sound)]),
  );
}

/** One server-sent event; `data` becomes one line of JSON. */
export function eventText(event: string | null, data: unknown, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === null ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}
