/**
 * The ledger on Postgres: a statement chains the lines and appends them (`ledger_append`), in the transaction of the
 * change or alone; they are announced after the commit, in the order of their numbers, and read in pages.
 */
import { CHAIN_START, type ChainedLine, type ChainHead, canonicalLine } from '../chain.ts';
import { CommitEvents } from '../commit-events.ts';
import { pageOfRows, readCursor } from '../cursor.ts';
import type { LedgerFilter } from '../ledger.ts';
import { storedEntry } from '../ledger-entry.ts';
import { RepeatThrottle } from '../repeat-throttle.ts';
import { isPosition, type LedgerLead, leadsOf, ledgerStatements, pageBindings } from '../statements/ledger.ts';
import type { LedgerEntry, LedgerLine, RowPage } from '../types.ts';
import type { PostgresDatabase } from './database.ts';
import { toStored } from './plain-text.ts';

/** Lines of other processes that are announced at once. */
const OTHERS = 500;
/** A filter's lines are counted up to this number; beyond it, any index is good enough. */
const COUNTED = 5000;
/** Of a canonical line: its number follows. */
const NUMBERED = '{"seq":0';

/** Lines that are to be written. */
export type SiftedLines = ReturnType<RepeatThrottle['admit']>;

/** A line as a statement gets it, by its columns. */
export type GivenLine = Record<string, unknown> & { rest: string };

export class LedgerTable {
  readonly #database: PostgresDatabase;
  /** The lines that this table announces. */
  readonly commitEvents: CommitEvents;
  readonly #repeats = new RepeatThrottle();
  /** Callbacks for when a line is committed. */
  readonly #once = new WeakMap<LedgerLine, () => void>();
  readonly #statements;
  /** Own lines that are committed and not announced, by their number. */
  readonly #committed = new Map<number, LedgerLine>();
  /** Appends whose answer has not come: a number that is missing may be one of theirs. */
  readonly #appending = new Set<Promise<unknown>>();
  #announcing: Promise<void> = Promise.resolve();
  /** Called with the number of the last line after each own commit: tells other processes. */
  onCommitted: (seq: number) => void = () => undefined;

  /** `position`: number of the last line that was there before. */
  constructor(database: PostgresDatabase, position: number) {
    this.#database = database;
    this.#statements = database.with(ledgerStatements);
    this.commitEvents = new CommitEvents(position);
  }

  /**
   * Runs inside a write transaction, last in it: from then on nobody else can append. After the commit, pass the lines
   * to `announce`. Repeated refusals are counted, not written.
   */
  append(entries: readonly LedgerEntry[]): Promise<LedgerLine[]> {
    return this.#chain(this.#repeats.admit(entries));
  }

  /** The same for the summaries of repeated refusals: the due ones, or all. */
  appendRepeatCounts(nowMs: number, all: boolean): Promise<LedgerLine[]> {
    return this.#chain(this.#repeats.dueSummaries(nowMs, all));
  }

  /** Which of these are to be written: repeated refusals are counted. */
  admit(entries: readonly LedgerEntry[]): SiftedLines {
    return this.#repeats.admit(entries);
  }

  /**
   * Has a statement append them that is a transaction by itself, and announces them. `send` gets them as they are given
   * to a statement, and says which number the first has; null: none was written.
   */
  async appended<T>(
    sifted: SiftedLines,
    send: (given: GivenLine[]) => Promise<{ done: T; first: number | null }>,
  ): Promise<T> {
    const entries = sifted.map(({ entry }) => storedEntry(entry));
    const sent = send(givenLines(entries));
    this.#await(sent.then(nothing, nothing));
    const { done, first } = await sent;
    if (first !== null) await this.announce(this.#numbered(sifted, entries, first));
    return done;
  }

  async #chain(sifted: SiftedLines): Promise<LedgerLine[]> {
    if (sifted.length === 0) return [];
    const entries = sifted.map(({ entry }) => storedEntry(entry));
    this.#await(this.#database.settled());
    const [[first] = []] = await this.#database.ask('select ledger_append($1)', [JSON.stringify(givenLines(entries))]);
    this.#database.changed(entries.length);
    return this.#numbered(sifted, entries, Number(first));
  }

  #numbered(sifted: SiftedLines, entries: readonly LedgerEntry[], first: number): LedgerLine[] {
    return entries.map((entry, at) => {
      const line: LedgerLine = { ...entry, seq: first + at };
      this.#once.set(line, sifted[at]?.written ?? nothing);
      return line;
    });
  }

  /** Until it has ended, a number that is missing may be one of its lines. */
  #await(settled: Promise<void>): void {
    this.#appending.add(settled);
    void settled.then(() => this.#appending.delete(settled));
  }

  /**
   * Runs `work` as one transaction, in which it may append, and announces the lines.
   */
  async logged<T>(work: (append: (entries: readonly LedgerEntry[]) => Promise<void>) => Promise<T>): Promise<T> {
    const lines: LedgerLine[] = [];
    const result = await this.#database.write(async () => {
      lines.length = 0;
      return work(async (entries) => void lines.push(...(await this.append(entries))));
    });
    await this.announce(lines);
    return result;
  }

  /**
   * Runs `work` as one transaction with the entries, which are announced. Whatever it resolves with besides null and
   * false is a change; without one there is no line.
   */
  recorded<T>(entries: readonly LedgerEntry[], work: () => Promise<T>): Promise<T> {
    return this.logged(async (append) => {
      const done = await work();
      if (done !== null && done !== false) await append(entries);
      return done;
    });
  }

  /** The end of the chain, also when every line was dropped. */
  async head(): Promise<ChainHead> {
    const [[seq, hash] = []] = await this.#database.ask('select seq, hash from ledger_head');
    return seq === undefined ? CHAIN_START : { seq: Number(seq), hash: String(hash) };
  }

  /** Lines after `seq` with their hashes, oldest first. */
  async chain(seq: number, limit: number): Promise<ChainedLine[]> {
    return (await this.#statements.chained().all({ after: seq, limit })) as ChainedLine[];
  }

  /** Announces own lines that are committed, after all that come before them. */
  announce(lines: readonly LedgerLine[]): Promise<void> {
    const last = lines.at(-1);
    if (last === undefined) return Promise.resolve();
    for (const line of lines) {
      this.#once.get(line)?.();
      this.#committed.set(line.seq, line);
    }
    this.onCommitted(last.seq);
    return this.#announceTo(last.seq);
  }

  /** Announces the lines up to a number that other processes have committed since the last ones that were announced. */
  async announceOthers(until?: number): Promise<void> {
    await this.#announceTo(until ?? (await this.lastSeq()));
  }

  #announceTo(until: number): Promise<void> {
    const before = this.#announcing;
    const next = before.then(() => this.#announceAll(until));
    this.#announcing = next.catch(() => undefined);
    return next;
  }

  async #announceAll(until: number): Promise<void> {
    const events = this.commitEvents;
    while (events.position < until) {
      const own: LedgerLine[] = [];
      for (let seq = events.position + 1; ; seq += 1) {
        const line = this.#committed.get(seq);
        if (line === undefined) break;
        this.#committed.delete(seq);
        own.push(line);
      }
      if (own.length > 0) {
        events.emitLedgerAppend(own);
        continue;
      }
      // The missing one may be own, with its answer under way: one that was sent before now.
      if (this.#appending.size > 0) {
        await Promise.all(this.#appending);
        // Its lines are noted right after it.
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#committed.has(events.position + 1)) continue;
      }
      const after = await this.after(events.position, Math.min(OTHERS, until - events.position));
      const theirs: LedgerLine[] = [];
      for (const line of after) {
        if (line.seq > until || this.#committed.has(line.seq)) break;
        theirs.push(line);
      }
      // The rest was dropped with its month.
      if (theirs.length === 0) return;
      events.emitLedgerAppend(theirs, null);
    }
    for (const seq of this.#committed.keys()) if (seq <= events.position) this.#committed.delete(seq);
  }

  /** Newest first: by time, and by number within a millisecond. */
  async page({ tenants, ...filter }: LedgerFilter, limit: number, cursor?: string): Promise<RowPage<LedgerLine>> {
    const after = cursor === undefined ? null : readCursor(cursor, isPosition);
    const allowed = filter.tenant === undefined ? tenants : tenants?.filter((tenant) => tenant === filter.tenant);
    const found =
      allowed === undefined
        ? await this.#find(filter, limit + 1, after)
        : (
            await Promise.all(
              [...new Set(allowed)].map((tenant) => this.#find({ ...filter, tenant }, limit + 1, after)),
            )
          )
            .flat()
            .sort((a, b) => b.timeMs - a.timeMs || b.seq - a.seq);
    return pageOfRows(found, limit, ({ timeMs, seq }) => [timeMs, seq]);
  }

  async #find(filter: Omit<LedgerFilter, 'tenants'>, limit: number, after: [number, number] | null) {
    const shape = { filter, lead: await this.#narrowest(filter), after };
    return this.#statements.page(shape).all(pageBindings(shape, limit));
  }

  /** A line that matches one filter may be rare among those of another: the rarer one leads. */
  async #narrowest(filter: LedgerFilter): Promise<LedgerLead | 'time'> {
    const leads = leadsOf(filter);
    const [first, ...others] = leads;
    if (first === undefined) return 'time';
    if (others.length === 0 || first === 'instance') return first;
    const counted = await Promise.all(
      leads.map(async (lead) => {
        const found = await this.#statements.countOf(lead).get({ value: filter[lead], limit: COUNTED });
        return { lead, lines: found?.n ?? 0 };
      }),
    );
    return counted.reduce((best, one) => (one.lines < best.lines ? one : best)).lead;
  }

  after(seq: number, limit: number): Promise<LedgerLine[]> {
    return this.#statements.after().all({ after: seq, limit });
  }

  ofTenants(tenants: readonly string[], from: number, to: number, limit: number): Promise<LedgerLine[]> {
    return this.#statements.among().all({ from, to, tenants: JSON.stringify(tenants), limit });
  }

  async lastSeq(): Promise<number> {
    return (await this.head()).seq;
  }
}

function nothing(): void {}

/** The lines as they are given to a statement: their columns, and their canonical text behind the number. */
function givenLines(entries: readonly LedgerEntry[]): GivenLine[] {
  return entries.map((entry) => {
    const { timeMs, tookMs, requestId, ...others } = entry;
    const columns = { ...others, time_ms: timeMs, took_ms: tookMs, request_id: requestId };
    const stored = Object.entries(columns).map(([name, value]) => [
      name,
      typeof value === 'string' ? toStored(value) : (value ?? null),
    ]);
    return { ...Object.fromEntries(stored), rest: canonicalLine({ ...entry, seq: 0 }).slice(NUMBERED.length) };
  });
}
