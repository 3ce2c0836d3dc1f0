/** The door for web `Request` and `Response`, which the Next route files use. The same dispatcher, the same answers. */
import { Readable } from 'node:stream';
import { PEER_HEADER } from '../auth/address.ts';
import type { Answer, Sink } from './answer.ts';
import type { BodySource } from './body.ts';
import type { Dispatcher } from './dispatch.ts';

/** Answers one request. Never throws. */
export async function answerWeb(dispatcher: Dispatcher, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const { answer, requestId } = await dispatcher.answer({
    method: request.method,
    target: `${url.pathname}${url.search}`,
    headers: request.headers,
    peer: request.headers.get(PEER_HEADER),
    body: bodyOf(request),
    signal: () => request.signal,
  });
  return responseOf(answer, requestId, request.method === 'HEAD');
}

function bodyOf(request: Request): BodySource {
  const length = request.headers.get('content-length');
  return {
    length: request.body === null ? 0 : length === null ? null : Number(length),
    async read(onChunk) {
      const reader = request.body?.getReader();
      if (reader === undefined) return;
      try {
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) await onChunk(piece.value);
      } catch (error) {
        await reader.cancel().catch(() => undefined);
        throw error;
      }
    },
  };
}

function responseOf(answer: Answer, requestId: string, head: boolean): Response {
  const headers = new Headers({
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    if (typeof value === 'string') headers.set(name, value);
    else for (const one of value) headers.append(name, one);
  }
  const { body } = answer;
  const { status } = answer;
  if (body === undefined) return new Response(null, { status, headers });
  if ('stream' in body) return new Response(streamOf(body.stream), { status, headers });
  if ('outgoing' in body) {
    const { stream, bytes } = body.outgoing;
    if (bytes !== null) headers.set('content-length', String(bytes));
    return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, { status, headers });
  }
  if ('bytes' in body) {
    headers.set('content-length', String(body.bytes.byteLength));
    return new Response(head ? null : new Uint8Array(body.bytes), { status, headers });
  }
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return new Response(head ? null : 'text' in body ? body.text : JSON.stringify(body.json), { status, headers });
}

function streamOf(start: (sink: Sink) => void): ReadableStream<Uint8Array> {
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
      },
      pull(controller) {
        queued = 1 - (controller.desiredSize ?? 1);
      },
      cancel: () => gone.abort(),
    },
    { highWaterMark: 1, size: (chunk) => chunk.byteLength },
  );
}
