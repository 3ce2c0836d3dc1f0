/** Statements over the ledger's lines. */
import { and, asc, count, desc, eq, getTableColumns, gt, gte, lte, placeholder } from '../../../db/drizzle.ts';
import { events, ledgerSegments } from '../../../db/schema.ts';
import type { LedgerFilter } from '../ledger.ts';
import { boundColumns } from './bound-values.ts';
import { inBoundList, pastPosition, selectBy, selectUnindexed } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const { seq, hash, blanked, ...columns } = getTableColumns(events);
const LINE = { seq, ...columns };
const CHAINED = { ...LINE, hash, blanked };

/** Filters with an index: the one with the fewest lines is scanned, the others are checked. */
const LEADS = ['instance', 'requestId', 'actor', 'type', 'tenant', 'trigger'] as const;
export type LedgerLead = (typeof LEADS)[number];

/** Those that a filter has. */
export function leadsOf(filter: LedgerFilter): LedgerLead[] {
  return LEADS.filter((lead) => filter[lead] !== undefined);
}

const indexOf = (lead: LedgerLead | 'time') => `events_by_${lead === 'requestId' ? 'request' : lead}`;

/** A page of lines, newest first, through the index of `lead`; `after`: the position of the last line before it. */
interface PageShape {
  filter: Omit<LedgerFilter, 'tenants'>;
  lead: LedgerLead | 'time';
  after: [timeMs: number, seq: number] | null;
}

/** What the statement of a page binds. */
export function pageBindings({ filter, after }: PageShape, limit: number): Record<string, unknown> {
  const { since, until } = filter;
  const [afterMs, afterSeq] = after ?? [];
  const span = { sinceMs: (since ?? 0) * 1000, untilMs: (until ?? 0) * 1000 + 999 };
  return { ...filter, ...span, afterMs, afterSeq, limit };
}

/** Whether the parts of a cursor are a position of a page. */
export function isPosition(position: unknown[]): position is [number, number] {
  return position.length === 2 && position.every(Number.isSafeInteger);
}

export function ledgerStatements(database: StatementMaker) {
  return {
    insert: database.statement((queries) =>
      queries
        .insert(events)
        .values(boundColumns({ ...LINE, hash }))
        .prepare(),
    ),
    last: database.statement((queries) =>
      queries.select({ seq, hash }).from(events).orderBy(desc(seq)).limit(1).prepare(),
    ),
    lastDropped: database.statement((queries) =>
      queries
        .select({ seq: ledgerSegments.lastSeq, hash: ledgerSegments.lastHash })
        .from(ledgerSegments)
        .orderBy(desc(ledgerSegments.lastSeq))
        .limit(1)
        .prepare(),
    ),
    chained: database.statement((queries) =>
      queries
        .select(CHAINED)
        .from(events)
        .where(gt(seq, placeholder('after')))
        .orderBy(asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    after: database.statement((queries) =>
      queries
        .select(LINE)
        .from(events)
        .where(gt(seq, placeholder('after')))
        .orderBy(asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    among: database.statement((queries) =>
      selectUnindexed(queries, LINE, events)
        .where(and(gt(seq, placeholder('from')), lte(seq, placeholder('to')), inBoundList(events.tenant, 'tenants')))
        .orderBy(asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    page({ filter, lead, after }: PageShape) {
      const { since, until } = filter;
      const [index, leads] = [indexOf(lead), leadsOf(filter)];
      const shape = `${index} ${leads} ${since === undefined} ${until === undefined} ${after === null}`;
      return database.shape(`ledger ${shape}`, (queries) =>
        selectBy(queries, LINE, events, index)
          .where(
            and(
              ...leads.map((one) => eq(events[one], placeholder(one))),
              since === undefined ? undefined : gte(events.timeMs, placeholder('sinceMs')),
              until === undefined ? undefined : lte(events.timeMs, placeholder('untilMs')),
              after === null ? undefined : pastPosition([events.timeMs, seq], '<', ['afterMs', 'afterSeq']),
            ),
          )
          .orderBy(desc(events.timeMs), desc(seq))
          .limit(placeholder('limit'))
          .prepare(),
      );
    },
    /** Number of lines with a value, up to a limit. */
    countOf: (lead: LedgerLead) =>
      database.shape(`ledger count ${lead}`, (queries) => {
        const some = selectBy(queries, { seq }, events, indexOf(lead))
          .where(eq(events[lead], placeholder('value')))
          .limit(placeholder('limit'));
        return queries.select({ n: count() }).from(some.as('some')).prepare();
      }),
  };
}
