/**
 * The ledger's table: lines are chained and appended in the transaction of the change, announced after the commit, and
 * read in pages.
 */
import { CHAIN_START, type ChainedLine, type ChainHead, canonicalLine, chainHash } from '../chain.ts';
import { CommitEvents } from '../commit-events.ts';
import { pageOfRows, readCursor } from '../cursor.ts';
import type { LedgerFilter } from '../ledger.ts';
import { storedEntry } from '../ledger-entry.ts';
import { RepeatThrottle } from '../repeat-throttle.ts';
import { isPosition, type LedgerLead, leadsOf, ledgerStatements, pageBindings } from '../statements/ledger.ts';
import type { LedgerEntry, LedgerLine, RowPage } from '../types.ts';
import type { RegistryDatabase } from './database.ts';

/** Lines of other processes that are announced at once. */
const OTHERS = 500;
/** A filter's lines are counted up to this number; beyond it, any index is good enough. */
const COUNTED = 5000;

export class LedgerTable {
  /** The lines that this table announces. */
  readonly commitEvents: CommitEvents;
  readonly #repeats = new RepeatThrottle();
  /** Callbacks for when a line is committed. */
  readonly #once = new WeakMap<LedgerLine, () => void>();

  readonly #statements;

  constructor(database: RegistryDatabase) {
    this.#statements = ledgerStatements(database);
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
      const line: LedgerLine = { ...storedEntry(entry), seq };
      hash = chainHash(hash, canonicalLine(line));
      this.#statements.insert().run({ ...line, hash });
      this.#once.set(line, written);
      return line;
    });
  }

  /** The end of the chain. When every line was dropped, it is the last sealed line. */
  head(): ChainHead {
    // The column may be null, and a trigger refuses lines without a hash.
    return (
      ((this.#statements.last().get() ?? this.#statements.lastDropped().get()) as ChainHead | undefined) ?? CHAIN_START
    );
  }

  /** Lines after `seq` with their hashes, oldest first. */
  chain(seq: number, limit: number): ChainedLine[] {
    return this.#statements.chained().all({ after: seq, limit }) as ChainedLine[];
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
    return pageOfRows(found, limit, ({ timeMs, seq }) => [timeMs, seq]);
  }

  #find(filter: Omit<LedgerFilter, 'tenants'>, limit: number, after: [number, number] | null): LedgerLine[] {
    const shape = { filter, lead: this.#narrowest(filter), after };
    return this.#statements.page(shape).all(pageBindings(shape, limit));
  }

  /** A line that matches one filter may be rare among those of another: the rarer one leads. */
  #narrowest(filter: LedgerFilter): LedgerLead | 'time' {
    const leads = leadsOf(filter);
    const [first, ...others] = leads;
    if (first === undefined) return 'time';
    // One sandbox has few lines, and every row of a page may show its last ones.
    if (others.length === 0 || first === 'instance') return first;
    let best: { lead: LedgerLead; lines: number } = { lead: first, lines: COUNTED };
    for (const lead of leads) {
      const bound = { value: filter[lead], limit: best.lines };
      const lines = this.#statements.countOf(lead).get(bound)?.n ?? 0;
      if (lines < best.lines) best = { lead, lines };
    }
    return best.lead;
  }

  after(seq: number, limit: number): LedgerLine[] {
    return this.#statements.after().all({ after: seq, limit });
  }

  ofTenants(tenants: readonly string[], from: number, to: number, limit: number): LedgerLine[] {
    return this.#statements.among().all({ from, to, tenants: JSON.stringify(tenants), limit });
  }

  lastSeq(): number {
    return this.head().seq;
  }
}
