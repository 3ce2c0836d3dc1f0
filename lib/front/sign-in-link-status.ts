/**
 * Answers the sign-in page with 410 when its link is used, expired or unknown. The page explains that in words; a page
 * of Next cannot set the status, so the front does.
 */
import type { Auth } from '../auth/auth.ts';
import { isSafeMethod } from '../auth/origin.ts';
import type { PageHandler } from './page-adapter.ts';

const GONE = 410;
const PATH = '/signin';
/** Longest token that is looked up: ours have 43 characters. */
const TOKEN_LENGTH = 200;

/** `pages`, with status 410 for a sign-in link that is used, expired or unknown. */
export function withLinkStatus(pages: PageHandler, auth: { signIns: Pick<Auth['signIns'], 'linkState'> }): PageHandler {
  return async (req, res) => {
    const token = isSafeMethod(req.method ?? 'GET') ? tokenOf(req.url ?? '') : null;
    // Not for the console's own navigation (`rsc`): Next's client accepts only a 200.
    if (token !== null && req.headers.rsc === undefined && (await isInvalid(auth, token))) res.statusCode = GONE;
    return pages(req, res);
  };
}

async function isInvalid(auth: { signIns: Pick<Auth['signIns'], 'linkState'> }, token: string): Promise<boolean> {
  return token.length > TOKEN_LENGTH || (await auth.signIns.linkState(token)) !== 'good';
}

/** The token of a link that leads to the sign-in page; null when there is none. */
function tokenOf(target: string): string | null {
  const [path, search = ''] = target.split('?', 2);
  if (path !== PATH) return null;
  const token = new URLSearchParams(search).get('token');
  return token === null || token === '' ? null : token;
}
