/** Small values of the whole installation, by name, that survive a restart. Knows nothing of their meaning. */
import { eq, getTableColumns, placeholder } from '../../../db/drizzle.ts';
import { settings } from '../../../db/schema.ts';
import type { FactStore } from '../facts.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

/** Prefix that separates facts from the registry's own settings in the same table. */
export const FACT_PREFIX = 'fact.';

export function openFacts(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<FactStore> {
  const read = database.statement((queries) =>
    queries
      .select({ value: settings.value })
      .from(settings)
      .where(eq(settings.key, placeholder('key')))
      .prepare(),
  );
  const { key, ...fact } = getTableColumns(settings);
  const keep = database.statement((queries) =>
    queries
      .insert(settings)
      .values(boundColumns({ key, ...fact }))
      .onConflictDoUpdate({ target: key, set: boundColumns(fact) })
      .prepare(),
  );
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
