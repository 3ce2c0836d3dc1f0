/** Follows redirects as browsers and curl do: every hop is a request of its own. Knows neither languages nor rules. */
import type { FetchAnswer, FetchRequest } from './fetch-messages.ts';

export interface RedirectOptions {
  /** Hops at most. */
  most: number;
  /** Keeps the method where it would become GET: what `curl -X` asks for. */
  keepsMethod?: boolean;
  /** Called with each answer that leads on. */
  onHop?: (answer: Extract<FetchAnswer, { status: number }>) => void;
}

export type Followed = { url: string; redirects: number } & (
  | { answer: FetchAnswer; tooMany: false }
  | { answer: Extract<FetchAnswer, { status: number }>; tooMany: true }
);

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What a guest's own request must not bring to another origin. */
const OF_ORIGIN = new Set(['authorization', 'cookie', 'proxy-authorization', 'host']);
const OF_BODY = new Set(['content-type', 'content-length', 'content-encoding', 'content-language']);

/** Sends a request and those that its answers lead to. A `Location` that is none is an answer like any other. */
export async function followRedirects(
  first: FetchRequest,
  fetch: (request: FetchRequest) => Promise<FetchAnswer>,
  { most, keepsMethod = false, onHop }: RedirectOptions,
): Promise<Followed> {
  let request = first;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await fetch(request);
    const next = 'status' in answer ? nextOf(request, answer, keepsMethod) : null;
    if (next === null || !('status' in answer)) return { answer, url: request.url, redirects, tooMany: false };
    if (redirects >= most) return { answer, url: request.url, redirects, tooMany: true };
    onHop?.(answer);
    request = next;
  }
}

function nextOf(
  request: FetchRequest,
  { status, headers }: Extract<FetchAnswer, { status: number }>,
  keepsMethod: boolean,
): FetchRequest | null {
  const location = headers.find(([name]) => name === 'location')?.[1];
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url)) return null;
  const url = new URL(location, request.url);
  const { method } = request;
  const becomesGet = status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';
  const dropsBody = becomesGet && !keepsMethod;
  const leaves = url.origin !== new URL(request.url).origin;
  return {
    ...request,
    url: url.href,
    method: dropsBody ? 'GET' : method,
    body: dropsBody ? null : request.body,
    headers: request.headers.filter(([name]) => {
      const key = name.toLowerCase();
      return !(leaves && OF_ORIGIN.has(key)) && !(dropsBody && OF_BODY.has(key));
    }),
  };
}
