/**
 * Refusals of roles as lines of the ledger: who tried what. The ledger counts those that repeat, so that trying often
 * fills nothing. An id of another tenant is no refusal here: it answers, and is told of, like an unknown one.
 */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import type { Registry } from '../registry/registry.ts';
import { ledgerEntry } from '../sessions/engine.ts';
import { causeOf } from './audit-context.ts';

/** Told of each refusal before it is answered. */
export type Refused = (caller: Caller, operation: string, says: string) => Promise<void>;

/** Makes the teller. */
export function createRefusals(parts: { registry: Pick<Registry, 'ledger'>; clock: Clock }): Refused {
  return async (caller, operation, says) => {
    const tenant = caller.tenants?.length === 1 ? (caller.tenants[0] ?? null) : null;
    const entry = ledgerEntry(parts, null, causeOf(caller, `${operation}: ${says}`), 'access.refused');
    await parts.registry.ledger.append([{ ...entry, tenant }]);
  };
}
