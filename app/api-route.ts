/**
 * The API under Next: the exports of every API route file. Uses the same dispatcher as the plain listener, by `Request`
 * and `Response`. What these lack comes from the front server by way of the request context; without it nothing is
 * answered.
 */

import { requestIdOf } from '#lib/auth/header.ts';
import { ANSWER_HEADERS } from '#lib/front/headers.ts';
import { getHost } from '#lib/host/host.ts';
import { currentRequest } from '#lib/host/request-context.ts';
import { toProblem } from '#lib/http/problem.ts';
import { answerWeb } from '#lib/http/web-adapter.ts';

async function respond(request: Request): Promise<Response> {
  try {
    return await answerWeb(getHost().dispatcher, request, currentRequest()?.wire);
  } catch (error) {
    const problem = toProblem(error, requestIdOf(request.headers));
    return Response.json(problem, {
      status: problem.status,
      headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', 'retry-after': '1' },
    });
  }
}

/** Answers one request to the API. Never throws. */
export async function answer(request: Request): Promise<Response> {
  const response = await respond(request);
  for (const [name, value] of Object.entries(ANSWER_HEADERS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}
