/**
 * The door to the console: what may reach Next, under which request id and policy, how often, and what is said where
 * Next only has a bare failure to offer. Knows no page.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { addressOf, PEER_HEADER } from '../auth/address.ts';
import { requestIdOf } from '../auth/header.ts';
import { isSafeMethod, isSameOrigin } from '../auth/origin.ts';
import { isWinterdockError, WinterdockError } from '../base/errors.ts';
import type { Host } from '../host/host.ts';
import { duringVisit, Visit } from '../host/visit.ts';
import { logFailure } from '../http/dispatch.ts';
import { pagePolicy } from './headers.ts';
import { refusalFor, sendRefusal } from './refusal.ts';
import { watchAnswer } from './watched-answer.ts';

/** Answers what is not the API's: the console. */
export type PageHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void> | void;

const METHODS = ['GET', 'HEAD', 'POST'];
/**
 * Set on what reaches Next: it asks this server for the page that an action leads to, with the headers of the action's
 * request.
 */
const INNER_HEADER = 'x-winterdock-inner';

/** Makes the door. `dev`: pages come from their sources and need what hot reloading needs. */
export function createPageDoor({
  host,
  pages,
  dev,
}: {
  host: Pick<Host, 'auth' | 'config' | 'log'>;
  pages: PageHandler;
  dev: boolean;
}) {
  const { auth, config, log } = host;
  const innerMark = randomBytes(24).toString('base64url');

  /** Why a request may not reach Next. Marks one that may with what is proved of its origin. */
  const refusedBefore = (req: IncomingMessage): WinterdockError | null => {
    const method = req.method ?? 'GET';
    const { origin } = req.headers;
    if (!isSafeMethod(method) && !isSameOrigin(req.headers, config)) {
      return new WinterdockError('forbidden', 'This may only be asked from the console itself.');
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
    if (origin === undefined || isSafeMethod(method)) return null;
    if (!URL.canParse(origin)) return new WinterdockError('bad_request', 'The Origin header is not an origin.');
    // Next compares the origin with the host once more, and knows no public address: what is proved is told to it.
    req.headers['x-forwarded-host'] = new URL(origin).host;
    return null;
  };

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const isInner = req.headers[INNER_HEADER] === innerMark;
    req.headers[INNER_HEADER] = innerMark;
    // Next asks from this machine for whoever asked it.
    if (!isInner) req.headers[PEER_HEADER] = req.socket.remoteAddress ?? '';
    const isStatic = (req.url ?? '/').startsWith('/_next/static/');
    try {
      const refused = refusedBefore(req);
      if (refused !== null) throw refused;
      const address = addressOf(req.headers, String(req.headers[PEER_HEADER]), config.trustProxy);
      if (!isStatic && !isInner) await auth.count(null, address);
    } catch (error) {
      return sendRefusal(error, req, res, log);
    }
    if (!isStatic) {
      const policy = pagePolicy(randomBytes(16).toString('base64'), { dev });
      req.headers['content-security-policy'] = policy;
      res.setHeader('content-security-policy', policy);
    }
    const requestId = requestIdOf(req.headers);
    const visit = new Visit(requestId, req.method === 'POST' || req.headers.rsc !== undefined);
    watchAnswer(res, () => {
      const cause = causeIn(visit);
      // What was thrown is in the log already.
      if (visit.thrown === null) logFailure(cause, requestId, log);
      return refusalFor(cause, req);
    });
    try {
      await duringVisit(visit, () => pages(req, res));
    } catch (error) {
      logFailure(error, requestId, log);
      visit.keep(error);
      if (res.headersSent) res.destroy();
      else res.writeHead(500).end();
    }
  };
}

/** What a failed visit is told to have failed of. */
function causeIn(visit: Visit): unknown {
  const { thrown } = visit;
  if (isWinterdockError(thrown)) return thrown;
  if (visit.isUnread) {
    const isLarge = thrown instanceof Error && 'statusCode' in thrown && thrown.statusCode === 413;
    return isLarge
      ? new WinterdockError('too_large', 'What was sent to this page is too large.')
      : new WinterdockError('bad_request', 'What was sent to this page cannot be read.', {
          hint: 'Nothing was done with it. Load the page anew and try again.',
        });
  }
  return thrown ?? new Error('The console failed and did not say why.');
}
