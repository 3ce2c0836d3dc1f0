/**
 * The ledger's table: lines are chained and appended in the transaction of the change, announced after the commit, and
 * read in pages.
 */
import { and, asc, count, desc, eq, getTableColumns, gt, gte, lte, placeholder } from '../../../db/drizzle.ts';
import { events, ledgerSegments } from '../../../db/schema.ts';
import { boundedText } from '../../base/errors.ts';
import { CHAIN_START, type ChainedLine, type ChainHead, canonicalLine, chainHash } from '../chain.ts';
import { CommitEvents } from '../commit-events.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { LedgerFilter } from '../ledger.ts';
import { RepeatThrottle } from '../repeat-throttle.ts';
import type { LedgerEntry, LedgerLine, RowPage } from '../types.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { inBoundList, pastPosition, selectBy, selectUnindexed } from './raw.ts';

const { seq, hash, blanked, ...columns } = getTableColumns(events);
const LINE = { seq, ...columns };
const CHAINED = { ...LINE, hash, blanked };
const PROPERTIES = Object.keys(columns) as (keyof LedgerEntry)[];
/** Lines of other processes that are announced at once. */
const OTHERS = 500;
/** A filter's lines are counted up to this number; beyond it, any index is good enough. */
const COUNTED = 5000;

/** Filters with an index: the one with the fewest lines is scanned, the others are checked. */
const LEADS = ['instance', 'requestId', 'actor', 'type', 'tenant', 'trigger'] as const;
type Lead = (typeof LEADS)[number];

const indexOf = (lead: Lead | 'time') => `events_by_${lead === 'requestId' ? 'request' : lead}`;

export class LedgerTable {
  readonly #database: RegistryDatabase;
  /** The lines that this table announces. */
  readonly commitEvents: CommitEvents;
  readonly #repeats = new RepeatThrottle();
  /** Callbacks for when a line is committed. */
  readonly #once = new WeakMap<LedgerLine, () => void>();

  readonly #insert;
  readonly #last;
  readonly #lastDropped;
  readonly #chained;
  readonly #after;
  readonly #among;

  constructor(database: RegistryDatabase) {
    this.#database = database;
    this.#insert = database.statement((queries) =>
      queries
        .insert(events)
        .values(boundColumns({ ...LINE, hash }))
        .prepare(),
    );
    this.#last = database.statement((queries) =>
      queries.select({ seq, hash }).from(events).orderBy(desc(seq)).limit(1).prepare(),
    );
    this.#lastDropped = database.statement((queries) =>
      queries
        .select({ seq: ledgerSegments.lastSeq, hash: ledgerSegments.lastHash })
        .from(ledgerSegments)
        .orderBy(desc(ledgerSegments.lastSeq))
        .limit(1)
        .prepare(),
    );
    this.#chained = database.statement((queries) =>
      queries
        .select(CHAINED)
        .from(events)
        .where(gt(seq, placeholder('after')))
        .orderBy(asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    );
    this.#after = database.statement((queries) =>
      queries
        .select(LINE)
        .from(events)
        .where(gt(seq, placeholder('after')))
        .orderBy(asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    );
    this.#among = database.statement((queries) =>
      selectUnindexed(queries, LINE, events)
        .where(and(gt(seq, placeholder('from')), lte(seq, placeholder('to')), inBoundList(events.tenant, 'tenants')))
        .orderBy(asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    );
    this.commitEvents = new CommitEvents(this.lastSeq());
  }

  /**
   * Runs inside a write transaction. After the commit, pass the lines to `announce`. Repeated refusals are counted, not
   * written.
   */
  append(entries: LedgerEntry[]): LedgerLine[] {
    return this.#chain(this.#repeats.admit(entries));
  }

  /**
   * Runs inside a write transaction. Writes the summaries of repeated refusals: the due ones, or all. Pass the lines to
   * `announce`.
   */
  appendRepeatCounts(nowMs: number, all: boolean): LedgerLine[] {
    return this.#chain(this.#repeats.dueSummaries(nowMs, all));
  }

  #chain(sifted: ReturnType<RepeatThrottle['admit']>): LedgerLine[] {
    if (sifted.length === 0) return [];
    let { seq, hash } = this.head();
    return sifted.map(({ entry, written }) => {
      seq += 1;
      const line: LedgerLine = { ...wellFormed(entry), seq };
      hash = chainHash(hash, canonicalLine(line));
      this.#insert().run({ ...line, hash });
      this.#once.set(line, written);
      return line;
    });
  }

  /** The end of the chain. When every line was dropped, it is the last sealed line. */
  head(): ChainHead {
    // The column may be null, and a trigger refuses lines without a hash.
    return ((this.#last().get() ?? this.#lastDropped().get()) as ChainHead | undefined) ?? CHAIN_START;
  }

  /** Lines after `seq` with their hashes, oldest first. */
  chain(seq: number, limit: number): ChainedLine[] {
    return this.#chained().all({ after: seq, limit }) as ChainedLine[];
  }

  announce(lines: LedgerLine[]): void {
    for (const line of lines) this.#once.get(line)?.();
    const [first] = lines;
    if (first === undefined) return;
    this.announceOthers(first.seq - 1);
    this.commitEvents.emitLedgerAppend(lines);
  }

  /** Announces the lines up to a number that other processes have committed since the last ones that were announced. */
  announceOthers(until = this.lastSeq()): void {
    while (this.commitEvents.position < until) {
      const lines = this.after(this.commitEvents.position, Math.min(OTHERS, until - this.commitEvents.position));
      const theirs = lines.filter((line) => line.seq <= until);
      // The rest was dropped with its month.
      if (theirs.length === 0) return;
      this.commitEvents.emitLedgerAppend(theirs, null);
    }
  }

  /** Newest first: by time, and by number within a millisecond. */
  page({ tenants, ...filter }: LedgerFilter, limit: number, cursor?: string): RowPage<LedgerLine> {
    const after = cursor === undefined ? null : readCursor(cursor, isPosition);
    const allowed = filter.tenant === undefined ? tenants : tenants?.filter((tenant) => tenant === filter.tenant);
    const found =
      allowed === undefined
        ? this.#find(filter, limit + 1, after)
        : [...new Set(allowed)]
            .flatMap((tenant) => this.#find({ ...filter, tenant }, limit + 1, after))
            .sort((a, b) => b.timeMs - a.timeMs || b.seq - a.seq);
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return { rows, next: found.length > limit && last ? writeCursor([last.timeMs, last.seq]) : null };
  }

  #find(filter: Omit<LedgerFilter, 'tenants'>, limit: number, after: [number, number] | null): LedgerLine[] {
    const { since, until } = filter;
    const leads = LEADS.filter((lead) => filter[lead] !== undefined);
    const index = indexOf(this.#narrowest(filter, leads));
    const shape = `${index} ${leads} ${since === undefined} ${until === undefined} ${after === null}`;
    const statement = this.#database.shape(`ledger ${shape}`, (queries) =>
      selectBy(queries, LINE, events, index)
        .where(
          and(
            ...leads.map((lead) => eq(events[lead], placeholder(lead))),
            since === undefined ? undefined : gte(events.timeMs, placeholder('sinceMs')),
            until === undefined ? undefined : lte(events.timeMs, placeholder('untilMs')),
            after === null ? undefined : pastPosition([events.timeMs, seq], '<', ['afterMs', 'afterSeq']),
          ),
        )
        .orderBy(desc(events.timeMs), desc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    );
    const [afterMs, afterSeq] = after ?? [];
    const span = { sinceMs: (since ?? 0) * 1000, untilMs: (until ?? 0) * 1000 + 999 };
    return statement.all({ ...filter, ...span, afterMs, afterSeq, limit });
  }

  /** A line that matches one filter may be rare among those of another: the rarer one leads. */
  #narrowest(filter: LedgerFilter, leads: readonly Lead[]): Lead | 'time' {
    const [first, ...others] = leads;
    if (first === undefined) return 'time';
    // One sandbox has few lines, and every row of a page may show its last ones.
    if (others.length === 0 || first === 'instance') return first;
    let best: { lead: Lead; lines: number } = { lead: first, lines: COUNTED };
    for (const lead of leads) {
      const statement = this.#database.shape(`ledger count ${lead}`, (queries) => {
        const some = selectBy(queries, { seq }, events, indexOf(lead))
          .where(eq(events[lead], placeholder('value')))
          .limit(placeholder('limit'));
        return queries.select({ n: count() }).from(some.as('some')).prepare();
      });
      const lines = statement.get({ value: filter[lead], limit: best.lines })?.n ?? 0;
      if (lines < best.lines) best = { lead, lines };
    }
    return best.lead;
  }

  after(seq: number, limit: number): LedgerLine[] {
    return this.#after().all({ after: seq, limit });
  }

  ofTenants(tenants: readonly string[], from: number, to: number, limit: number): LedgerLine[] {
    return this.#among().all({ from, to, tenants: JSON.stringify(tenants), limit });
  }

  lastSeq(): number {
    return this.head().seq;
  }
}

function isPosition(position: unknown[]): position is [number, number] {
  return position.length === 2 && position.every(Number.isSafeInteger);
}

/**
 * The texts as they will be read back: SQLite replaces lone surrogates, and the hash must cover the stored text. Each
 * is bounded, for the ledger keeps what a guest may have written.
 */
function wellFormed(entry: LedgerEntry): LedgerEntry {
  const kept: Record<string, unknown> = {};
  for (const property of PROPERTIES) {
    const value = entry[property];
    kept[property] = typeof value === 'string' ? boundedText(value).toWellFormed() : value;
  }
  return kept as unknown as LedgerEntry;
}
