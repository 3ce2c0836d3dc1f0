/**
 * The adapter for Node's HTTP server: its requests and responses, without web objects in between. Owns what only
 * sockets have: unread bodies, clients that disconnect, slow readers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Writable } from 'node:stream';
import { WinterdockError } from '../base/errors.ts';
import { releaseBytes } from '../base/spent-bytes.ts';
import type { Arrival } from '../hosts/hop/hop-receiver.ts';
import type { Answer, StreamSink } from './answer.ts';
import type { BodySource } from './body.ts';
import { answerOf, type Dispatcher } from './dispatch.ts';

/** How long the rest of a refused body is read and discarded, so that its sender gets to see the answer. */
const DRAIN_MS = 30_000;

/** Answers one request, which another host may have sent on. Never throws. */
export async function answerNode(
  dispatcher: Dispatcher,
  req: IncomingMessage,
  res: ServerResponse,
  arrival: Arrival | null = null,
): Promise<void> {
  let controller: AbortController | null = null;
  const { answer, requestId } = await dispatcher.answer({
    method: req.method ?? 'GET',
    target: req.url ?? '/',
    headers: req.headers,
    peer: arrival === null ? (req.socket.remoteAddress ?? null) : arrival.address,
    arrival,
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
  const problemOf = (error: unknown) => dispatcher.problem(error, requestId);
  if (!res.destroyed) sendNode(answer, requestId, req, res, problemOf);
  else if (answer.body !== undefined && 'outgoing' in answer.body) answer.body.outgoing.stream.destroy();
}

/** The body of a request, not read yet. */
export function nodeBody(req: IncomingMessage, res: ServerResponse): BodySource {
  const length = req.headers['content-length'];
  return {
    ownsPieces: true,
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
        const cut = () => settle(() => reject(new WinterdockError('bad_json', 'The body ended before its end.')));
        req.on('data', take).on('end', end).on('close', cut).on('error', cut);
      });
    },
  };
}

/** Whether the client waits for `100 Continue` before it sends its body. */
export function wantsContinue(req: IncomingMessage): boolean {
  return req.headers.expect?.toLowerCase() === '100-continue';
}

/**
 * Sends an answer. The rest of an unread body is read and discarded. `problemOf`: the answer to a body that fails,
 * which logs it.
 */
export function sendNode(
  answer: Answer,
  requestId: string,
  req: IncomingMessage,
  res: ServerResponse,
  problemOf: (error: unknown) => Answer = (error) => answerOf(error, requestId),
): void {
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
    const begin = () => void (res.headersSent || res.writeHead(answer.status, headers as Record<string, string>));
    if (body.isLive) {
      begin();
      res.flushHeaders();
    }
    // A failure on one side ends the other; a cut connection tells the client that the download is incomplete. What
    // fails before its first byte is an answer like any other.
    pipeline(stream, downloadTo(res, begin), (error) => {
      // The client is gone: that is no failure.
      if (!error || (res.destroyed && error.code === 'ERR_STREAM_PREMATURE_CLOSE')) return;
      const problem = problemOf(error);
      if (!res.headersSent && !res.destroyed) sendNode(problem, requestId, req, res);
    });
    return;
  }
  let content: string | Uint8Array | undefined;
  if (body === undefined) {
    // HEAD: the length is the one that the handler gives, or unknown.
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
  // The client never got `100 Continue`: what comes next may be the body or another request, so the connection ends.
  if (unread && wantsContinue(req)) headers.connection = 'close';
  res.writeHead(answer.status, headers as Record<string, string>);
  if (unread && !wantsContinue(req)) endAfterBody(req, res, content);
  else res.end(content);
}

/**
 * Writes a download's pieces to a response, and gives the memory of each back when it is sent. `begin`: sends the
 * headers, before the first piece.
 */
function downloadTo(res: ServerResponse, begin: () => void): Writable {
  const sink = new Writable({
    write(piece: Uint8Array, _encoding, done) {
      begin();
      res.write(piece, (error) => {
        releaseBytes(piece);
        done(error);
      });
    },
    final(done) {
      begin();
      res.end(done);
    },
    destroy(error, done) {
      if (res.headersSent && !res.writableFinished) res.destroy();
      done(error);
    },
  });
  res.once('close', () => sink.destroy());
  return sink;
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

/** Sends the answer at once and ends the response when the sender is done: earlier would reset the connection. */
function endAfterBody(req: IncomingMessage, res: ServerResponse, content: string | Uint8Array | undefined): void {
  if (content === undefined) res.flushHeaders();
  else res.write(content);
  whenSent(req, () => {
    if (!res.writableEnded) res.end();
  });
}

/** Reads and discards the rest of a body; calls `done` once, when the sender is done or has taken too long. */
function whenSent(req: IncomingMessage, done: () => void): void {
  let isDone = false;
  const end = () => {
    clearTimeout(timer);
    if (!isDone) done();
    isDone = true;
  };
  const timer = setTimeout(() => req.destroy(), DRAIN_MS);
  timer.unref();
  req.once('end', end).once('close', end).once('error', end);
  req.resume();
}

/**
 * Makes a response end only when the sender of the request is done. For whoever ends it without looking at the request,
 * as Next does. Call it before the answer is written.
 */
export function endsAfterSender(req: IncomingMessage, res: ServerResponse): void {
  const end = res.end.bind(res) as () => ServerResponse;
  res.end = ((...args: unknown[]) => {
    const [chunk, encoding] = args;
    if (chunk != null && typeof chunk !== 'function') res.write(chunk, encoding as BufferEncoding);
    else res.flushHeaders();
    const done = args.find((one) => typeof one === 'function') as (() => void) | undefined;
    if (done !== undefined) res.once('finish', done);
    // Whoever was to read the body no longer does.
    req.removeAllListeners('data');
    whenSent(req, end);
    return res;
  }) as typeof res.end;
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
