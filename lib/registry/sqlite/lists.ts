/**
 * Lists of instances, page by page, and how many match. A page costs about its own length: it is walked from an index
 * in the order of its sort, or gathered and sorted where few rows match.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { asc, count, desc, placeholder } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { ListFilter, ListRequest } from '../instances.ts';
import type { InstanceRow, RowPage } from '../types.ts';
import { countOfLabel, countsByFault, countsByState } from './counts.ts';
import type { Query, RegistryDatabase } from './database.ts';
import { type Aspect, shapeOf, valuesOf, type Wanted, wantedOf } from './filter.ts';
import { filled } from './placeholders.ts';
import { among, beyond, rowid } from './raw.ts';
import { ROW } from './rows.ts';
import { HITS, matching, nearby, positionOf, type Sort, type Source, sourcesFor, TEXT } from './sources.ts';
import { type Match, matchOf, TextIndex } from './text-index.ts';

/** So few rows are gathered and sorted without a second thought. */
const FEW = 1000;
/** Matches of a word up to which they are gathered at once. */
const PROBE = 500;
/** Words of a text, longest first, that are tried for being rare. */
const PROBED_WORDS = 4;
/** Index entries looked at per row of the page while matches of a text may be frequent. */
const PATIENCE = 20;

/** Where a row stands: its sort key (a blob stands for no name) and row number. */
interface Position {
  key: string | number | Uint8Array;
  row: number;
}

interface Ask {
  wanted: Wanted;
  sort: Sort;
  descending: boolean;
  /** One more than the page, to see whether there is another. */
  limit: number;
  after: Position | null;
}

export class Lists {
  readonly #database: RegistryDatabase;
  readonly #text: TextIndex;
  readonly #rows;

  constructor(database: RegistryDatabase) {
    this.#database = database;
    this.#text = new TextIndex(database);
    this.#rows = database.statement((queries) =>
      queries
        .select({ number: rowid(instances), row: ROW })
        .from(instances)
        .where(among(rowid(instances), 'numbers'))
        .prepare(),
    );
  }

  page(request: ListRequest): RowPage<InstanceRow> {
    const { sort, reverse, limit } = request;
    const after = request.cursor === undefined ? null : positionIn(request.cursor, sort, reverse);
    const descending = (sort === 'name') === reverse;
    const found = eachTenant(request).flatMap((filter) => {
      const wanted = wantedOf(filter);
      return wanted === null ? [] : this.#find({ wanted, sort, descending, limit: limit + 1, after });
    });
    // The lists of several tenants, each in order, become one.
    if (request.tenants !== undefined) found.sort(byPosition(descending));
    const positions = found.slice(0, limit);
    const last = positions.at(-1);
    const next = found.length > limit && last ? cursorAt(last, sort, reverse) : null;
    return { rows: this.#read(positions), next };
  }

  /** Exact up to `cap`; above it `cap + 1`. */
  count(filter: ListFilter, cap: number): number {
    let sum = 0;
    for (const one of eachTenant(filter)) {
      sum += this.#count(one, cap);
      if (sum > cap) return cap + 1;
    }
    return sum;
  }

  #count(filter: ListFilter, cap: number): number {
    const wanted = wantedOf(filter);
    if (wanted === null) return 0;
    const kept = this.#keptCount(wanted);
    if (kept !== null) return Math.min(kept, cap + 1);
    let source = sourcesFor(this.#database, wanted, 'updated').narrow;
    let hits: number[] | null = null;
    const words = searched(wanted);
    if (words.length > 0 && source.size > PROBE) {
      const match = matchOf(words);
      const rare = words.length > 1 ? this.#rare(words) : null;
      if (rare === null && asksOnly(wanted, 'words') && match.short === match.full) {
        return this.#text.count(match.full, cap);
      }
      hits = rare ?? this.#matching(match, Math.max(FEW, cap));
      if (hits !== null) source = HITS;
    }
    const statement = this.#database.shape(`list count ${source.of} ${source.index} ${shapeOf(wanted)}`, (queries) => {
      const some = matching(queries, source, wanted, { row: rowid(instances) }).limit(placeholder('limit'));
      return queries.select({ n: count() }).from(some.as('some')).prepare();
    });
    return statement.get({ ...valuesOf(wanted), ...numbered(hits), limit: cap + 1 })?.n ?? 0;
  }

  /** Queries of `fields` of every row that matches, in no order worth naming: one for each tenant that is asked for. */
  everything<Row>(filter: ListFilter, fields: { [K in keyof Row]: SQLiteColumn | SQL }): Query<Row>[] {
    return eachTenant(filter).flatMap((one) => {
      const wanted = wantedOf(one);
      if (wanted === null) return [];
      const { narrow } = sourcesFor(this.#database, wanted, 'updated');
      const words = searched(wanted);
      const byText = words.length > 0 && narrow.size > FEW;
      const query = matching(this.#database.queries, byText ? TEXT : narrow, wanted, fields);
      return [filled<Row>(fields, query, { ...valuesOf(wanted), match: matchOf(words).full })];
    });
  }

  /** To be called when rows have gained or lost words. */
  wordsChanged(how: 'added' | 'removed'): void {
    this.#text[how]();
  }

  /** The count that triggers keep, or null when the filter asks for more than they know. */
  #keptCount(wanted: Wanted): number | null {
    const { tenant, state, notState, fault, label, deleted } = wanted;
    if (asksOnly(wanted, 'tenant', 'state', 'notState')) {
      const counts = countsByState(this.#database, tenant);
      if (deleted) return counts.deleted;
      if (state !== undefined) return counts[state];
      const living = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
      return notState === undefined ? living : living - counts[notState];
    }
    if (deleted) return null;
    if (fault !== undefined && asksOnly(wanted, 'fault')) return countsByFault(this.#database)[fault];
    return label !== undefined && asksOnly(wanted, 'label') ? countOfLabel(this.#database, label) : null;
  }

  #find(ask: Ask): Position[] {
    const { narrow, ordered } = sourcesFor(this.#database, ask.wanted, ask.sort);
    // Gathering costs a row per match, walking a row per entry passed over: here the two meet.
    const few = Math.max(FEW, Math.ceil(Math.sqrt(ask.limit * ordered.size)));
    const words = searched(ask.wanted);
    if (narrow.size <= (words.length === 0 ? few : PROBE)) return this.#positions(narrow, ask);
    const walked = narrow.ordered ? narrow : ordered;
    if (words.length === 0) return this.#positions(walked, ask);

    const rare = this.#rare(words);
    if (rare !== null) return this.#positions(HITS, ask, numbered(rare));
    const nearby = this.#walkNearby(walked, ask, this.#text.density(words));
    if (nearby !== null) return nearby;
    const hits = this.#matching(matchOf(words), few);
    return hits === null ? this.#positions(walked, ask) : this.#positions(HITS, ask, numbered(hits));
  }

  /**
   * The rows of a word that few have, or null when many have each: the other words are then checked row by row, which
   * is cheaper than letting the index pass over everything that a common one matches.
   */
  #rare(words: string[]): number[] | null {
    for (const word of words.toSorted((a, b) => b.length - a.length).slice(0, PROBED_WORDS)) {
      const hits = this.#text.hits(matchOf([word]).short, PROBE);
      if (hits !== null) return hits;
    }
    return null;
  }

  /** Rows that match and perhaps a few more, or null when there are more than `cap`. */
  #matching({ short, full }: Match, cap: number): number[] | null {
    return this.#text.hits(short, cap) ?? (full === short ? null : this.#text.hits(full, cap));
  }

  /**
   * The page's rows in a source: its first ones where it is in order, else everything that matches, sorted. Not beyond
   * `until`.
   */
  #positions(source: Source, ask: Ask, given: { hits?: string; until?: Position } = {}): Position[] {
    const { wanted, sort, descending, after, limit } = ask;
    const { hits, until } = given;
    const shape = `${source.of} ${source.index} ${sort} ${descending} ${after === null} ${until === undefined} ${shapeOf(wanted)}`;
    const statement = this.#database.shape(`list ${shape}`, (queries) => {
      const at = positionOf(source, sort);
      return matching(queries, source, wanted, at, ...between(at, ask, until))
        .orderBy(...inOrder(at, ask))
        .limit(placeholder('limit'))
        .prepare();
    });
    return statement.all({ ...valuesOf(wanted), ...bounds(ask, until), hits, limit });
  }

  /** The rows in full, in the order of their positions. */
  #read(positions: Position[]): InstanceRow[] {
    const read = this.#rows().all({ numbers: JSON.stringify(positions.map(({ row }) => row)) });
    const byNumber = new Map(read.map(({ number, row }) => [number, row]));
    return positions.flatMap(({ row }) => byNumber.get(row) ?? []);
  }

  /** A walk that gives up (null) when a stretch of the index has too few matches for the page. */
  #walkNearby(source: Source, ask: Ask, density: number): Position[] | null {
    const { wanted, sort, descending, after } = ask;
    const stretch = Math.min(PATIENCE, Math.ceil(1.5 / density)) * ask.limit;
    const shape = `${source.index} ${sort} ${descending} ${after === null} ${shapeOf(wanted)}`;
    const statement = this.#database.shape(`list nearby ${shape}`, (queries) => {
      const at = positionOf(source, sort);
      return nearby(queries, source, wanted, at, ...between(at, ask))
        .orderBy(...inOrder(at, ask))
        .limit(1)
        .offset(placeholder('stretch'))
        .prepare();
    });
    const until = statement.get({ ...valuesOf(wanted), ...bounds(ask), stretch });
    if (until === undefined) return this.#positions(source, ask);
    const found = this.#positions(source, ask, { until });
    return found.length >= ask.limit ? found : null;
  }
}

/** The words that the text index is to be asked for: it knows nothing of what is deleted. */
function searched({ deleted, words }: Wanted): string[] {
  return deleted ? [] : (words ?? []);
}

function asksOnly(wanted: Wanted, ...aspects: Aspect[]): boolean {
  return Object.keys(wanted).every((aspect) => aspect === 'deleted' || aspects.includes(aspect as Aspect));
}

function numbered(hits: number[] | null): { hits?: string } {
  return hits === null ? {} : { hits: JSON.stringify(hits) };
}

/** A filter by several tenants as one filter for each: every index leads with at most one. */
function eachTenant<F extends ListFilter>({ tenants, ...filter }: F): Omit<F, 'tenants'>[] {
  if (tenants === undefined) return [filter];
  const asked = filter.tenant === undefined ? new Set(tenants) : tenants.filter((tenant) => tenant === filter.tenant);
  return [...asked].map((tenant) => ({ ...filter, tenant }));
}

/** The order that SQLite gives: numbers, then text by its bytes, then blobs; rows decide between equals. */
function byPosition(descending: boolean): (a: Position, b: Position) => number {
  const rank = (key: Position['key']) => (typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2);
  const keys = (a: Position['key'], b: Position['key']): number => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
    return rank(a) - rank(b);
  };
  const ascending = (a: Position, b: Position) => keys(a.key, b.key) || a.row - b.row;
  return descending ? (a, b) => ascending(b, a) : ascending;
}

/** From the cursor on and, when `until` is given, not beyond it. */
function between(at: { key: SQL; row: SQL }, { descending, after }: Ask, until?: Position): SQL[] {
  const columns = [at.key, at.row] as const;
  return [
    ...(after === null ? [] : [beyond(columns, descending ? '<' : '>', ['afterKey', 'afterRow'])]),
    ...(until === undefined ? [] : [beyond(columns, descending ? '>=' : '<=', ['untilKey', 'untilRow'])]),
  ];
}

/** What `between` binds. */
function bounds({ after }: Ask, until?: Position): Record<string, unknown> {
  return { afterKey: after?.key, afterRow: after?.row, untilKey: until?.key, untilRow: until?.row };
}

function inOrder({ key, row }: { key: SQL; row: SQL }, { descending }: Ask): SQL[] {
  return [key, row].map((column) => (descending ? desc(column) : asc(column)));
}

function cursorAt({ key, row }: Position, sort: Sort, reverse: boolean): string {
  return writeCursor([reverse ? `-${sort}` : sort, key instanceof Uint8Array ? null : key, row]);
}

function positionIn(cursor: string, sort: Sort, reverse: boolean): Position {
  const expected = reverse ? `-${sort}` : sort;
  const isPosition = (position: unknown[]): position is [string, string | number | null, number] => {
    const [of, key, row] = position;
    const keyFits = sort === 'name' ? key === null || typeof key === 'string' : Number.isSafeInteger(key);
    return position.length === 3 && of === expected && keyFits && Number.isSafeInteger(row);
  };
  const [, key, row] = readCursor(cursor, isPosition);
  return { key: key ?? new Uint8Array(), row };
}
