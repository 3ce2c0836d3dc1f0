/**
 * The door to the API's route files, where Next owns the server. They are led to what Next would lead them to by the
 * very address that was sent; all else the dispatcher answers at once, before anything normalises it. Knows no route.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdOf } from '../auth/header.ts';
import type { Host } from '../host/host.ts';
import { duringVisit, Visit } from '../host/visit.ts';
import { logFailure } from '../http/dispatch.ts';
import { answerNode, wantsContinue } from '../http/node-adapter.ts';
import type { Wire } from '../http/web-adapter.ts';
import { ANSWER_HEADERS } from './headers.ts';
import type { PageHandler } from './page-adapter.ts';
import { refusalFor } from './refusal.ts';
import { whyNotTarget } from './target.ts';
import { watchAnswer } from './watched-answer.ts';

/** What the route files have. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/**
 * Headers by which Next takes a request for one of its own scripts', or compresses an answer: the API's are sent as
 * they are, and their parts and hashes are of what is sent.
 */
const NEXT_READS = /^(?:accept-encoding|rsc|next-.*|x-(?:nextjs|middleware)-.*)$/;

/** Whether Next hands on a target as it was sent: it resolves dots, joins slashes, and takes one from the end. */
export function isLedOn(target: string): boolean {
  const path = target.split(/[?#]/, 1)[0] ?? '/';
  return whyNotTarget(target) === null && !path.includes('//') && !path.endsWith('/') && !target.includes('#');
}

/** Makes the door. `routes` is Next. */
export function createRouteDoor({ host, routes }: { host: Pick<Host, 'dispatcher' | 'log'>; routes: PageHandler }) {
  const { dispatcher, log } = host;
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = 'GET', url: target = '/' } = req;
    if (!METHODS.has(method) || !isLedOn(target) || !URL.canParse(`http://${req.headers.host}`)) {
      return answerNode(dispatcher, req, res);
    }
    for (const name of Object.keys(req.headers)) if (NEXT_READS.test(name)) delete req.headers[name];
    // Next keeps what stands there already, and the route file says what is right for its answer.
    for (const name of Object.keys(ANSWER_HEADERS)) res.removeHeader(name);
    const requestId = requestIdOf(req.headers);
    const { wire, isAnswered } = wireOf(req, res, target);
    const visit = new Visit(requestId, false, wire);
    watchAnswer(res, () => {
      // What the dispatcher answers stays as it is; anything else is a failure on the way to it.
      if (isAnswered()) return null;
      const cause = visit.thrown ?? new Error('The route file of the API failed and did not say why.');
      if (visit.thrown === null) logFailure(cause, requestId, log);
      for (const [name, value] of Object.entries(ANSWER_HEADERS)) res.setHeader(name, value);
      return refusalFor(cause, req);
    });
    try {
      await duringVisit(visit, () => routes(req, res));
    } catch (error) {
      logFailure(error, requestId, log);
      visit.keep(error);
      if (res.headersSent) res.destroy();
      else res.writeHead(500).end();
    }
  };
}

/** What the route file is given beside the `Request`. */
function wireOf(req: IncomingMessage, res: ServerResponse, target: string): { wire: Wire; isAnswered: () => boolean } {
  let answered = false;
  const wire: Wire = {
    target,
    peer: req.socket.remoteAddress ?? null,
    goOn() {
      if (!wantsContinue(req)) return;
      res.writeContinue();
      delete req.headers.expect;
    },
    answers(bytes) {
      answered = true;
      if (res.headersSent) return;
      if (bytes !== null) res.setHeader('content-length', bytes);
      // A client that was not told to go on sends no body: the connection ends, as what comes next could be either.
      if (!req.complete && wantsContinue(req)) res.setHeader('connection', 'close');
    },
  };
  return { wire, isAnswered: () => answered };
}
