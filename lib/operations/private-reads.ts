/**
 * Reading what is private – the contents of the volume `memory`, by whatever way – is told to the ledger before it is
 * answered: who, how, which sandbox. Never what: names and contents of private files are private too, and more people
 * see the ledger than may read them.
 */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { ledgerEntry } from '../sessions/engine.ts';
import { auditContextOf } from './audit-context.ts';

/**
 * To be awaited before anything private of the sandbox is read; `what` in a few words, without names of files. Throws
 * what `rowOf` throws.
 */
export type PrivateReads = (caller: Caller, id: string, what: string) => Promise<void>;

/** Makes the teller. One request that looks at a sandbox several times is one line. */
export function createPrivateReads(parts: {
  registry: Pick<Registry, 'ledger'>;
  clock: Clock;
  rowOf: (id: string) => Promise<InstanceRow>;
}): PrivateReads {
  const told = new WeakMap<Caller, Map<string, Promise<void>>>();
  const tell = async (caller: Caller, id: string, what: string): Promise<void> => {
    const row = await parts.rowOf(id);
    await parts.registry.ledger.append([
      ledgerEntry(parts, row, auditContextOf(caller), 'private.read', { reason: what }),
    ]);
  };
  return (caller, id, what) => {
    const ofCaller = told.get(caller) ?? new Map<string, Promise<void>>();
    told.set(caller, ofCaller);
    const telling = ofCaller.get(id) ?? tell(caller, id, what);
    ofCaller.set(id, telling);
    return telling;
  };
}
