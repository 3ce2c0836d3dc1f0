/** The adapter for web `Request` and `Response`, which Next's route files use. Same dispatcher, same answers. */
import { Readable } from 'node:stream';
import { WinterdockError } from '../base/errors.ts';
import type { Answer, StreamSink } from './answer.ts';
import type { BodySource } from './body.ts';
import type { Dispatcher } from './dispatch.ts';

/** The connection's facts that a web `Request` lacks, and hooks that a `Response` lacks. Its owner passes it on. */
export interface Wire {
  /** The request target as it was sent: not decoded, not normalised. */
  readonly target: string;
  /** The address of the other end of the connection. */
  readonly peer: string | null;
  /** Sends `100 Continue` to a client that waits for it. */
  goOn(): void;
  /** Called with the length of the answer, null when unknown: Next removes the `Content-Length` of a `Response`. */
  answers(bytes: number | null): void;
}

/**
 * Answers one request. Never throws. Without a wire the target is the normalised one of the `Request`, and the address
 * of the client is unknown.
 */
export async function answerWeb(dispatcher: Dispatcher, request: Request, wire: Wire | null = null): Promise<Response> {
  const { answer, requestId } = await dispatcher.answer({
    method: request.method,
    target: wire?.target ?? targetOf(request),
    headers: request.headers,
    peer: wire?.peer ?? null,
    body: bodyOf(request, wire),
    signal: () => request.signal,
  });
  return responseOf(answer, requestId, request.method === 'HEAD', wire);
}

function targetOf(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return `${pathname}${search}`;
}

function bodyOf(request: Request, wire: Wire | null): BodySource {
  const length = request.headers.get('content-length');
  return {
    length: request.body === null ? 0 : length === null ? null : Number(length),
    async read(onChunk) {
      const reader = request.body?.getReader();
      if (reader === undefined) return;
      wire?.goOn();
      try {
        for (let piece = await next(reader); !piece.done; piece = await next(reader)) await onChunk(piece.value);
      } catch (error) {
        await reader.cancel().catch(() => undefined);
        throw error;
      }
    },
  };
}

/** The next piece of a body. Throws `bad_json` when its sender went away. */
async function next(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (error) {
    throw new WinterdockError('bad_json', 'The body ended before its end.', { cause: error });
  }
}

function responseOf(answer: Answer, requestId: string, head: boolean, wire: Wire | null): Response {
  const headers = new Headers({
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    if (typeof value === 'string') headers.set(name, value);
    else for (const one of value) headers.append(name, one);
  }
  const { body, status } = answer;
  const respond = (content: BodyInit | null, bytes: number | null): Response => {
    if (bytes !== null) headers.set('content-length', String(bytes));
    wire?.answers(bytes);
    return new Response(content, { status, headers });
  };
  if (body === undefined) {
    // HEAD: the length is the one that the handler gives, or unknown.
    const declared = headers.get('content-length');
    if (declared !== null) return respond(null, Number(declared));
    return respond(null, status === 204 || status === 304 || head ? null : 0);
  }
  if ('stream' in body) return respond(streamOf(body.stream), null);
  if ('outgoing' in body) {
    const stream = Readable.toWeb(body.outgoing.stream) as ReadableStream<Uint8Array>;
    return respond(body.isLive ? stream.pipeThrough(atOnce()) : stream, body.outgoing.bytes);
  }
  if (!('bytes' in body) && !headers.has('content-type')) headers.set('content-type', 'application/json');
  const content = 'bytes' in body ? body.bytes : Buffer.from('text' in body ? body.text : JSON.stringify(body.json));
  return respond(head ? null : new Uint8Array(content), content.byteLength);
}

/** An empty first chunk, which makes the headers go out at once. */
function atOnce(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({ start: (controller) => controller.enqueue(new Uint8Array(0)) });
}

function streamOf(start: (sink: StreamSink) => void): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  let queued = 0;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const finish = (end: () => void) => {
          if (gone.signal.aborted) return;
          gone.abort();
          end();
        };
        start({
          write(piece) {
            if (gone.signal.aborted) return;
            controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
            queued = 1 - (controller.desiredSize ?? 1);
          },
          end: () => finish(() => controller.close()),
          drop: () => finish(() => controller.error(new Error('The client was too slow.'))),
          get queuedBytes() {
            return queued;
          },
          gone: gone.signal,
        });
        // An empty chunk makes the headers go out at once.
        if (!gone.signal.aborted && queued === 0) controller.enqueue(new Uint8Array(0));
      },
      pull(controller) {
        queued = 1 - (controller.desiredSize ?? 1);
      },
      cancel: () => gone.abort(),
    },
    { highWaterMark: 1, size: (chunk) => chunk.byteLength },
  );
}
