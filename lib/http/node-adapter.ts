/**
 * The door for Node's own HTTP server: requests in, bytes out, without building web objects in between. Owns what is
 * peculiar to sockets: bodies that nobody reads, clients that go away, slow readers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { WinterdockError } from '../base/errors.ts';
import type { Answer, StreamSink } from './answer.ts';
import type { BodySource } from './body.ts';
import type { Dispatcher } from './dispatch.ts';

/** How long a body that was refused is still read away, so that its sender gets to see the answer. */
const DRAIN_MS = 30_000;

/** Answers one request. Never throws. */
export async function answerNode(dispatcher: Dispatcher, req: IncomingMessage, res: ServerResponse): Promise<void> {
  let controller: AbortController | null = null;
  const { answer, requestId } = await dispatcher.answer({
    method: req.method ?? 'GET',
    target: req.url ?? '/',
    headers: req.headers,
    peer: req.socket.remoteAddress ?? null,
    body: nodeBody(req, res),
    signal() {
      if (controller === null) {
        const made = new AbortController();
        controller = made;
        if (res.destroyed) made.abort();
        else res.once('close', () => res.writableFinished || made.abort());
      }
      return controller.signal;
    },
  });
  if (!res.destroyed) sendNode(answer, requestId, req, res);
  else if (answer.body !== undefined && 'outgoing' in answer.body) answer.body.outgoing.stream.destroy();
}

/** The body of a request, not read yet. */
export function nodeBody(req: IncomingMessage, res: ServerResponse): BodySource {
  const length = req.headers['content-length'];
  return {
    length: length === undefined ? (req.headers['transfer-encoding'] === undefined ? 0 : null) : Number(length),
    read(onChunk) {
      if (wantsContinue(req)) {
        res.writeContinue();
        delete req.headers.expect;
      }
      return new Promise((resolve, reject) => {
        const settle = (finish: () => void) => {
          req.off('data', take).off('end', end).off('close', cut).off('error', cut);
          finish();
        };
        const take = (chunk: Uint8Array) => {
          try {
            const taken = onChunk(chunk);
            if (taken === undefined) return;
            req.pause();
            taken.then(
              () => req.resume(),
              (error: unknown) => settle(() => reject(error)),
            );
          } catch (error) {
            settle(() => reject(error));
          }
        };
        const end = () => settle(resolve);
        const cut = () => settle(() => reject(new WinterdockError('bad_json', 'The body ended in its middle.')));
        req.on('data', take).on('end', end).on('close', cut).on('error', cut);
      });
    },
  };
}

/** Whether the client waits to be told to send its body. */
export function wantsContinue(req: IncomingMessage): boolean {
  return req.headers.expect?.toLowerCase() === '100-continue';
}

/** Sends an answer. A body that is still coming in is read away first and kept nowhere. */
export function sendNode(answer: Answer, requestId: string, req: IncomingMessage, res: ServerResponse): void {
  const { body } = answer;
  const headers: Record<string, string | readonly string[] | number> = {
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...answer.headers,
  };
  if (body !== undefined && 'stream' in body) {
    res.writeHead(answer.status, headers as Record<string, string>);
    res.flushHeaders();
    body.stream(sinkOf(res));
    return;
  }
  if (body !== undefined && 'outgoing' in body) {
    const { stream, bytes } = body.outgoing;
    if (bytes !== null) headers['content-length'] = bytes;
    res.writeHead(answer.status, headers as Record<string, string>);
    // Whichever side fails ends the other; a cut connection tells the client that what it has is not whole.
    pipeline(stream, res, () => {});
    return;
  }
  let content: string | Uint8Array | undefined;
  if (body === undefined) {
    // What HEAD leaves out has the length that its handler says, or one that nobody knows.
    if (answer.status !== 204 && answer.status !== 304 && req.method !== 'HEAD') headers['content-length'] ??= 0;
  } else if ('bytes' in body) {
    content = body.bytes;
    headers['content-length'] = content.byteLength;
  } else {
    content = 'text' in body ? body.text : JSON.stringify(body.json);
    headers['content-type'] ??= 'application/json';
    headers['content-length'] = Buffer.byteLength(content);
  }
  const unread = !req.complete && hasBody(req);
  // A client that was not told to go on sends no body: the connection ends, as what comes next could be either.
  if (unread && wantsContinue(req)) headers.connection = 'close';
  res.writeHead(answer.status, headers as Record<string, string>);
  if (unread && !wantsContinue(req)) endAfterBody(req, res, content);
  else res.end(content);
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

/**
 * The whole answer goes out at once; the connection is let go only when the sender is done, or it would be cut by a
 * reset.
 */
function endAfterBody(req: IncomingMessage, res: ServerResponse, content: string | Uint8Array | undefined): void {
  if (content === undefined) res.flushHeaders();
  else res.write(content);
  const end = () => {
    clearTimeout(timer);
    if (!res.writableEnded) res.end();
  };
  const timer = setTimeout(() => req.destroy(), DRAIN_MS);
  timer.unref();
  req.once('end', end).once('close', end).once('error', end);
  req.resume();
}

function sinkOf(res: ServerResponse): StreamSink {
  const controller = new AbortController();
  res.once('close', () => controller.abort());
  return {
    write(piece) {
      if (!res.destroyed && !res.writableEnded) res.write(piece);
    },
    end() {
      if (!res.writableEnded) res.end();
    },
    drop: () => res.destroy(),
    get queuedBytes() {
      return res.writableLength;
    },
    gone: controller.signal,
  };
}
