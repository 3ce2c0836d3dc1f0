/**
 * The front's answer to a request that it refuses or that failed: an HTML page for a browser, plain text for the
 * console's scripts, a problem document for programs. Knows no route.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdOf } from '../auth/header.ts';
import type { Logger } from '../base/log.ts';
import type { Problem } from '../contract/schema.ts';
import type { Answer } from '../http/answer.ts';
import { answerOf, logFailure } from '../http/dispatch.ts';
import { sendNode } from '../http/node-adapter.ts';

/** The styles of the page. It is self-contained, because nothing else may be available when it is shown. */
const STYLE = `
:root { color-scheme: light dark; --paper: #fbfaf6; --ink: #1c1f24; --quiet: #5d636e; --rule: #dedbd0 }
@media (prefers-color-scheme: dark) { :root { --paper: #101318; --ink: #e8e6df; --quiet: #9aa1ad; --rule: #2a2f38 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif }
main { max-width: 36rem; margin: 0 auto; padding: 4rem 1.5rem }
h1 { font-size: 1.75rem; line-height: 1.25; font-weight: 500; margin: 0 0 1rem }
p { margin: 0 0 1rem; overflow-wrap: anywhere }
.quiet { color: var(--quiet) }
code { font: 0.875em ui-monospace, monospace }
a { color: inherit; margin-right: 1.5rem }
hr { border: 0; border-top: 1px solid var(--rule); margin: 2rem 0 1rem }
`;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

/** The answer to an error in the form that the client accepts. Logs nothing. */
export function errorResponseFor(error: unknown, req: IncomingMessage): Answer {
  const { headers, method, url = '/' } = req;
  const answer = answerOf(error, requestIdOf(headers));
  const problem = (answer.body as { json: Problem }).json;
  const accepted = headers.accept ?? '';
  if (headers['next-action'] !== undefined && accepted.includes('text/x-component')) {
    // Next's client shows the body of an answer only when its type is exactly this.
    const message = problem.hint === undefined ? problem.detail : `${problem.detail} ${problem.hint}`;
    const text = `${message} Request ${problem.request_id}.`;
    return { ...answer, headers: { ...answer.headers, 'content-type': 'text/plain' }, body: { text } };
  }
  if (headers.rsc !== undefined || !accepted.includes('text/html')) return answer;
  const nonce = randomBytes(16).toString('base64');
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const again = method === 'GET' && /^\/(?!\/)/.test(url) && problem.code !== 'bad_request' ? url : null;
  return {
    status: answer.status,
    headers: { ...answer.headers, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
    body: { text: pageOf(problem, again, nonce) },
  };
}

/** Sends that answer. Logs unexpected errors. */
export function sendErrorResponse(error: unknown, req: IncomingMessage, res: ServerResponse, log: Logger): void {
  const requestId = requestIdOf(req.headers);
  logFailure(error, requestId, log);
  sendNode(errorResponseFor(error, req), requestId, req, res);
}

function pageOf(problem: Problem, again: string | null, nonce: string): string {
  const { detail, hint, request_id } = problem;
  const title = problem.code === 'rate_limited' ? 'Too many requests' : problem.title;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)} · Winterdock</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(detail)}</p>
${hint === undefined ? '' : `<p>${escaped(hint)}</p>\n`}<p>${again === null ? '' : `<a href="${escaped(again)}">Try again</a>`}<a href="/">Overview</a></p>
<hr>
<p class="quiet">Request <code>${escaped(request_id)}</code></p>
</main>
</body>
</html>
`;
}
