/** Rows of secrets. A trigger removes those of a deleted sandbox. Stores what is encrypted, and cannot read it. */

import { WinterdockError } from '../../base/errors.ts';
import { newSecretRow } from '../new-rows.ts';
import { tooManySecrets } from '../registry-errors.ts';
import type { SecretStore } from '../secrets.ts';
import { secretKeyOf, secretStatements } from '../statements/secrets.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export function openSecrets(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<SecretStore> {
  const { get, list, usable, all, countOf, put, remove, reseal, used, stateOf } = secretStatements(database);
  return {
    put(secret, set, most, entry) {
      const [result, lines] = database.write(() => {
        const state = secret.instance === '' ? 'created' : stateOf().get({ instance: secret.instance })?.state;
        if (state === undefined || state === 'deleted')
          throw new WinterdockError('gone', `The sandbox "${secret.instance}" was deleted.`);
        const before = get().get(secretKeyOf(secret));
        if (before === undefined && (countOf().get(secretKeyOf(secret))?.n ?? 0) >= most)
          throw tooManySecrets(secret, most);
        const row = newSecretRow(secret, before, set);
        put().run({ ...row });
        return [{ row, created: before === undefined }, ledger.append([entry])] as const;
      });
      ledger.announce(lines);
      return result;
    },
    list: (ofTenant, ofInstance) => list().all({ tenant: ofTenant, instance: ofInstance }),
    usable: (ofTenant, ofInstance) => usable().all({ tenant: ofTenant, instance: ofInstance, none: '' }),
    all: () => all().all(),
    remove(key, entry) {
      const [removed, lines] = database.write(() => {
        const gone = remove().run(secretKeyOf(key)).changes === 1;
        return [gone, gone ? ledger.append([entry]) : []] as const;
      });
      ledger.announce(lines);
      return removed;
    },
    reseal: (changes) =>
      database.write(() =>
        changes.reduce(
          (sum, { from, sealed, ...key }) => sum + reseal().run({ ...secretKeyOf(key), from, sealed }).changes,
          0,
        ),
      ),
    used: (key, now) => database.writeWithoutSync(() => void used().run({ ...secretKeyOf(key), now })),
  };
}
