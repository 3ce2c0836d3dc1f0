/**
 * Keeps bare failures from leaving: where Next begins to answer with a 5xx, another answer takes its place. Knows
 * nothing of what is asked.
 */
import type { ServerResponse } from 'node:http';
import type { Answer } from '../http/answer.ts';

/**
 * The stream of React's own format: the console's scripts show from it what failed, so it is kept and only its status
 * is changed.
 */
const FLIGHT = 'text/x-component';

/**
 * Watches an answer. `instead` is asked once, when a 5xx is about to be sent, for what to send; null: what is there.
 */
export function watchAnswer(res: ServerResponse, instead: () => Answer | null): void {
  const raw = { writeHead: res.writeHead.bind(res), write: res.write.bind(res), end: res.end.bind(res) };
  let isReplaced = false;
  let other: Answer | null = null;

  const replace = ({ status, headers = {}, body }: Answer) => {
    isReplaced = true;
    const kept = new Map(res.getHeaderNames().map((name) => [name, res.getHeader(name)]));
    for (const name of DROPPED) if (kept.has(name)) res.removeHeader(name);
    const text = body === undefined ? '' : 'text' in body ? body.text : 'json' in body ? JSON.stringify(body.json) : '';
    raw.writeHead(status, {
      'cache-control': 'no-store',
      ...(headers as Record<string, string>),
      'content-length': String(Buffer.byteLength(text)),
    });
    raw.end(res.req.method === 'HEAD' ? undefined : text);
  };

  /** Whether what is written now is of an answer that was replaced. */
  const isGone = (): boolean => {
    if (isReplaced || res.headersSent || res.statusCode < 500) return isReplaced;
    const answer = other ?? instead();
    if (answer === null) return false;
    other = answer;
    if (!String(res.getHeader('content-type') ?? '').startsWith(FLIGHT)) {
      replace(answer);
      return true;
    }
    res.statusCode = answer.status;
    const retryAfter = answer.headers?.['retry-after'];
    if (retryAfter !== undefined) res.setHeader('retry-after', retryAfter);
    return false;
  };

  type Arguments = [never, never, never];
  const calls = {
    writeHead(status: number, ...rest: unknown[]) {
      res.statusCode = status;
      return isGone() ? res : raw.writeHead(res.statusCode, ...(rest as [never]));
    },
    write: (...given: unknown[]) => (isGone() ? true : raw.write(...(given as Arguments))),
    end: (...given: unknown[]) => (isGone() ? res : raw.end(...(given as Arguments))),
  };
  Object.assign(res, calls);
}

/** What Next said of the body that is not sent. */
const DROPPED = ['content-encoding', 'content-length', 'transfer-encoding', 'etag', 'link', 'vary'];
