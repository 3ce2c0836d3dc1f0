/**
 * The adapter to the console's pages: checks method, origin and rate, sets the request id and the content security
 * policy, calls Next, and replaces Next's bare 5xx answers with a readable one. Knows no page.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientAddress, clientKey, PEER_HEADER } from '../auth/address.ts';
import { cookieRules } from '../auth/cookies.ts';
import { requestIdOf } from '../auth/header.ts';
import { isSafeMethod, isSameOrigin } from '../auth/origin.ts';
import { isWinterdockError, WinterdockError } from '../base/errors.ts';
import type { Host } from '../host/host.ts';
import { RequestContext, runInRequest } from '../host/request-context.ts';
import { logFailure } from '../http/dispatch.ts';
import { errorResponseFor, sendErrorResponse } from './error-response.ts';
import { pagePolicy } from './headers.ts';
import { dropForeignCookies, pageSizeProblem, readForPage } from './page-bounds.ts';
import type { PageTurns } from './page-turns.ts';
import type { RequestWork } from './request-work.ts';
import { replaceServerErrors } from './server-error-answers.ts';

/** Answers requests for the console. */
export type PageHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void> | void;

const METHODS = ['GET', 'HEAD', 'POST'];
/**
 * Marks requests that Next makes to this server itself: after an action it fetches the next page, with the headers of
 * the action's request.
 */
const INNER_HEADER = 'x-winterdock-inner';

/** Makes the adapter. `dev`: pages are compiled from their sources, with hot reloading. */
export function createPageAdapter({
  host,
  pages,
  turns,
  dev,
}: {
  host: Pick<Host, 'auth' | 'config' | 'log'>;
  pages: PageHandler;
  turns: PageTurns;
  dev: boolean;
}) {
  const { auth, config, log } = host;
  const cookies = cookieRules(config);
  const innerMark = randomBytes(24).toString('base64url');

  /** The error of a request that may not reach Next, or null. Sets `x-forwarded-host` once the origin is proved. */
  const requestProblem = (req: IncomingMessage): WinterdockError | null => {
    const method = req.method ?? 'GET';
    const { origin } = req.headers;
    if (!isSafeMethod(method) && !isSameOrigin(req.headers, config)) {
      return new WinterdockError('forbidden', 'Only the console itself may send this request.');
    }
    if (!METHODS.includes(method)) {
      return new WinterdockError('method_not_allowed', `${method.slice(0, 20)} is not a method of this address.`, {
        hint: `It has ${METHODS.join(', ')}.`,
        extra: { allow: METHODS },
      });
    }
    const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
    if (!dev && /^\/+_next(?:\/|$)/.test(path) && !path.startsWith('/_next/static/')) {
      return new WinterdockError('not_found', 'There is nothing at this address.');
    }
    const tooLarge = pageSizeProblem(req);
    if (tooLarge !== null) return tooLarge;
    if (origin === undefined || isSafeMethod(method)) return null;
    if (!URL.canParse(origin)) return new WinterdockError('bad_request', 'The Origin header is not an origin.');
    // Next compares the origin with the host again and does not know the public URL, so it is told the proved host.
    req.headers['x-forwarded-host'] = new URL(origin).host;
    return null;
  };

  return async (work: RequestWork, res: ServerResponse): Promise<void> => {
    const { req } = work;
    const isInner = req.headers[INNER_HEADER] === innerMark;
    req.headers[INNER_HEADER] = innerMark;
    // Next's own request comes from this machine; the peer is the one of the request before it.
    const { arrival } = work;
    if (!isInner) req.headers[PEER_HEADER] = (arrival === null ? req.socket.remoteAddress : arrival.address) ?? '';
    const isStatic = (req.url ?? '/').startsWith('/_next/static/');
    const address = clientAddress(req.headers, String(req.headers[PEER_HEADER]), config.trustProxy);
    const requestId = requestIdOf(req.headers);
    const context = new RequestContext(requestId, req.method === 'POST' || req.headers.rsc !== undefined);
    const isStranger = async () => (await auth.callerFromHeaders(req.headers, { address })) === null;
    let handed: IncomingMessage;
    try {
      const problem = requestProblem(req);
      if (problem !== null) throw problem;
      if (!dev) dropForeignCookies(req, cookies);
      if (!isStatic && !isInner) await auth.countRequest(null, address);
      handed = await readForPage(req, res, isStranger);
      if (!isStatic) {
        if (!isInner) await turns.enter(clientKey(address));
        work.enter();
        const end = turns.begin();
        res.once('close', () => {
          const costMs = end();
          if (!context.isKnown) void auth.limits.countCost(address, costMs);
        });
        await auth.limits.checkCost(address).catch(async (error: unknown) => {
          if (await isStranger()) throw error;
        });
      }
    } catch (error) {
      return sendErrorResponse(error, req, res, log);
    }
    // Whoever has gone while it waited wants no page.
    if (res.destroyed) return;
    if (!isStatic) {
      const policy = pagePolicy(randomBytes(16).toString('base64'), { dev });
      req.headers['content-security-policy'] = policy;
      res.setHeader('content-security-policy', policy);
    }
    replaceServerErrors(res, () => {
      const failure = failureIn(context);
      // An error that the context kept is in the log already.
      if (context.firstError === null) logFailure(failure, requestId, log);
      return errorResponseFor(failure, req);
    });
    try {
      await runInRequest(context, () => pages(handed, res));
    } catch (error) {
      logFailure(error, requestId, log);
      context.keepError(error);
      if (res.headersSent) res.destroy();
      else res.writeHead(500).end();
    }
  };
}

/** The error that a failed page answers with. */
function failureIn(context: RequestContext): unknown {
  const { firstError } = context;
  if (isWinterdockError(firstError)) return firstError;
  if (context.isUnreadable) {
    const isLarge = firstError instanceof Error && 'statusCode' in firstError && firstError.statusCode === 413;
    return isLarge
      ? new WinterdockError('too_large', 'What was sent to this page is too large.')
      : new WinterdockError('bad_request', 'What was sent to this page cannot be read.', {
          hint: 'Nothing was done. Reload the page and try again.',
        });
  }
  return firstError ?? new Error('The console failed and did not say why.');
}
