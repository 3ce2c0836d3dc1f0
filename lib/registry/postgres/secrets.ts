/** Rows of secrets. A trigger removes those of a deleted sandbox. Stores what is encrypted, and cannot read it. */

import { WinterdockError } from '../../base/errors.ts';
import { newSecretRow } from '../new-rows.ts';
import { tooManySecrets } from '../registry-errors.ts';
import type { SecretStore } from '../secrets.ts';
import { secretKeyOf, secretStatements } from '../statements/secrets.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

export function openSecrets(database: PostgresDatabase, ledger: LedgerTable): SecretStore {
  const { get, list, usable, all, countOf, put, remove, reseal, used, stateOf } = database.with(secretStatements);
  return {
    async put(secret, set, most, entry) {
      return ledger.recorded([entry], async () => {
        const state = secret.instance === '' ? 'created' : (await stateOf().get({ instance: secret.instance }))?.state;
        if (state === undefined || state === 'deleted')
          throw new WinterdockError('gone', `The sandbox "${secret.instance}" was deleted.`);
        const before = await get().get(secretKeyOf(secret));
        if (before === undefined && ((await countOf().get(secretKeyOf(secret)))?.n ?? 0) >= most)
          throw tooManySecrets(secret, most);
        const row = newSecretRow(secret, before, set);
        await put().run({ ...row });
        return { row, created: before === undefined };
      });
    },
    list: async (ofTenant, ofInstance) => await list().all({ tenant: ofTenant, instance: ofInstance }),
    usable: async (ofTenant, ofInstance) => await usable().all({ tenant: ofTenant, instance: ofInstance, none: '' }),
    all: async () => await all().all(),
    remove: (key, entry) => ledger.recorded([entry], async () => (await remove().run(secretKeyOf(key))).changes === 1),
    reseal: (changes) =>
      database.write(async () => {
        let changed = 0;
        for (const { from, sealed, ...key } of changes) {
          changed += (await reseal().run({ ...secretKeyOf(key), from, sealed })).changes;
        }
        return changed;
      }),
    used: async (key, now) => await database.write(async () => void (await used().run({ ...secretKeyOf(key), now }))),
  };
}
