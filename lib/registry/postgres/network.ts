/** The network of sandboxes, in the registry's file: lists of what may be reached, and what was, by the hour. */
import { WinterdockError } from '../../base/errors.ts';
import type { NetworkStore } from '../network.ts';
import { networkStatements } from '../statements/network.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { NoteWrite } from './write-ids.ts';

export function openNetwork(database: PostgresDatabase, ledger: LedgerTable, isNew: NoteWrite): NetworkStore {
  const statements = database.with(networkStatements);
  return {
    policy: async (kind, id) => (await statements.policy().get({ kind, id })) ?? null,
    async setPolicy(subject, policy, entry) {
      await ledger.recorded([entry], async () => {
        const isGone = subject.kind === 'sandbox' && (await statements.living().get({ id: subject.id })) === undefined;
        if (isGone) throw new WinterdockError('gone', `The sandbox "${subject.id}" was deleted.`);
        await statements.setPolicy().run({ ...subject, ...policy });
      });
    },
    async addTraffic(hour, traffic, writeId) {
      if (traffic.length === 0) return;
      await database.write(async () => {
        if (!(await isNew(writeId))) return;
        for (const use of traffic) {
          if ((await statements.living().get({ id: use.instance })) === undefined) continue;
          if ((await statements.forgotten().get({ tenant: use.tenant })) !== undefined) continue;
          await statements.add().run({ ...use, hour });
        }
      });
    },
    traffic: async (instance, sinceHour, limit) => await statements.traffic().all({ instance, sinceHour, limit }),
    async bytesSince(kind, id, hour) {
      const found = await (kind === 'sandbox' ? statements.bytesOfSandbox() : statements.bytesOfTenant()).get({
        id,
        hour,
      });
      return found === undefined ? 0 : found.out + found.in;
    },
    prune: async (before, limit) =>
      await database.write(async () => (await statements.prune().run({ before, limit })).changes),
  };
}
