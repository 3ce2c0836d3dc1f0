/**
 * The status of the sign-in page for a link that lets nobody in any more: the page says so in words, and only the front
 * sets a status.
 */

import type { Auth } from '../auth/auth.ts';
import { isSafeMethod } from '../auth/origin.ts';
import type { PageHandler } from './page-adapter.ts';

const GONE = 410;
const PATH = '/signin';
/** Longest token that is looked up: ours have 43 characters. */
const TOKEN_LENGTH = 200;

/** `pages`, but what comes by a link that is used, over or none of ours is answered as gone. */
export function tellingSpentLinks(
  pages: PageHandler,
  auth: { entrance: Pick<Auth['entrance'], 'stateOf'> },
): PageHandler {
  return async (req, res) => {
    const token = isSafeMethod(req.method ?? 'GET') ? tokenOf(req.url ?? '') : null;
    // Another address is asked for in the same page by the console's own code, which takes only what is whole.
    if (token !== null && req.headers.rsc === undefined && (await isSpent(auth, token))) res.statusCode = GONE;
    return pages(req, res);
  };
}

async function isSpent(auth: { entrance: Pick<Auth['entrance'], 'stateOf'> }, token: string): Promise<boolean> {
  return token.length > TOKEN_LENGTH || (await auth.entrance.stateOf(token)) !== 'good';
}

/** The token of a link that leads to the sign-in page; null when there is none. */
function tokenOf(target: string): string | null {
  const [path, search = ''] = target.split('?', 2);
  if (path !== PATH) return null;
  const token = new URLSearchParams(search).get('token');
  return token === null || token === '' ? null : token;
}
