/** Statements that find and blank the lines of a forgotten tenant. */
import { and, eq, gt, isNotNull, isNull, lte, ne, notInArray, or, placeholder } from '../../../db/drizzle.ts';
import { events, ledgerSegments } from '../../../db/schema.ts';
import { boundColumns } from './bound-values.ts';
import { jsonMember, selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** Types of a forgetting's own lines, which keep their texts. */
const OWN_TYPES = ['tenant.forgetting', 'tenant.forgotten'];
const { reason, error, requestId, address, blanked } = events;

/** Lines with more content than ids that are not about the forgetting `job`. */
export const HAS_TEXTS = and(
  isNull(blanked),
  notInArray(events.type, OWN_TYPES),
  or(isNotNull(reason), isNotNull(error), isNotNull(address), ne(requestId, placeholder('job'))),
);

export function lineBlankingStatements(database: StatementMaker) {
  const candidates = database.statement((queries) =>
    queries
      .select({ seq: events.seq, tenant: events.tenant, type: events.type, actor: events.actor, reason, requestId })
      .from(events)
      .where(
        and(
          gt(events.seq, placeholder('after')),
          lte(events.seq, placeholder('to')),
          HAS_TEXTS,
          or(eq(events.tenant, placeholder('tenant')), isNull(events.tenant)),
        ),
      )
      .orderBy(events.seq)
      .limit(placeholder('limit'))
      .prepare(),
  );
  const hashAt = database.statement((queries) =>
    queries
      .select({ hash: events.hash })
      .from(events)
      .where(eq(events.seq, placeholder('seq')))
      .prepare(),
  );
  const sealedAt = database.statement((queries) =>
    queries
      .select({ hash: ledgerSegments.lastHash })
      .from(ledgerSegments)
      .where(eq(ledgerSegments.lastSeq, placeholder('seq')))
      .prepare(),
  );
  const blank = database.statement((queries) =>
    queries
      .update(events)
      .set({ reason: null, error: null, requestId: null, address: null, ...boundColumns({ blanked }) })
      .where(and(eq(events.seq, placeholder('seq')), isNull(blanked)))
      .prepare(),
  );
  const notes = database.statement((queries) =>
    selectBy(queries, { seq: events.seq, note: blanked }, events, 'events_blanked')
      .where(
        and(
          isNotNull(blanked),
          gt(events.seq, placeholder('after')),
          eq(jsonMember(blanked, 'by'), placeholder('job')),
        ),
      )
      .orderBy(events.seq)
      .limit(placeholder('limit'))
      .prepare(),
  );
  return {
    candidates,
    hashAt,
    sealedAt,
    blank,
    notes,
  };
}
