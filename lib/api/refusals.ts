/**
 * Refusals of roles as lines of the ledger: who tried what. One line a minute for the same caller and operation, so that trying often fills
 * nothing. An id of another tenant is no refusal here: it answers, and is told of, like an unknown one.
 */
import type { Caller } from '../auth.ts';
import type { Clock } from '../clock.ts';
import type { Registry } from '../registry/registry.ts';
import { line } from '../sessions/engine.ts';
import { causeOf } from './cause.ts';

/** Told of each refusal before it is answered. */
export type Refused = (caller: Caller, operation: string, says: string) => Promise<void>;

const QUIET_MS = 60_000;
const REMEMBERED = 10_000;

/** Makes the teller. */
export function createRefusals(parts: { registry: Pick<Registry, 'append'>; clock: Clock }): Refused {
  const told = new Map<string, number>();
  return async (caller, operation, says) => {
    const what = `${caller.actor} ${operation}`;
    const now = parts.clock.now();
    const last = told.get(what);
    if (last !== undefined && now - last < QUIET_MS) return;
    told.delete(what);
    if (told.size >= REMEMBERED) told.delete(told.keys().next().value ?? '');
    told.set(what, now);
    const tenant = caller.tenants?.length === 1 ? (caller.tenants[0] ?? null) : null;
    const entry = line(parts, null, causeOf(caller, `${operation}: ${says}`), 'access.refused');
    await parts.registry.append([{ ...entry, tenant }]);
  };
}
