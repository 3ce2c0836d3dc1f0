/**
 * What stands before every request, whoever's server it came to: which are the API's, which the auth library's, which
 * the console's, and how connections begin and end. Knows no route.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { requestIdOf } from '../auth/header.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Host } from '../host/host.ts';
import { answerNode } from '../http/node-adapter.ts';
import { answerAuth } from './auth-adapter.ts';
import { ANSWER_HEADERS, dropProxyHeaders } from './headers.ts';
import { refuseBroken, refuseOnSocket, whyNotHttp } from './malformed-requests.ts';
import { createPageDoor, type PageHandler } from './page-adapter.ts';
import { sendRefusal } from './refusal.ts';
import { createRouteDoor } from './route-adapter.ts';
import { whyNotTarget } from './target.ts';

export interface FrontOptions {
  pages?: PageHandler;
  /** Answers the API by route files of Next; without it the dispatcher does at once. */
  routes?: PageHandler;
  /** Why a request may not come in where it came in; without it every one may. */
  whyNotHere?: (req: IncomingMessage) => WinterdockError | null;
  /** Whether pages come from their sources and need what hot reloading needs. */
  dev?: boolean;
  /** How long a request's headers may take, in milliseconds. */
  headersMs?: number;
  /**
   * How long a client may send nothing of a body that is waited for, or take nothing of an answer, in milliseconds; 0:
   * for ever.
   */
  stallMs?: number;
}

export interface Front {
  /**
   * Answers what comes to a server, and ends its connections. To be called before it listens, or while its first
   * request is taken.
   */
  attach(server: Server): void;
  /** The server takes no more connections; answers under way may finish for `graceMs`, then they are cut. */
  close(server: Server, graceMs: number): Promise<void>;
}

/** Longer than the idle time of common proxies, so that they and not the server let go of an idle connection. */
const KEEP_ALIVE_MS = 75_000;
export const HEADERS_MS = 80_000;
const STALL_MS = 120_000;

/** Makes the front of an engine. `pages` answers what is not the API's; without it that is a 404. */
export function createFront(host: Host, options: FrontOptions): Front {
  const { config, dispatcher, log } = host;
  const { headersMs = HEADERS_MS, dev = false } = options;
  // Hot reloading keeps a connection of its own for as long as a page is open.
  const { stallMs = dev ? 0 : STALL_MS } = options;
  let closing = false;

  const answerPage = options.pages === undefined ? null : createPageDoor({ host, pages: options.pages, dev });
  const answerApi =
    options.routes === undefined
      ? (req: IncomingMessage, res: ServerResponse) => answerNode(dispatcher, req, res)
      : createRouteDoor({ host, routes: options.routes });

  const handle = async (req: IncomingMessage, res: ServerResponse, refusal?: WinterdockError): Promise<void> => {
    // A client that goes away in the middle of its request is no error of ours.
    req.on('error', () => undefined);
    res.on('error', () => undefined);
    for (const [name, value] of Object.entries(ANSWER_HEADERS)) res.setHeader(name, value);
    if (!config.trustProxy) dropProxyHeaders(req.headers);
    delete req.headers['content-security-policy-report-only'];
    // One id from here on: in the headers both ways, the log, the ledger, and what a page or a problem says.
    const requestId = requestIdOf(req.headers);
    req.headers['x-request-id'] = requestId;
    res.setHeader('x-request-id', requestId);
    const broken = refusal ?? whyNotHttp(req.rawHeaders, req.httpVersion) ?? options.whyNotHere?.(req) ?? null;
    if (broken !== null) {
      res.setHeader('connection', 'close');
      return sendRefusal(broken, req, res, log);
    }
    req.url = ownTarget(req.url ?? '/');
    const target = req.url;
    if (closing) {
      res.setHeader('connection', 'close');
      const stopping = new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
      return sendRefusal(stopping, req, res, log);
    }
    const isAuth = /^\/api\/auth(?:[/?]|$)/.test(target);
    if (!isAuth && dispatcher.owns(target)) return answerApi(req, res);
    const why = whyNotTarget(target);
    if (why !== null) return sendRefusal(new WinterdockError('bad_request', why), req, res, log);
    if (isAuth) return answerAuth(host, req, res);
    if (answerPage !== null) return answerPage(req, res);
    return sendRefusal(new WinterdockError('not_found', 'There is nothing at this address.'), req, res, log);
  };

  const answer = (req: IncomingMessage, res: ServerResponse, refusal?: WinterdockError) => {
    const started = performance.now();
    const { socket } = req;
    answersOn(socket).add(res);
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
    handle(req, res, refusal).catch((error: unknown) => {
      if (!res.headersSent) return sendRefusal(error, req, res, log);
      log.error({ err: error, requestId: res.getHeader('x-request-id') }, 'a request failed');
      res.destroy();
    });
  };

  /** Open connections with their answers under way. Node counts one that never asked anything as busy. */
  const underWay = new Map<Socket, Set<ServerResponse>>();
  const answersOn = (socket: Socket): Set<ServerResponse> => {
    const known = underWay.get(socket);
    if (known !== undefined) return known;
    const answers = new Set<ServerResponse>();
    underWay.set(socket, answers);
    socket.once('close', () => underWay.delete(socket));
    return answers;
  };
  const cutIdle = () => {
    for (const [socket, answers] of underWay) if (answers.size === 0) socket.destroySoon();
  };

  const attach = (server: Server): void => {
    Object.assign(server, { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: headersMs, requestTimeout: 0 });
    // Called after a time without a byte in either direction, and not while a slow client still takes some.
    server.setTimeout(stallMs, (socket: Socket) => {
      const answers = [...answersOn(socket)];
      if (answers.length === 0 || answers.some((answer) => isStalled(answer, socket))) socket.destroy();
    });
    server.on('connection', answersOn);
    server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => answer(req, res));
    server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
      answer(
        req,
        res,
        new WinterdockError('expectation_failed', 'This server knows no other Expect than 100-continue.'),
      );
    });
    server.on('connect', (req: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      const requestId = requestIdOf(req.headers);
      const refusal = new WinterdockError('method_not_allowed', 'This server leads to no other: it has no CONNECT.', {
        extra: { allow: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] },
      });
      refuseOnSocket(refusal, socket, log, { requestId, why: 'CONNECT' });
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      refuseBroken(error, socket, [...answersOn(socket)], log);
    });
    server.on('request', (req: IncomingMessage, res: ServerResponse) => answer(req, res));
  };

  const close = async (server: Server, graceMs: number): Promise<void> => {
    closing = true;
    const gone = new Promise<void>((resolve) => server.close(() => resolve()));
    const late = setTimeout(() => server.closeAllConnections(), graceMs);
    cutIdle();
    await gone;
    clearTimeout(late);
  };

  return { attach, close };
}

/**
 * Whether it is the client that an exchange waits for: it takes nothing of the answer, or sends nothing of a body that
 * would be read.
 */
function isStalled(res: ServerResponse, socket: Socket): boolean {
  const { req } = res;
  if (res.writableLength > 0 || socket.writableLength > 0) return true;
  return !req.complete && !req.isPaused() && req.readableLength < req.readableHighWaterMark;
}

/**
 * The target without a scheme and a host before it: which host was asked is for `Host` to say, and only a path is led
 * on from.
 */
function ownTarget(target: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/is.exec(target)?.[1];
  if (path === undefined) return target;
  return path.startsWith('/') ? path : `/${path}`;
}
