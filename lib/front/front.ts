/**
 * The front of an HTTP server, ours or one that Next made: sends each request to the API, to the auth library or to the
 * console, and owns the life of connections (timeouts, back-pressure, draining). Knows no route.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { requestIdOf } from '../auth/header.ts';
import { rateLimited } from '../auth/rate-limits.ts';
import { WinterdockError } from '../base/errors.ts';
import { readInTurns } from '../base/read-in-turns.ts';
import { LoopWatch } from '../health/loop-watch.ts';
import type { Host } from '../host/host.ts';
import { answerNode } from '../http/node-adapter.ts';
import { answerAuthRequest } from './auth-adapter.ts';
import { sendErrorResponse } from './error-response.ts';
import { ANSWER_HEADERS, dropProxyHeaders } from './headers.ts';
import { type AdmittedRequest, admitHop, saysItHopped } from './hop-border.ts';
import { LeaseGate } from './lease-gate.ts';
import { hostHeaderProblem, refuseMalformed, refuseOnSocket } from './malformed-requests.ts';
import { createPageAdapter, type PageHandler } from './page-adapter.ts';
import { headerCountProblem } from './page-bounds.ts';
import { passPage } from './page-hop.ts';
import { PageTurns } from './page-turns.ts';
import { targetProblem } from './request-target.ts';
import { type RequestWork, requestName } from './request-work.ts';
import { createRouteAdapter } from './route-adapter.ts';

export interface FrontOptions {
  pages?: PageHandler;
  /** Answers the API through Next's route files; without it the dispatcher answers directly. */
  routes?: PageHandler;
  /** The error for a request that came in by an address that does not serve; without it every address does. */
  addressProblem?: (req: IncomingMessage) => WinterdockError | null;
  /** Development mode: pages are compiled from their sources, with hot reloading. */
  dev?: boolean;
  /** How long a request's headers may take, in milliseconds. */
  headersMs?: number;
  /** How long a client may stall a body or an answer, in milliseconds; 0: for ever. */
  stallMs?: number;
}

export interface Front {
  /** Handles a server's requests and connections. Call it before the server listens or during its first request. */
  attach(server: Server): void;
  /** Stops accepting connections. Answers under way may finish for `graceMs`, then their connections are cut. */
  close(server: Server, graceMs: number): Promise<void>;
}

/** Longer than the idle timeout of common proxies, so that the proxy closes an idle connection, not the server. */
const KEEP_ALIVE_MS = 75_000;
export const HEADERS_MS = 80_000;
const STALL_MS = 120_000;
/** Requests that may be sent on a connection before the first of them is answered. Browsers send one. */
const MOST_PIPELINED = 16;
/** Milliseconds that a request may hold the event loop before the log tells the operator. */
const TOLD_STALL_MS = 250;

/** Makes the front of an engine. `pages` answers everything but the API; without it that is a 404. */
export function createFront(host: Host, options: FrontOptions): Front {
  const { config, dispatcher, log, metrics } = host;
  const { headersMs = HEADERS_MS, dev = false } = options;
  // Hot reloading keeps a connection of its own for as long as a page is open.
  const { stallMs = dev ? 0 : STALL_MS } = options;
  let closing = false;

  const gate = host.lease === null ? null : new LeaseGate(host.lease, log);
  const turns = new PageTurns();
  const answerPage = options.pages === undefined ? null : createPageAdapter({ host, pages: options.pages, turns, dev });
  const answerByRoutes = options.routes === undefined ? null : createRouteAdapter({ host, routes: options.routes });
  const answerApi = ({ req, arrival }: AdmittedRequest, res: ServerResponse) =>
    answerByRoutes === null || arrival !== null ? answerNode(dispatcher, req, res, arrival) : answerByRoutes(req, res);

  const watch = new LoopWatch<RequestWork>(({ cpuMs, lateMs, work }) => {
    const name = work === null ? null : requestName(work.req, dispatcher);
    metrics.loopStalled(name, lateMs / 1000);
    if (work === null) return;
    const [tookMs, cpu] = [Math.round(lateMs), Math.round(cpuMs)];
    const said = { request: name, stalledMs: tookMs, cpuMs: cpu, requestId: requestIdOf(work.req.headers) };
    log[lateMs >= TOLD_STALL_MS ? 'warn' : 'info'](said, 'a request held up all others');
  });

  const handle = async (work: RequestWork, res: ServerResponse, refusal?: WinterdockError): Promise<void> => {
    const { req } = work;
    // A client that disconnects in the middle of its request is not an error of the server.
    req.on('error', () => undefined);
    res.on('error', () => undefined);
    for (const [name, value] of Object.entries(ANSWER_HEADERS)) res.setHeader(name, value);
    if (!config.trustProxy) dropProxyHeaders(req.headers);
    delete req.headers['content-security-policy-report-only'];
    // One id per request: request and answer headers, log, ledger, pages and problem documents all show it.
    const requestId = requestIdOf(req.headers);
    req.headers['x-request-id'] = requestId;
    res.setHeader('x-request-id', requestId);
    const problem =
      refusal ??
      hostHeaderProblem(req.rawHeaders, req.httpVersion) ??
      (saysItHopped(req) ? null : headerCountProblem(req.rawHeaders)) ??
      options.addressProblem?.(req) ??
      null;
    if (problem !== null) {
      res.setHeader('connection', 'close');
      return sendErrorResponse(problem, req, res, log);
    }
    req.url = withoutOrigin(req.url ?? '/');
    const target = req.url;
    if (closing) {
      res.setHeader('connection', 'close');
      const stopping = new WinterdockError('storage_unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
      return sendErrorResponse(stopping, req, res, log);
    }
    if (gate !== null && !gate.admit(req, res)) return;
    const admitted = saysItHopped(req)
      ? admitHop(host.hops?.receiver ?? null, log, { req, res })
      : { req, arrival: null };
    if (admitted === null) return;
    const isAuth = /^\/api\/auth(?:[/?]|$)/.test(target);
    if (!isAuth && dispatcher.owns(target)) return answerApi(admitted, res);
    const malformed = targetProblem(target);
    if (malformed !== null) return sendErrorResponse(new WinterdockError('bad_request', malformed), req, res, log);
    if (isAuth) return answerAuthRequest(host, turns, work, res);
    if (answerPage === null) {
      return sendErrorResponse(new WinterdockError('not_found', 'There is nothing at this address.'), req, res, log);
    }
    const asked = host.hops === null ? admitted.req : await passPage(host.hops.passOn, admitted, { res, dispatcher });
    if (asked !== null) return answerPage({ ...work, req: asked, arrival: admitted.arrival }, res);
  };

  const answer = (req: IncomingMessage, res: ServerResponse, refusal?: WinterdockError) => {
    const started = performance.now();
    readInTurns(req);
    const work: RequestWork = { req, arrival: null, enter: () => watch.enter(work) };
    const { socket } = req;
    const answers = answersOn(socket);
    if (socket.writableEnded) return;
    if (answers.size === MOST_PIPELINED) return refusePipelining(socket, answers.keys());
    const begin = () => {
      if (socket.destroyed || socket.writableEnded) return;
      work.enter();
      handle(work, res, refusal).then(
        () => watch.leave(work),
        (error: unknown) => {
          if (!res.headersSent) return sendErrorResponse(error, req, res, log);
          log.error({ err: error, requestId: res.getHeader('x-request-id') }, 'a request failed');
          res.destroy();
        },
      );
    };
    answers.set(res, begin);
    res.once('close', () => {
      answers.delete(res);
      if (answers.size > 0) beginNext(answers);
      if (closing) cutIdle();
      if (!log.isLevelEnabled('info')) return;
      const path = (req.url ?? '').split('?', 1)[0]?.slice(0, 500);
      const tookMs = Math.round((performance.now() - started) * 10) / 10;
      log.info(
        { method: req.method, path, status: res.statusCode, tookMs, requestId: res.getHeader('x-request-id') },
        'request',
      );
    });
    if (answers.size === 1) begin();
  };

  /** Begins the next answer of a connection, once what else waits had its turn. */
  const beginNext = (answers: ReadonlyMap<ServerResponse, () => void>) => {
    const [next] = answers.values();
    if (next !== undefined) setImmediate(next);
  };

  /** Ends a connection: with a refusal in the place of the first answer, unless that one has begun. */
  const refusePipelining = (socket: Socket, [first]: Iterable<ServerResponse>) => {
    if (first?.headersSent) return void socket.destroy();
    const message = 'Too many requests were sent on this connection before the first was answered.';
    refuseOnSocket(rateLimited(message, 1), socket, log, { why: 'pipelining' });
  };

  /**
   * The answers under way on each open connection, each with what begins it: one at a time, in their order. Node itself
   * counts a connection without any request as busy.
   */
  const underWay = new Map<Socket, Map<ServerResponse, () => void>>();
  const answersOn = (socket: Socket): Map<ServerResponse, () => void> => {
    const existing = underWay.get(socket);
    if (existing !== undefined) return existing;
    const answers = new Map<ServerResponse, () => void>();
    underWay.set(socket, answers);
    socket.once('close', () => underWay.delete(socket));
    return answers;
  };
  const cutIdle = () => {
    for (const [socket, answers] of underWay) if (answers.size === 0) socket.destroySoon();
  };

  const attach = (server: Server): void => {
    Object.assign(server, { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: headersMs, requestTimeout: 0 });
    // Node calls this after `stallMs` without a byte in either direction.
    server.setTimeout(stallMs, (socket: Socket) => {
      const answers = [...answersOn(socket).keys()];
      if (answers.length === 0 || answers.some((answer) => isStalled(answer, socket))) socket.destroy();
    });
    server.on('connection', answersOn);
    server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => answer(req, res));
    server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
      answer(
        req,
        res,
        new WinterdockError('expectation_failed', 'This server supports no Expect header other than 100-continue.'),
      );
    });
    server.on('connect', (req: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      const requestId = requestIdOf(req.headers);
      const refusal = new WinterdockError(
        'method_not_allowed',
        'This server is not a proxy: it does not support CONNECT.',
        {
          extra: { allow: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] },
        },
      );
      refuseOnSocket(refusal, socket, log, { requestId, why: 'CONNECT' });
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      refuseMalformed(error, socket, [...answersOn(socket).keys()], log);
    });
    server.on('request', (req: IncomingMessage, res: ServerResponse) => answer(req, res));
  };

  const close = async (server: Server, graceMs: number): Promise<void> => {
    closing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
    cutIdle();
    await closed;
    watch.close();
    clearTimeout(deadline);
  };

  return { attach, close };
}

/** Whether the exchange waits for the client: it does not read the answer, or does not send the rest of its body. */
function isStalled(res: ServerResponse, socket: Socket): boolean {
  const { req } = res;
  if (res.writableLength > 0 || socket.writableLength > 0) return true;
  return !req.complete && !req.isPaused() && req.readableLength < req.readableHighWaterMark;
}

/** The path of an absolute-form target (`GET http://host/path`), any other as it is. The host is `Host`'s to say. */
function withoutOrigin(target: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/is.exec(target)?.[1];
  if (path === undefined) return target;
  return path.startsWith('/') ? path : `/${path}`;
}
