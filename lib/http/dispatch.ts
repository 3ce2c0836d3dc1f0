/**
 * Turns a request into an answer: finds the route, authenticates the caller, parses path, query and body, runs the
 * handler, and makes a problem document of what it throws. The adapters (node-adapter.ts, web-adapter.ts) receive
 * requests and send answers; nothing here knows sockets.
 */
import type { z } from 'zod';
import { clientAddress } from '../auth/address.ts';
import type { Auth } from '../auth/auth.ts';
import type { Caller } from '../auth/caller.ts';
import { type AnyHeaders, headerOf, requestIdOf } from '../auth/header.ts';
import { isSafeMethod, isSameOrigin } from '../auth/origin.ts';
import { isUnavailable, isWinterdockError, storageFailure, WinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { serverTiming, withTiming } from '../base/timing.ts';
import { withUsedMoment } from '../base/used-moment.ts';
import type { Guard } from '../operations/guard.ts';
import type { Operations } from '../operations/operations.ts';
import { type Answer, json, soundHeaders } from './answer.ts';
import { type BodySource, MOST_JSON_BYTES, readBody, readJson, uploadOf } from './body.ts';
import { BodyBudget } from './body-budget.ts';
import { acceptsEvents } from './call-stream.ts';
import type { IncomingRequest } from './incoming.ts';
import type { PassOn } from './pass-on.ts';
import { toProblem } from './problem.ts';
import { RepeatedRequests, requireIdempotencyKey } from './repeated-requests.ts';
import { firstToAbort, stopAnswerOnRevocation, stopBodyOnRevocation } from './revocation.ts';
import { isKeyed, type Route, type RouteContext, type Services } from './route.ts';
import { type RouteMatch, RouteMatcher } from './route-matcher.ts';
import { decodeSegment, filePathOf, parseTarget, type Target } from './target.ts';
import { parse, queryObject } from './validate.ts';

interface DispatchedAnswer {
  answer: Answer;
  requestId: string;
}

export interface Dispatcher {
  /** Whether a request target belongs to the API, known path or not. */
  owns(target: string): boolean;
  /** The path of the route that a request leads to, with names for its parameters; null when there is none. */
  routeOf(method: string, target: string): string | null;
  /** Answers; never throws. */
  answer(incoming: IncomingRequest): Promise<DispatchedAnswer>;
  /** The answer to what failed in the body of an answer; logged under the request's id as any other failure. */
  problem(thrown: unknown, requestId: string): Answer;
}

export interface DispatchOptions {
  routes: readonly Route[];
  services: Services;
  /** Asks whether a role may call an operation. */
  admit: Guard['admit'];
  auth: Pick<Auth, 'callerFromHeaders' | 'countRequest' | 'onAccessChange' | 'vouchedCaller'>;
  /** Asks other hosts. Null where the registry has one server. */
  passOn: PassOn | null;
  log: Logger;
  /** Largest JSON body, largest file, and largest upload, which holds a sandbox: in bytes. */
  maxBodyBytes: number;
  maxFileBytes: number;
  maxSandboxBytes: number;
  metricsOpen: boolean;
  publicUrl: string | null;
  trustProxy: boolean;
}

/** The command line names itself with this header. It changes only `via` in the ledger, never the actor. */
const CLIENT_HEADER = 'x-winterdock-client';
/** The key under which a request can be sent again. */
const IDEMPOTENCY_HEADER = 'idempotency-key';
/** The caller of an open route. Open routes show nothing of any tenant. */
const ANONYMOUS: Omit<Caller, 'requestId' | 'address'> = {
  actor: 'nobody',
  via: 'api',
  role: 'viewer',
  tenants: null,
  session: null,
};
/** Bodies of the largest file that one caller may have in memory at a time; all of them together, twice as many. */
const BODIES_EACH = 4;

/** Operations that make sandboxes: a host that is being emptied has another do them. */
const MAKES_SANDBOXES: ReadonlySet<string> = new Set<keyof Operations>([
  'createInstance',
  'importBundle',
  'restoreSnapshot',
  'cloneBlueprint',
]);

/** The API's own roots, whatever the table is; those of its routes come to them. */
const OWN_ROOTS = ['api', 'instances', 'healthz', 'readyz', 'metrics', 'openapi.json'];

/** Logs unexpected errors and storage failures under the request's id. */
export function logFailure(thrown: unknown, requestId: string, log: Logger): void {
  const error = storageFailure(thrown) ?? thrown;
  if (!isWinterdockError(error) || error.code === 'internal') log.error({ err: error, requestId }, 'a request failed');
  else if (isUnavailable(error)) log.warn({ err: error, requestId }, 'the storage refused a request');
}

/** The problem answer of anything thrown. */
export function answerOf(thrown: unknown, requestId: string): Answer {
  const error = storageFailure(thrown) ?? thrown;
  const problem = toProblem(error, requestId);
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' };
  if (isWinterdockError(error)) {
    // An error may come from a process in hostile hands, with any extra members.
    const { allow, size } = error.extra;
    if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterSeconds));
    if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer';
    if (error.code === 'method_not_allowed' && Array.isArray(allow) && allow.every((one) => typeof one === 'string'))
      headers.allow = allow.join(', ');
    if (error.code === 'range_not_satisfiable' && Number.isSafeInteger(size))
      headers['content-range'] = `bytes */${size}`;
  }
  return json(problem.status, problem, headers);
}

/** The problem answer of anything thrown; unexpected errors are logged under the request's id. */
export function problemAnswer(thrown: unknown, requestId: string, log: Logger): Answer {
  logFailure(thrown, requestId, log);
  return answerOf(thrown, requestId);
}

/** Makes the dispatcher of a route table. */
export function createDispatcher(options: DispatchOptions): Dispatcher {
  const { services, auth, log, passOn } = options;
  const matcher = new RouteMatcher<Route>();
  const roots = options.routes.filter(({ root }) => root).map(({ path }) => path.split('/')[1]);
  const ownRoots = new Set<string | undefined>([...OWN_ROOTS, ...roots]);
  for (const route of options.routes) {
    if (route.root) matcher.add(route.method, route.path, route);
    else matcher.add(route.method, `/api${route.path}`, route);
    if (!route.root && route.path.startsWith('/instances')) matcher.add(route.method, route.path, route);
  }

  const resolve = (method: string, target: Target): { route: Route; found: RouteMatch<Route> } => {
    const candidates = matcher.find(target.segments);
    const wanted = method === 'HEAD' ? 'GET' : method;
    for (const found of candidates) {
      const route = found.methods.get(wanted);
      if (route !== undefined) return { route, found };
    }
    if (candidates.length === 0) {
      const suggestion = suggestionFor(target);
      throw new WinterdockError('not_found', 'There is nothing at this address.', {
        ...(suggestion === null ? {} : { hint: `Did you mean ${suggestion}?` }),
      });
    }
    const allow = [...new Set(candidates.flatMap((found) => [...found.methods.keys()]))];
    if (allow.includes('GET')) allow.push('HEAD');
    throw new WinterdockError('method_not_allowed', `${method.slice(0, 20)} is not a method of this address.`, {
      hint: `It has ${allow.join(', ')}.`,
      extra: { allow },
    });
  };

  /** The address to suggest for an unknown one: without its trailing slash, with or without `/api`. Or null. */
  const suggestionFor = ({ segments }: Target): string | null => {
    const bare = segments.at(-1) === '' ? segments.slice(0, -1) : segments;
    const near = [bare, ['api', ...bare], ...(bare[0] === 'api' ? [bare.slice(1)] : [])];
    const found = near.find((path) => matcher.find(path).length > 0);
    return found === undefined ? null : `/${found.join('/')}`;
  };

  const admit = async (route: Route, incoming: IncomingRequest, requestId: string): Promise<Caller> => {
    const address = clientAddress(incoming.headers, incoming.peer, options.trustProxy);
    if (route.access === 'open' || (route.access === 'metrics' && options.metricsOpen)) {
      await auth.countRequest(null, address);
      return { ...ANONYMOUS, requestId, address };
    }
    const via = headerOf(incoming.headers, CLIENT_HEADER) === 'cli' ? 'cli' : 'api';
    const vouched = incoming.arrival?.caller ?? null;
    const as = { requestId, address, via } as const;
    const caller =
      vouched === null ? await auth.callerFromHeaders(incoming.headers, as) : await auth.vouchedCaller(vouched, as);
    await auth.countRequest(caller, address);
    if (caller === null) {
      throw new WinterdockError('unauthorized', authenticationRefusal(incoming.headers), {
        hint: 'Send `Authorization: Bearer <key>`, or sign in.',
      });
    }
    // Who sent a request on has looked where it came from.
    const byCookie = vouched === null && headerOf(incoming.headers, 'authorization') === null;
    if (byCookie && !isSafeMethod(incoming.method) && !isSameOrigin(incoming.headers, options)) {
      throw new WinterdockError('forbidden', 'A signed-in browser may change things only from the console itself.', {
        hint: 'Requests from elsewhere need a key.',
      });
    }
    // Before anything that was sent is read: a forbidden request learns nothing and costs nothing.
    if (route.operation !== null) await options.admit(caller, route.operation);
    return caller;
  };

  const each = Math.max(BODIES_EACH * options.maxFileBytes, options.maxBodyBytes);
  const budget = new BodyBudget({ total: 2 * each, each });
  const repeated = new RepeatedRequests();

  /** The parsed body, and the function that returns its memory to the budget when the request is done. */
  const bodyOf = async (
    route: Route,
    incoming: IncomingRequest,
    source: BodySource,
    { query, actor }: { query: Record<string, unknown>; actor: string },
  ): Promise<{ body: unknown; release: () => void }> => {
    const { body } = route;
    if (body === null) return { body: {}, release: () => undefined };
    const either = typeof body === 'object' && 'isUpload' in body ? body : null;
    if (body === 'stream' || either?.isUpload(query)) {
      const type = headerOf(incoming.headers, 'content-type');
      return { body: uploadOf(source, type, options.maxSandboxBytes), release: () => undefined };
    }
    const most = body === 'bytes' ? options.maxFileBytes : MOST_JSON_BYTES;
    const limit = Math.min(most, options.maxBodyBytes);
    const wanted = source.length ?? limit;
    const release = await budget.take(actor, wanted > limit ? 0 : wanted, () => incoming.signal());
    try {
      if (body === 'bytes') return { body: await readBody(source, limit), release };
      return { body: parse(either?.json ?? (body as z.ZodType), await readJson(source, limit), 'body'), release };
    } catch (error) {
      release();
      throw error;
    }
  };

  const run = async (incoming: IncomingRequest, requestId: string): Promise<Answer> => {
    const target = parseTarget(incoming.target);
    const { route, found } = resolve(incoming.method, target);
    const { refusal } = route;
    if (refusal === undefined) return enter(route, found, { incoming, requestId, target });
    try {
      return await enter(route, found, { incoming, requestId, target });
    } catch (error) {
      return refusal(problemAnswer(error, requestId, log), error);
    }
  };

  /** The answer of a route that was found. */
  const enter = async (
    route: Route,
    found: RouteMatch<Route>,
    { incoming: sent, requestId, target }: { incoming: IncomingRequest; requestId: string; target: Target },
  ): Promise<Answer> => {
    const caller = await admit(route, sent, requestId);
    const params = route.params === null ? {} : parse(route.params, parametersOf(route, found), 'path');
    let incoming = sent;
    if (passOn !== null && route.sandboxOf !== null) {
      const id = await route.sandboxOf({ services, caller, params });
      const passed = await passOn.pass(id, { incoming, requestId, caller });
      if ('answer' in passed) return passed.answer;
      incoming = { ...incoming, body: passed.body };
    } else if (passOn !== null && route.operation !== null && MAKES_SANDBOXES.has(route.operation)) {
      const passed = await passOn.passNew({ incoming, requestId, caller });
      if ('answer' in passed) return passed.answer;
      incoming = { ...incoming, body: passed.body };
    }
    const query =
      route.query === null ? noQuery(target.search) : parse(route.query, queryObject(target.search), 'query');
    const answerTo = async (allowed: AbortSignal | null): Promise<Answer> => {
      const source = allowed === null ? incoming.body : stopBodyOnRevocation(incoming.body, allowed);
      const sender = { query: query as Record<string, unknown>, actor: caller.actor };
      const key = idempotencyKeyOf(route, incoming);
      const { body, release } = await bodyOf(route, incoming, source, sender);
      const context: RouteContext = {
        services,
        caller,
        params,
        query,
        body,
        head: incoming.method === 'HEAD',
        path: target.path,
        search: target.search,
        header: (name) => headerOf(incoming.headers, name),
        get signal() {
          // What can be asked for again goes on when the client goes away.
          if (key !== null && allowed !== null) return allowed;
          return allowed === null ? incoming.signal() : firstToAbort(incoming.signal(), allowed);
        },
        passOn: passOn?.withBody({ incoming, requestId, caller }) ?? null,
      };
      let isHandled = false;
      const work = async () => {
        isHandled = true;
        try {
          return await route.handle(context);
        } finally {
          release();
        }
      };
      if (key === null) return work();
      const request = { sender: senderOf(caller), key, method: route.method, target: incoming.target, body };
      try {
        const { answer, isRepeated } = await repeated.answer(request, work);
        return isRepeated ? { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } } : answer;
      } finally {
        // The body of one that is carried out stays as long as that takes, however early its sender is answered.
        if (!isHandled) release();
      }
    };
    return route.access === 'key'
      ? stopAnswerOnRevocation(auth, { caller, gone: () => incoming.signal() }, answerTo)
      : answerTo(null);
  };

  return {
    owns(target) {
      return ownRoots.has(parseTarget(target).segments[0]);
    },
    routeOf(method, target) {
      const wanted = method === 'HEAD' ? 'GET' : method;
      const found = matcher.find(parseTarget(target).segments).find(({ methods }) => methods.has(wanted));
      const route = found?.methods.get(wanted);
      return route === undefined ? null : `${route.root ? '' : '/api'}${route.path}`;
    },
    problem: (thrown, requestId) => problemAnswer(thrown, requestId, log),
    answer(incoming) {
      const requestId = requestIdOf(incoming.headers);
      return withTiming((parts) =>
        withUsedMoment(async (used) => {
          let answer: Answer;
          try {
            answer = await run(incoming, requestId);
          } catch (error) {
            answer = problemAnswer(error, requestId, log);
          }
          const timing = serverTiming(parts);
          const added = {
            ...(timing === null ? {} : { 'server-timing': timing }),
            ...(used.timeMs === null ? {} : { 'x-moment': String(used.timeMs / 1000) }),
          };
          if (answer.headers !== undefined) answer = { ...answer, headers: soundHeaders(answer.headers) };
          return { answer: { ...answer, headers: { ...added, ...answer.headers } }, requestId };
        }),
      );
    },
  };
}

/**
 * The key under which a request is kept; null: under none. Throws `validation` for one that is none, or where the
 * answer cannot be kept.
 */
function idempotencyKeyOf(route: Route, { headers }: IncomingRequest): string | null {
  const sent = headerOf(headers, IDEMPOTENCY_HEADER);
  if (sent === null || route.method === 'GET' || route.access !== 'key') return null;
  const streams = acceptsEvents({ header: (name) => headerOf(headers, name) });
  if (!isKeyed(route) || streams) {
    throw new WinterdockError('validation', 'This request takes no Idempotency-Key: it, or its answer, is a stream.');
  }
  return requireIdempotencyKey(sent);
}

/** A sender with its rights: whoever has others now is another one. */
function senderOf({ actor, role, tenants }: Caller): string {
  return JSON.stringify([actor, role, tenants]);
}

/** Why a request has no caller. Every invalid key gets the same words, so that they reveal nothing of it. */
function authenticationRefusal(headers: AnyHeaders): string {
  const sent = headerOf(headers, 'authorization');
  if (sent === null) return 'This needs a key or a session.';
  if (!/^bearer\s+\S/i.test(sent)) return 'The Authorization header has no Bearer key.';
  return 'The key is not one of this server: it is wrong, revoked, or has expired.';
}

function parametersOf(route: Route, found: RouteMatch<Route>): Record<string, string> {
  const params: Record<string, string> = {};
  let index = 0;
  for (const segment of route.path.split('/')) {
    if (!segment.startsWith(':')) continue;
    const name = segment.slice(1);
    params[name] = decodeSegment(found.parameters[index++] ?? '', name);
  }
  if (found.rest !== null) params.path = filePathOf(found.rest);
  return params;
}

/** A route without a query refuses every query: an unknown parameter is an error, not ignored. */
function noQuery(search: string): Record<string, never> {
  const [key] = Object.keys(queryObject(search));
  if (key === undefined) return {};
  throw new WinterdockError('validation', 'The query is not valid: this address takes none.', {
    extra: { errors: [{ path: key.slice(0, 200), message: 'is not known here' }] },
  });
}
