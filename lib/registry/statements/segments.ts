/** Statements over the sealed months of the ledger. */
import {
  and,
  eq,
  getTableColumns,
  gt,
  gte,
  isNotNull,
  isNull,
  lte,
  max,
  min,
  placeholder,
} from '../../../db/drizzle.ts';
import { events, ledgerSegments } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import { selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const SEGMENT = getTableColumns(ledgerSegments);

export function segmentStatements(database: StatementMaker) {
  const isIt = eq(ledgerSegments.id, placeholder('id'));
  const list = database.statement((queries) =>
    queries.select().from(ledgerSegments).orderBy(ledgerSegments.firstSeq).prepare(),
  );
  const get = database.statement((queries) => queries.select().from(ledgerSegments).where(isIt).prepare());
  const firstSince = database.statement((queries) =>
    selectBy(queries, { first: min(events.seq) }, events, 'events_by_time')
      .where(and(gte(events.timeMs, placeholder('timeMs')), gt(events.seq, placeholder('seq'))))
      .prepare(),
  );
  const { exportedMs, droppedMs, dropSignature, ...sealed } = SEGMENT;
  const seal = database.statement((queries) => queries.insert(ledgerSegments).values(boundColumns(sealed)).prepare());
  const exported = database.statement((queries) =>
    queries
      .update(ledgerSegments)
      .set(boundColumns({ exportedMs }))
      .where(and(isIt, isNull(exportedMs)))
      .prepare(),
  );
  const drop = database.statement((queries) =>
    queries
      .update(ledgerSegments)
      .set(boundColumns({ droppedMs, dropSignature }))
      .where(and(isIt, isNull(droppedMs), isNotNull(exportedMs)))
      .prepare(),
  );
  const first = database.statement((queries) =>
    queries
      .select({ seq: min(events.seq) })
      .from(events)
      .prepare(),
  );
  const sweepTo = database.statement((queries) =>
    queries
      .select({ seq: max(ledgerSegments.lastSeq) })
      .from(ledgerSegments)
      .where(isNotNull(droppedMs))
      .prepare(),
  );
  const sweep = database.statement((queries) =>
    queries
      .delete(events)
      .where(and(gte(events.seq, placeholder('first')), lte(events.seq, placeholder('last'))))
      .prepare(),
  );
  return {
    list,
    get,
    firstSince,
    seal,
    exported,
    drop,
    first,
    sweepTo,
    sweep,
  };
}
