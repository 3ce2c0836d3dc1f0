/** The ledger lines of one sandbox that its life is drawn from, oldest first. Every read is bounded. */
import type { LedgerStore } from '../ledger.ts';
import { lifeLineStatements } from '../statements/life-lines.ts';
import type { LifeLine } from '../types.ts';
import type { PostgresDatabase } from './database.ts';

export function lifeLines(
  database: PostgresDatabase,
): Pick<LedgerStore, 'linesBetween' | 'countBetween' | 'lastHopBefore'> {
  const { lines, counted, before } = database.with(lifeLineStatements);
  return {
    linesBetween: async (id, { fromMs, toMs }, limit) => (await lines().all({ id, fromMs, toMs, limit })) as LifeLine[],
    countBetween: async (id, { fromMs, toMs }, limit) => (await counted().get({ id, fromMs, toMs, limit }))?.n ?? 0,
    lastHopBefore: async (id, beforeMs) => (await before().get({ id, beforeMs }))?.to ?? null,
  };
}
