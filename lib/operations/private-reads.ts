/**
 * Records every read of private contents (the volume `memory`) in the ledger before it is answered: who, how, which
 * sandbox. Never file names or contents: more people see the ledger than may read them.
 */
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import type { InstanceId } from '../base/ids.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { auditContextOf } from './audit-context.ts';

/**
 * Records a read; to be awaited before it. `what` in a few words, without names of files. Throws what `rowOf` throws.
 */
export type PrivateReads = (caller: Caller, id: InstanceId, what: string) => Promise<void>;

/** Makes the recorder. Several reads of one sandbox by one request are one line. */
export function createPrivateReads(parts: {
  registry: Pick<Registry, 'ledger'>;
  clock: Clock;
  rowOf: (id: InstanceId) => Promise<InstanceRow>;
}): PrivateReads {
  const recorded = new WeakMap<Caller, Map<string, Promise<void>>>();
  const record = async (caller: Caller, id: InstanceId, what: string): Promise<void> => {
    const row = await parts.rowOf(id);
    await parts.registry.ledger.append([
      ledgerEntry(parts, row, auditContextOf(caller), 'private.read', { reason: what }),
    ]);
  };
  return (caller, id, what) => {
    const ofCaller = recorded.get(caller) ?? new Map<string, Promise<void>>();
    recorded.set(caller, ofCaller);
    const recording = ofCaller.get(id) ?? record(caller, id, what);
    ofCaller.set(id, recording);
    return recording;
  };
}
