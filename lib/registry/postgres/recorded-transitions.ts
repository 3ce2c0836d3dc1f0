/** Transitions in the ledger, newest first, read beside other work: the simulator's input. */
import { and, desc, eq, gte, isNotNull, placeholder, type Queries } from '../../../db/drizzle.ts';
import { events } from '../../../db/schema.ts';
import { inBoundList } from '../statements/raw.ts';
import type { RecordedTransition } from '../types.ts';
import type { PostgresDatabase } from './database.ts';

/** Lines read before other work runs: some milliseconds. */
const BATCH_LINES = 1000;
const { timeMs, instance, from, to, trigger, source, reason } = events;

/** See `LedgerStore.transitions`. One statement, so it is of one moment. */
export function readTransitions(
  database: PostgresDatabase,
  sinceMs: number,
  tenants: readonly string[] | undefined,
): AsyncIterable<RecordedTransition[]> {
  const build = (queries: Queries) =>
    queries
      .select({ timeMs, instance, from, to, trigger, source, reason })
      .from(events)
      .where(
        and(
          gte(timeMs, placeholder('sinceMs')),
          eq(events.type, 'transition'),
          isNotNull(instance),
          tenants === undefined ? undefined : inBoundList(events.tenant, 'tenants'),
        ),
      )
      .orderBy(desc(timeMs), desc(events.seq))
      .prepare();
  return database.pieces(build, { sinceMs, tenants: JSON.stringify(tenants ?? []) }, BATCH_LINES);
}
