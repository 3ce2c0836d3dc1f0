/** The ledger lines of one sandbox that its life is drawn from, oldest first. Every read is bounded. */
import type { LedgerStore } from '../ledger.ts';
import { lifeLineStatements } from '../statements/life-lines.ts';
import type { LifeLine } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

export function lifeLines(
  database: RegistryDatabase,
): Pick<SyncMethods<LedgerStore>, 'linesBetween' | 'countBetween' | 'lastHopBefore'> {
  const { lines, counted, before } = lifeLineStatements(database);
  return {
    linesBetween: (id, { fromMs, toMs }, limit) => lines().all({ id, fromMs, toMs, limit }) as LifeLine[],
    countBetween: (id, { fromMs, toMs }, limit) => counted().get({ id, fromMs, toMs, limit })?.n ?? 0,
    lastHopBefore: (id, beforeMs) => before().get({ id, beforeMs })?.to ?? null,
  };
}
