/**
 * Records in the ledger which role was refused what. The ledger counts repeated refusals, so that many attempts do not
 * fill it. A request for another tenant's id is not recorded: it answers like an unknown id.
 */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { auditContextOf } from './audit-context.ts';

/** Records a refusal. To be awaited before it is answered. */
export type RefusalRecorder = (caller: Caller, operation: string, refusal: string) => Promise<void>;

export function createRefusalRecorder(parts: { registry: Pick<Registry, 'ledger'>; clock: Clock }): RefusalRecorder {
  return async (caller, operation, refusal) => {
    const tenant = caller.tenants?.length === 1 ? (caller.tenants[0] ?? null) : null;
    const entry = ledgerEntry(parts, null, auditContextOf(caller, `${operation}: ${refusal}`), 'access.refused');
    await parts.registry.ledger.append([{ ...entry, tenant }]);
  };
}
