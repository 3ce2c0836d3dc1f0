/**
 * Requests that are not valid HTTP: each gets a problem document from the error table, and its connection is closed.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { answerOf } from '../http/dispatch.ts';
import { ANSWER_HEADERS } from './headers.ts';

/** Milliseconds before a refused connection is closed. Closing at once would reset it before the client reads. */
const LINGER_MS = 1000;

/** Connections that are about to close: nothing more is read from them. */
const refused = new WeakSet<Socket>();

/**
 * Answers a request that Node's parser rejected. `underWay`: the unfinished answers of this connection. A request that
 * came too slowly gets no 408, because browsers repeat it by themselves.
 */
export function refuseMalformed(
  error: NodeJS.ErrnoException,
  socket: Socket,
  underWay: readonly ServerResponse[],
  log: Logger,
): void {
  if (refused.has(socket)) return;
  if (!socket.writable || error.code === 'ECONNRESET' || error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    socket.destroy();
    return;
  }
  const last = underWay.at(-1);
  if (last?.req.complete) {
    // The malformed request follows valid ones: they are answered first.
    refused.add(socket);
    last.once('close', () => socket.destroySoon());
    return;
  }
  // The body of the last request is malformed, and its answer has begun or waits for earlier ones.
  if (last?.headersSent || underWay.length > 1) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new WinterdockError('headers_too_large', 'The address and the headers are too large.', {
          hint: 'Together they may have 16 KiB.',
        })
      : new WinterdockError('bad_request', 'The request is not valid HTTP.');
  const id = last?.getHeader('x-request-id');
  refuseOnSocket(refusal, socket, log, { requestId: typeof id === 'string' ? id : undefined, why: error.code });
}

/** Writes a problem document to a bare socket and closes it. `requestId`: default, a new one. */
export function refuseOnSocket(
  refusal: WinterdockError,
  socket: Socket,
  log: Logger,
  { requestId = randomUUID(), why }: { requestId?: string | undefined; why?: string | undefined },
): void {
  const { status, headers, body } = answerOf(refusal, requestId);
  const title = body !== undefined && 'json' in body ? (body.json as { title: string }).title : '';
  const text = JSON.stringify(body !== undefined && 'json' in body ? body.json : {});
  const lines = Object.entries({
    ...ANSWER_HEADERS,
    ...headers,
    connection: 'close',
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(text)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  refused.add(socket);
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${lines.join('')}\r\n${text}`);
  const { remoteAddress: address } = socket;
  log.info({ status, code: refusal.code, why, address, requestId }, 'a request that is not valid HTTP was refused');
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** The error of a request without exactly one Host header (HTTP/1.0 needs none), or null. */
export function hostHeaderProblem(rawHeaders: readonly string[], version: string): WinterdockError | null {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts === 1 || (hosts === 0 && version === '1.0')) return null;
  const message = hosts === 0 ? 'The request has no Host header.' : 'The request has more than one Host header.';
  return new WinterdockError('bad_request', message);
}
