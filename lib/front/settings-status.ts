/**
 * Answers a settings page with 403 when the visitor's role does not open it. The page explains that in words; a page of
 * Next cannot set the status, so the front does.
 */
import type { Auth } from '../auth/auth.ts';
import { isSafeMethod } from '../auth/origin.ts';
import { type OperationName, whyNot } from '../contract/access.ts';
import type { PageHandler } from './page-adapter.ts';

const FORBIDDEN = 403;

/** What each page of the settings reads; the account and the thresholds are for everybody. */
const READS: Readonly<Record<string, OperationName>> = {
  people: 'people',
  keys: 'listKeys',
  storage: 'storage',
  ledger: 'verifyLedger',
  webhooks: 'listWebhooks',
};

/** `pages`, with status 403 for settings that the visitor's role does not open. */
export function withSettingsStatus(pages: PageHandler, auth: Pick<Auth, 'callerFromHeaders'>): PageHandler {
  return async (req, res) => {
    const operation = isSafeMethod(req.method ?? 'GET') ? operationOf(req.url ?? '') : null;
    // Not for the console's own navigation (`rsc`): Next's client accepts only a 200.
    if (operation !== null && req.headers.rsc === undefined && (await isRefused(auth, req.headers.cookie, operation))) {
      res.statusCode = FORBIDDEN;
    }
    return pages(req, res);
  };
}

async function isRefused(auth: Pick<Auth, 'callerFromHeaders'>, cookie: string | undefined, operation: OperationName) {
  if (cookie === undefined) return false;
  const caller = await auth.callerFromHeaders({ cookie }, { via: 'console' });
  return caller !== null && whyNot(caller, operation) !== null;
}

/** The operation that a settings page needs; null for any other address. */
function operationOf(target: string): OperationName | null {
  const page = /^\/settings\/([a-z]+)(?:[/?]|$)/.exec(target)?.[1];
  return page !== undefined && Object.hasOwn(READS, page) ? (READS[page] ?? null) : null;
}
