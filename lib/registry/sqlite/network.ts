/** The network of sandboxes, in the registry's file: lists of what may be reached, and what was, by the hour. */
import { WinterdockError } from '../../base/errors.ts';
import type { NetworkStore } from '../network.ts';
import { networkStatements } from '../statements/network.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';
import type { NoteWrite } from './write-ids.ts';

export function openNetwork(
  database: RegistryDatabase,
  ledger: LedgerTable,
  isNew: NoteWrite,
): SyncMethods<NetworkStore> {
  const statements = networkStatements(database);
  return {
    policy: (kind, id) => statements.policy().get({ kind, id }) ?? null,
    setPolicy(subject, policy, entry) {
      const lines = database.write(() => {
        const isGone = subject.kind === 'sandbox' && statements.living().get({ id: subject.id }) === undefined;
        if (isGone) throw new WinterdockError('gone', `The sandbox "${subject.id}" was deleted.`);
        statements.setPolicy().run({ ...subject, ...policy });
        return ledger.append([entry]);
      });
      ledger.announce(lines);
    },
    addTraffic(hour, traffic, writeId) {
      if (traffic.length === 0) return;
      database.writeWithoutSync(() => {
        if (!isNew(writeId)) return;
        for (const use of traffic) {
          if (statements.living().get({ id: use.instance }) === undefined) continue;
          if (statements.forgotten().get({ tenant: use.tenant }) !== undefined) continue;
          statements.add().run({ ...use, hour });
        }
      });
    },
    traffic: (instance, sinceHour, limit) => statements.traffic().all({ instance, sinceHour, limit }),
    bytesSince(kind, id, hour) {
      const found = (kind === 'sandbox' ? statements.bytesOfSandbox() : statements.bytesOfTenant()).get({ id, hour });
      return found === undefined ? 0 : found.out + found.in;
    },
    prune: (before, limit) => database.writeWithoutSync(() => statements.prune().run({ before, limit }).changes),
  };
}
