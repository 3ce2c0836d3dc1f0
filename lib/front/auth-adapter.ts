/** The adapter to the auth library's own routes, which take a `Request` and give a `Response`. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { clientAddress, clientKey } from '../auth/address.ts';
import { cookieRules } from '../auth/cookies.ts';
import { requestIdOf } from '../auth/header.ts';
import { isSafeMethod, isSameOrigin } from '../auth/origin.ts';
import { WinterdockError } from '../base/errors.ts';
import type { Host } from '../host/host.ts';
import { readBody } from '../http/body.ts';
import { problemAnswer } from '../http/dispatch.ts';
import { nodeBody, sendNode } from '../http/node-adapter.ts';
import { dropForeignCookies, pageSizeProblem } from './page-bounds.ts';
import type { PageTurns } from './page-turns.ts';
import type { RequestWork } from './request-work.ts';

/** Largest body of the auth library's routes. */
const AUTH_BODY_BYTES = 64 * 1024;
const METHODS = ['GET', 'HEAD', 'POST'];

/** Answers a request below `/api/auth`. */
export async function answerAuthRequest(
  host: Host,
  turns: PageTurns,
  work: RequestWork,
  res: ServerResponse,
): Promise<void> {
  const { auth, config, log } = host;
  const { req } = work;
  const requestId = requestIdOf(req.headers);
  const method = req.method ?? 'GET';
  const refuse = (error: unknown) => sendNode(problemAnswer(error, requestId, log), requestId, req, res);
  if (!isSafeMethod(method) && !isSameOrigin(req.headers, config)) {
    return refuse(new WinterdockError('forbidden', 'Only the console itself may send this request.'));
  }
  if (!METHODS.includes(method)) {
    return refuse(
      new WinterdockError('method_not_allowed', `${method.slice(0, 20)} is not a method of this address.`, {
        extra: { allow: METHODS },
      }),
    );
  }
  const address = clientAddress(req.headers, req.socket.remoteAddress ?? null, config.trustProxy);
  let body: Buffer;
  try {
    await auth.countRequest(null, address);
    const problem = pageSizeProblem(req);
    if (problem !== null) throw problem;
    body = isSafeMethod(method) ? Buffer.alloc(0) : await readBody(nodeBody(req, res), AUTH_BODY_BYTES);
    await turns.enter(clientKey(address));
    work.enter();
    const end = turns.begin();
    res.once('close', () => void auth.limits.countCost(address, end()));
    await auth.limits.checkCost(address);
  } catch (error) {
    return refuse(error);
  }
  dropForeignCookies(req, cookieRules(config));
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) if (value !== undefined) headers.set(name, String(value));
  const origin = `http://${req.headers.host}`;
  const url = new URL(req.url ?? '/', URL.canParse(origin) ? origin : 'http://localhost');
  const answer = await auth.handle(
    new Request(url, { method, headers, ...(body.length === 0 ? {} : { body: new Uint8Array(body) }) }),
  );
  for (const [name, value] of answer.headers) if (name !== 'set-cookie') res.setHeader(name, value);
  const setCookie = answer.headers.getSetCookie();
  if (setCookie.length > 0) res.setHeader('set-cookie', setCookie);
  res.writeHead(answer.status);
  if (answer.body === null) res.end();
  else Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream).pipe(res);
}
