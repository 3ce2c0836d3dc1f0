/** The door for web `Request` and `Response`, which the Next route files use. The same dispatcher, the same answers. */
import { Readable } from 'node:stream';
import { WinterdockError } from '../base/errors.ts';
import type { Answer, StreamSink } from './answer.ts';
import type { BodySource } from './body.ts';
import type { Dispatcher } from './dispatch.ts';

/**
 * What a `Request` does not have, and what becomes of a `Response` only beside it. Whoever owns the connection gives
 * it.
 */
export interface Wire {
  /** The request target as it was sent: not decoded, not normalised. */
  readonly target: string;
  /** The address of the other end of the connection. */
  readonly peer: string | null;
  /** Tells a client that waits for it to send its body. */
  goOn(): void;
  /** There is an answer, of so many bytes, or of as many as come: Next takes out the length that a `Response` has. */
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
    throw new WinterdockError('bad_json', 'The body ended in its middle.', { cause: error });
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
    // What HEAD leaves out has the length that its handler says, or one that nobody knows.
    const said = headers.get('content-length');
    if (said !== null) return respond(null, Number(said));
    return respond(null, status === 204 || status === 304 || head ? null : 0);
  }
  if ('stream' in body) return respond(streamOf(body.stream), null);
  if ('outgoing' in body) {
    return respond(Readable.toWeb(body.outgoing.stream) as ReadableStream<Uint8Array>, body.outgoing.bytes);
  }
  if (!('bytes' in body) && !headers.has('content-type')) headers.set('content-type', 'application/json');
  const content = 'bytes' in body ? body.bytes : Buffer.from('text' in body ? body.text : JSON.stringify(body.json));
  return respond(head ? null : new Uint8Array(content), content.byteLength);
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
        // The head goes out before there is anything to say.
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
