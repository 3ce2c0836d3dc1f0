/**
 * Replaces the 5xx answers that Next begins to send with an answer of ours. Knows nothing of the request.
 */
import type { ServerResponse } from 'node:http';
import type { Answer } from '../http/answer.ts';

/** The type of React's flight stream. The console shows the error that is in its body, so only its status changes. */
const FLIGHT = 'text/x-component';

/** Guards `res`. When a 5xx is about to be sent, `replacement` is called once; null keeps Next's answer. */
export function replaceServerErrors(res: ServerResponse, replacement: () => Answer | null): void {
  const raw = { writeHead: res.writeHead.bind(res), write: res.write.bind(res), end: res.end.bind(res) };
  let isReplaced = false;
  let answer: Answer | null = null;

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

  /** Whether Next's answer was replaced, so that its further writes are dropped. */
  const isDropped = (): boolean => {
    if (isReplaced || res.headersSent || res.statusCode < 500) return isReplaced;
    answer ??= replacement();
    if (answer === null) return false;
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
      return isDropped() ? res : raw.writeHead(res.statusCode, ...(rest as [never]));
    },
    write: (...given: unknown[]) => (isDropped() ? true : raw.write(...(given as Arguments))),
    end: (...given: unknown[]) => (isDropped() ? res : raw.end(...(given as Arguments))),
  };
  Object.assign(res, calls);
}

/** Headers of the body that is not sent. */
const DROPPED = ['content-encoding', 'content-length', 'transfer-encoding', 'etag', 'link', 'vary'];
