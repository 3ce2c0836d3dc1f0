/** The audit context of a request: who asked, how, from where and why, as the ledger records it. */
import type { Caller } from '../auth/caller.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';

/** The cause of a caller's request. A verb asked in the console is an operator's; all else is a request. */
export function auditContextOf(caller: Caller, reason?: string): AuditContext {
  return {
    trigger: caller.via === 'console' ? 'operator' : 'request',
    actor: caller.actor,
    via: caller.via,
    requestId: caller.requestId,
    address: caller.address,
    reason: reason === undefined || reason === '' ? null : reason,
  };
}
