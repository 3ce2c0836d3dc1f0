/** Small values of the whole installation, by name, that survive a restart. Knows nothing of their meaning. */
import type { FactStore } from '../facts.ts';
import { FACT_PREFIX, settingStatements } from '../statements/facts.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

export function openFacts(database: PostgresDatabase, ledger: LedgerTable): FactStore {
  const { read, keep } = database.with(settingStatements);
  return {
    read: async (name) => (await read().get({ key: FACT_PREFIX + name }))?.value ?? null,
    write: (name, value, now, entry) =>
      ledger.recorded(entry === undefined ? [] : [entry], async () => {
        await keep().run({ key: FACT_PREFIX + name, value, updated: now });
      }),
  };
}
