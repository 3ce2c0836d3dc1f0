/** Small values of the whole installation, by name, that survive a restart. Knows nothing of their meaning. */
import type { FactStore } from '../facts.ts';
import { FACT_PREFIX, settingStatements } from '../statements/facts.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export function openFacts(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<FactStore> {
  const { read, keep } = settingStatements(database);
  return {
    read: (name) => read().get({ key: FACT_PREFIX + name })?.value ?? null,
    write(name, value, now, entry) {
      const lines = database.write(() => {
        keep().run({ key: FACT_PREFIX + name, value, updated: now });
        return entry === undefined ? [] : ledger.append([entry]);
      });
      ledger.announce(lines);
    },
  };
}
