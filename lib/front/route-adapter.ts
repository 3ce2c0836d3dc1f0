/**
 * The adapter to the API's route files, used when Next owns the server. Only requests whose target Next passes on
 * unchanged go to a route file; the dispatcher answers the others directly, before Next could rewrite them. Knows no
 * route.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { cookieRules } from '../auth/cookies.ts';
import { requestIdOf } from '../auth/header.ts';
import type { Host } from '../host/host.ts';
import { RequestContext, runInRequest } from '../host/request-context.ts';
import { logFailure } from '../http/dispatch.ts';
import { answerNode, endsAfterSender, wantsContinue } from '../http/node-adapter.ts';
import type { Wire } from '../http/web-adapter.ts';
import { errorResponseFor } from './error-response.ts';
import { ANSWER_HEADERS } from './headers.ts';
import type { PageHandler } from './page-adapter.ts';
import { dropForeignCookies, pageSizeProblem } from './page-bounds.ts';
import { targetProblem } from './request-target.ts';
import { replaceServerErrors } from './server-error-answers.ts';

/** The methods that the route files export. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/**
 * Headers that make Next treat a request as one of its own client's, or compress the answer. The API's ranges and
 * hashes are of the uncompressed bytes.
 */
const NEXT_HEADERS = /^(?:accept-encoding|rsc|next-.*|x-(?:nextjs|middleware)-.*)$/;

/** Whether Next passes a target on unchanged: it resolves dots, merges slashes and drops a trailing one. */
export function isKeptByNext(target: string): boolean {
  const path = target.split(/[?#]/, 1)[0] ?? '/';
  return targetProblem(target) === null && !path.includes('//') && !path.endsWith('/') && !target.includes('#');
}

/** Makes the adapter. `routes` is Next's handler. */
export function createRouteAdapter({
  host,
  routes,
}: {
  host: Pick<Host, 'config' | 'dispatcher' | 'log'>;
  routes: PageHandler;
}) {
  const { dispatcher, log } = host;
  const cookies = cookieRules(host.config);
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = 'GET', url: target = '/' } = req;
    dropForeignCookies(req, cookies);
    const isForNext = METHODS.has(method) && isKeptByNext(target) && pageSizeProblem(req) === null;
    if (!isForNext || !URL.canParse(`http://${req.headers.host}`)) return answerNode(dispatcher, req, res);
    for (const name of Object.keys(req.headers)) if (NEXT_HEADERS.test(name)) delete req.headers[name];
    // Next keeps headers that are set already; the route file sets those of its own answer.
    for (const name of Object.keys(ANSWER_HEADERS)) res.removeHeader(name);
    const requestId = requestIdOf(req.headers);
    const { wire, isAnswered } = wireOf(req, res, target);
    const context = new RequestContext(requestId, false, wire);
    replaceServerErrors(res, () => {
      // An answer of the dispatcher stays as it is; any other 5xx is a failure on the way to it.
      if (isAnswered()) return null;
      const failure = context.firstError ?? new Error('The route file of the API failed and did not say why.');
      if (context.firstError === null) logFailure(failure, requestId, log);
      for (const [name, value] of Object.entries(ANSWER_HEADERS)) res.setHeader(name, value);
      return errorResponseFor(failure, req);
    });
    try {
      await runInRequest(context, () => routes(req, res));
    } catch (error) {
      logFailure(error, requestId, log);
      context.keepError(error);
      if (res.headersSent) res.destroy();
      else res.writeHead(500).end();
    }
  };
}

/** What the route file gets besides the `Request`. */
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
      // A client that got no 100-continue may or may not send the body: the connection must end.
      if (!req.complete && wantsContinue(req)) res.setHeader('connection', 'close');
      else if (!req.complete) endsAfterSender(req, res);
    },
  };
  return { wire, isAnswered: () => answered };
}
