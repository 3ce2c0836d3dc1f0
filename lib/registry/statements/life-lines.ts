/** Statements over the ledger lines of one sandbox. */
import { and, asc, count, desc, eq, gte, lt, placeholder } from '../../../db/drizzle.ts';
import { events } from '../../../db/schema.ts';
import { selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** Lines looked back through for the last hop; beyond them it is not known. */
const LOOKED_BACK = 1000;
const { timeMs, type, from, to, trigger, source, tookMs, reason, instance } = events;
const COLUMNS = { timeMs, type, from, to, trigger, source, tookMs, reason };
const INDEX = 'events_by_instance';

export function lifeLineStatements(database: StatementMaker) {
  const within = and(
    eq(instance, placeholder('id')),
    gte(timeMs, placeholder('fromMs')),
    lt(timeMs, placeholder('toMs')),
  );
  const lines = database.statement((queries) =>
    selectBy(queries, COLUMNS, events, INDEX)
      .where(within)
      .orderBy(asc(timeMs), asc(events.seq))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const counted = database.statement((queries) => {
    const some = selectBy(queries, { timeMs }, events, INDEX).where(within).limit(placeholder('limit'));
    return queries.select({ n: count() }).from(some.as('some')).prepare();
  });
  const before = database.statement((queries) => {
    const last = selectBy(queries, { type, to }, events, INDEX)
      .where(and(eq(instance, placeholder('id')), lt(timeMs, placeholder('beforeMs'))))
      .orderBy(desc(timeMs), desc(events.seq))
      .limit(LOOKED_BACK)
      .as('last');
    return queries.select({ to: last.to }).from(last).where(eq(last.type, 'transition')).limit(1).prepare();
  });
  return {
    lines,
    counted,
    before,
  };
}
