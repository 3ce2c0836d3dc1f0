/** Transitions in the ledger, newest first, read beside other work: the simulator's input. */
import { and, asc, desc, eq, gte, isNotNull, placeholder } from '../../../db/drizzle.ts';
import { events } from '../../../db/schema.ts';
import { selectBy, selectUnindexed } from '../statements/raw.ts';
import type { Query } from '../statements/statements.ts';
import type { RecordedTransition } from '../types.ts';
import type { RegistryDatabase } from './database.ts';

/** Lines read before other work runs: some milliseconds. */
const BATCH_LINES = 1000;
const TRANSITION_COLUMNS = {
  timeMs: events.timeMs,
  instance: events.instance,
  from: events.from,
  to: events.to,
  trigger: events.trigger,
  source: events.source,
  reason: events.reason,
};

/** See `LedgerStore.transitions`. */
export function readTransitions(
  database: RegistryDatabase,
  sinceMs: number,
  tenants: readonly string[] | undefined,
): AsyncIterable<RecordedTransition[]> {
  const { queries } = database;
  const isHop = and(gte(events.timeMs, sinceMs), eq(events.type, 'transition'), isNotNull(events.instance));
  // A line of type `transition` names a sandbox and both states.
  const typed = (query: unknown): Query<RecordedTransition> => ({
    fields: TRANSITION_COLUMNS,
    toSQL: () => (query as Query<RecordedTransition>).toSQL(),
  });
  if (tenants !== undefined) {
    const ofTenants = tenants.map((tenant) =>
      selectBy(queries, TRANSITION_COLUMNS, events, 'events_by_tenant')
        .where(and(eq(events.tenant, tenant), isHop))
        .orderBy(desc(events.timeMs), desc(events.seq)),
    );
    return database.pieces(ofTenants.map(typed), BATCH_LINES);
  }
  const first = database.shape('hops: first', () =>
    selectBy(queries, { seq: events.seq }, events, 'events_by_time')
      .where(gte(events.timeMs, placeholder('sinceMs')))
      .orderBy(asc(events.timeMs), asc(events.seq))
      .limit(1)
      .prepare(),
  );
  // Numbers rise with time, so the table itself is read backwards, without following an index line by line.
  const all = selectUnindexed(queries, TRANSITION_COLUMNS, events)
    .where(and(gte(events.seq, first.get({ sinceMs })?.seq ?? 0), isHop))
    .orderBy(desc(events.seq));
  return database.pieces([typed(all)], BATCH_LINES);
}
