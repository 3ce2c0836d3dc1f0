/**
 * Bounds on what of a request reaches Next, whose own parsing takes time that grows with the square of what is sent:
 * the address, the headers, the cookies and the body. Knows of pages only which take files.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { CookieRules } from '../auth/cookies.ts';
import { ownCookies } from '../auth/cookies.ts';
import { WinterdockError } from '../base/errors.ts';
import { isHeavyJson } from '../base/json-weight.ts';
import { readBody } from '../http/body.ts';
import { nodeBody } from '../http/node-adapter.ts';

/**
 * Header lines of a request, and of an address: its characters before the query, its segments, and its parameters,
 * which may be the ids of ticked rows. Browsers and proxies send a quarter of the lines; no page has a quarter of the
 * rest.
 */
const MOST_HEADERS = 100;
const MOST_PATH = 2048;
const MOST_SEGMENTS = 32;
const MOST_PARAMETERS = 256;
/** Values in the tree of segments that Next's own scripts send: a page of ours has fewer than a hundred. */
const MOST_TREE_VALUES = 400;
/** Bytes of a form or an action's call, and of one whose sender has no session: sign-in forms have one kilobyte. */
const MOST_BODY = 1024 * 1024;
const MOST_BODY_OF_STRANGER = 64 * 1024;
/** Parts of a form: the largest of the console have a part for each ticked row. */
const MOST_PARTS = 1000;

/** The addresses below `app/` that take files and read their bodies themselves, piece by piece. */
export const FILE_PAGES =
  /^\/(?:sandboxes\/[^/]+\/(?:upload|ship)|workbooks\/[^/]+\/check|shares\/(?:import|inspect)|blueprints\/upload)$/;

/** The error of a request with too many header lines, or null. `raw`: names and values in turn. */
export function headerCountProblem(raw: readonly string[]): WinterdockError | null {
  if (raw.length <= 2 * MOST_HEADERS) return null;
  return new WinterdockError('headers_too_large', 'The request has too many headers.', {
    hint: `It may have ${MOST_HEADERS}.`,
  });
}

/** The error of a request to a page whose address or state is too large for Next, or null. */
export function pageSizeProblem({ url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>) {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (path.length > MOST_PATH || count(path, '/') > MOST_SEGMENTS) {
    return new WinterdockError('uri_too_long', 'The address is too long.', {
      hint: `Before its parameters it may have ${MOST_PATH} characters and ${MOST_SEGMENTS} segments.`,
    });
  }
  if (mark >= 0 && count(url, '&', mark) >= MOST_PARAMETERS) {
    return new WinterdockError('uri_too_long', 'The address has too many parameters.', {
      hint: `It may have ${MOST_PARAMETERS}. Choose by a filter instead of row by row.`,
    });
  }
  const tree = headers['next-router-state-tree'];
  if (tree === undefined || !isHeavyJson(Buffer.from(decoded(String(tree))), MOST_TREE_VALUES)) return null;
  return new WinterdockError('headers_too_large', 'The state of the router is larger than that of any page.');
}

/** How often a character is in a text from `at` on. */
function count(text: string, character: string, at = 0): number {
  let found = 0;
  for (let next = text.indexOf(character, at); next >= 0; next = text.indexOf(character, next + 1)) found += 1;
  return found;
}

/** The text of a header that is percent-encoded; as it is where it is not. */
function decoded(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

/** Leaves the request no cookies but ours. */
export function dropForeignCookies(req: IncomingMessage, rules: CookieRules): void {
  const { cookie } = req.headers;
  if (cookie === undefined) return;
  const kept = ownCookies(cookie, rules);
  if (kept === '') delete req.headers.cookie;
  else req.headers.cookie = kept;
}

/**
 * Reads the body of a form or of an action's call before Next does. Returns the request to hand on: the same one where
 * there is no body, or a file that is read as it comes. Throws `too_large`. `isStranger`: whether its sender has no
 * session; asked only when that decides.
 */
export async function readForPage(
  req: IncomingMessage,
  res: ServerResponse,
  isStranger: () => Promise<boolean>,
): Promise<IncomingMessage> {
  const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
  if (req.method !== 'POST' || FILE_PAGES.test(path)) return req;
  const source = nodeBody(req, res);
  if (source.length === 0) return req;
  const isSmall = source.length !== null && source.length <= MOST_BODY_OF_STRANGER;
  const body = await readBody(source, isSmall || !(await isStranger()) ? MOST_BODY : MOST_BODY_OF_STRANGER);
  const isForm = /^multipart\//i.test(req.headers['content-type'] ?? '');
  // Every parser wants these words in each part, whatever it takes for a boundary.
  if (isForm && (body.toString('latin1').match(/form-data/gi)?.length ?? 0) > MOST_PARTS) {
    throw new WinterdockError('too_large', 'The form has too many parts.', { hint: `It may have ${MOST_PARTS}.` });
  }
  return withBody(req, body);
}

/** The same request with a body that has been read. */
function withBody(req: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  const again = new IncomingMessage(req.socket);
  Object.assign(again, { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor });
  again.push(body);
  again.complete = true;
  again.push(null);
  return again;
}
