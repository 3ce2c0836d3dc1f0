/**
 * The HTTP server: which requests are the API's, which the auth library's, which the console's, and how connections begin and
 * end. Knows no route.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { readBody } from '../api/body.ts';
import { problemAnswer, requestIdOf } from '../api/dispatch.ts';
import { answerNode, nodeBody, sendNode } from '../api/node-door.ts';
import { PEER_HEADER } from '../auth/address.ts';
import { isSafeMethod, isSameOrigin } from '../auth/origin.ts';
import { WinterdockError } from '../errors.ts';
import type { Host } from '../host.ts';
import { ANSWER_HEADERS, dropProxyHeaders, pagePolicy } from './headers.ts';

/** Answers what is not the API's: the console. */
export type PageHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void> | void;

export interface ListenOptions {
  /** 0 takes any free one. */
  port: number;
  address: string;
  pages?: PageHandler;
  /** Whether pages come from their sources and need what hot reloading needs. */
  dev?: boolean;
  /** How long a request's headers may take, in milliseconds. */
  headersMs?: number;
  /** How long a client may send nothing of a body that is waited for, or take nothing of an answer, in milliseconds; 0: for ever. */
  stallMs?: number;
}

export interface Listener {
  /** Port that it listens on. */
  readonly port: number;
  readonly server: Server;
  /** Takes no more connections, lets answers under way finish for `graceMs`, then cuts them. Idempotent. */
  close(graceMs: number): Promise<void>;
}

/** Longer than the idle time of common proxies, so that they and not the server let go of an idle connection. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 80_000;
const STALL_MS = 120_000;
/** Largest body of the auth library's routes. */
const AUTH_BODY_BYTES = 64 * 1024;

/**
 * Starts listening. `pages` answers what is not the API's; without it that is a 404. Throws the error of `listen`
 * (`EADDRINUSE`, `EACCES`, …).
 */
export async function listen(host: Host, options: ListenOptions): Promise<Listener> {
  const { config, dispatcher, log } = host;
  const { headersMs = HEADERS_MS, dev = false } = options;
  // Hot reloading keeps a connection of its own for as long as a page is open.
  const { stallMs = dev ? 0 : STALL_MS } = options;
  let closing = false;

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    // A client that goes away in the middle of its request is no error of ours.
    req.on('error', () => undefined);
    res.on('error', () => undefined);
    for (const [name, value] of Object.entries(ANSWER_HEADERS)) res.setHeader(name, value);
    if (!config.trustProxy) dropProxyHeaders(req.headers);
    delete req.headers['content-security-policy-report-only'];
    req.url = ownTarget(req.url ?? '/');
    const target = req.url;
    if (closing) {
      res.setHeader('connection', 'close');
      return refuse(
        req,
        res,
        new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 }),
      );
    }
    if (/^\/api\/auth(?:[/?]|$)/.test(target)) return answerAuth(host, req, res);
    if (dispatcher.owns(target)) return answerNode(dispatcher, req, res);
    if (options.pages !== undefined) return answerPage(options.pages, req, res);
    return refuse(req, res, new WinterdockError('not_found', 'There is nothing at this address.'));
  };

  const answerPage = (pages: PageHandler, req: IncomingMessage, res: ServerResponse): Promise<void> | void => {
    if (!isSafeMethod(req.method ?? 'GET')) {
      if (!isSameOrigin(req.headers, config)) {
        return refuse(req, res, new WinterdockError('forbidden', 'This may only be asked from the console itself.'));
      }
      // Next compares the origin with the host once more, and knows no public address: what is proved is told to it.
      const { origin } = req.headers;
      if (origin !== undefined && URL.canParse(origin)) req.headers['x-forwarded-host'] = new URL(origin).host;
    }
    // Pages and their actions name the request in the ledger by the same id.
    const requestId = requestIdOf(req.headers);
    req.headers['x-request-id'] = requestId;
    req.headers[PEER_HEADER] = req.socket.remoteAddress ?? '';
    res.setHeader('x-request-id', requestId);
    if (!(req.url ?? '/').startsWith('/_next/static/')) {
      const policy = pagePolicy(randomBytes(16).toString('base64'), { dev });
      req.headers['content-security-policy'] = policy;
      res.setHeader('content-security-policy', policy);
    }
    return pages(req, res);
  };

  const refuse = (req: IncomingMessage, res: ServerResponse, error: unknown) => {
    const requestId = requestIdOf(req.headers);
    sendNode(problemAnswer(error, requestId, log), requestId, req, res);
  };

  const answer = (req: IncomingMessage, res: ServerResponse) => {
    const started = performance.now();
    const { socket } = req;
    underWay.get(socket)?.add(res);
    res.once('close', () => {
      underWay.get(socket)?.delete(res);
      if (closing) cutIdle();
      if (!log.isLevelEnabled('info')) return;
      const path = (req.url ?? '').split('?', 1)[0]?.slice(0, 500);
      const tookMs = Math.round((performance.now() - started) * 10) / 10;
      log.info(
        { method: req.method, path, status: res.statusCode, tookMs, requestId: res.getHeader('x-request-id') },
        'request',
      );
    });
    handle(req, res).catch((error: unknown) => {
      log.error({ err: error }, 'a request failed');
      if (res.headersSent) res.destroy();
      else refuse(req, res, error);
    });
  };

  /** Open connections with their answers under way. Node counts one that never asked anything as busy. */
  const underWay = new Map<Socket, Set<ServerResponse>>();
  const cutIdle = () => {
    for (const [socket, answers] of underWay) if (answers.size === 0) socket.destroySoon();
  };

  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: headersMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(headersMs / 2, 30_000),
    },
    answer,
  );
  // Called after a time without a byte in either direction, and not while a slow client still takes some.
  server.setTimeout(stallMs, (socket: Socket) => {
    const answers = [...(underWay.get(socket) ?? [])];
    if (answers.length === 0 || answers.some((answer) => isStalled(answer, socket))) socket.destroy();
  });
  server.on('connection', (socket: Socket) => {
    underWay.set(socket, new Set());
    socket.once('close', () => underWay.delete(socket));
  });
  server.on('checkContinue', answer);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseBroken(error, socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.address, () => {
      server.off('error', reject);
      resolve();
    });
  });

  let closed: Promise<void> | null = null;
  const close = async (graceMs: number): Promise<void> => {
    closing = true;
    const gone = new Promise<void>((resolve) => server.close(() => resolve()));
    const late = setTimeout(() => server.closeAllConnections(), graceMs);
    cutIdle();
    await gone;
    clearTimeout(late);
  };

  return {
    port: (server.address() as AddressInfo).port,
    server,
    close(graceMs) {
      closed ??= close(graceMs);
      return closed;
    },
  };
}

/** Whether it is the client that an exchange waits for: it takes nothing of the answer, or sends nothing of a body that would be read. */
function isStalled(res: ServerResponse, socket: Socket): boolean {
  const { req } = res;
  if (res.writableLength > 0 || socket.writableLength > 0) return true;
  return !req.complete && !req.isPaused() && req.readableLength < req.readableHighWaterMark;
}

/** The target without a scheme and a host before it: which host was asked is for `Host` to say, and only a path is led on from. */
function ownTarget(target: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/is.exec(target)?.[1];
  if (path === undefined) return target;
  return path.startsWith('/') ? path : `/${path}`;
}

/** What Node's parser refuses. A request that came too slowly gets no 408: a browser would send it again by itself. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    socket.destroy();
    return;
  }
  const [status, reason] = error.code === 'HPE_HEADER_OVERFLOW' ? [431, 'Headers too large'] : [400, 'Bad request'];
  const requestId = randomUUID();
  const body = JSON.stringify({
    type: 'about:blank',
    title: reason,
    status,
    code: 'validation',
    detail: status === 431 ? 'The headers are too large.' : 'The request is not valid HTTP.',
    request_id: requestId,
  });
  const headers = {
    ...ANSWER_HEADERS,
    connection: 'close',
    'x-request-id': requestId,
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`);
}

/** The auth library's own routes, which speak `Request` and `Response`. */
async function answerAuth(host: Host, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { auth, config, log } = host;
  const requestId = requestIdOf(req.headers);
  const method = req.method ?? 'GET';
  const refuse = (error: unknown) => sendNode(problemAnswer(error, requestId, log), requestId, req, res);
  if (!isSafeMethod(method) && !isSameOrigin(req.headers, config)) {
    return refuse(new WinterdockError('forbidden', 'This may only be asked from the console itself.'));
  }
  let body: Buffer;
  try {
    body = isSafeMethod(method) ? Buffer.alloc(0) : await readBody(nodeBody(req, res), AUTH_BODY_BYTES);
  } catch (error) {
    return refuse(error);
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) if (value !== undefined) headers.set(name, String(value));
  const origin = `http://${req.headers.host}`;
  const url = new URL(req.url ?? '/', URL.canParse(origin) ? origin : 'http://localhost');
  const answer = await auth.handle(
    new Request(url, { method, headers, ...(body.length === 0 ? {} : { body: new Uint8Array(body) }) }),
  );
  res.setHeader('x-request-id', requestId);
  for (const [name, value] of answer.headers) if (name !== 'set-cookie') res.setHeader(name, value);
  const setCookie = answer.headers.getSetCookie();
  if (setCookie.length > 0) res.setHeader('set-cookie', setCookie);
  res.writeHead(answer.status);
  if (answer.body === null) res.end();
  else Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream).pipe(res);
}
