/**
 * Lists of instances, page by page, and their counts. The cost of a page depends on its length: it is read from an
 * index in the order of its sort, or, when few rows match, they are all read and sorted.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { asc, count, desc, placeholder } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { ListFilter, ListRequest } from '../instances.ts';
import type { InstanceRow, RowPage } from '../types.ts';
import {
  type AccessPath,
  accessPathsFor,
  BY_ROW_NUMBER,
  BY_TEXT,
  type ListSort,
  positionOf,
  selectCovered,
  selectMatching,
} from './access-paths.ts';
import { withBindings } from './bound-values.ts';
import { countOfLabel, readCountsByFault, readCountsByState } from './counts.ts';
import type { Query, RegistryDatabase } from './database.ts';
import { INSTANCE_COLUMNS } from './instance-rows.ts';
import { type Criterion, filterBindings, filterShape, type NormalFilter, normalizeFilter } from './list-filter.ts';
import { inBoundList, pastPosition, rowid } from './raw.ts';
import { TextIndex, type TextMatch, textMatch } from './text-index.ts';

/** Up to this many rows are always read and sorted. */
const FEW = 1000;
/** Up to this many matches of a word are read at once. */
const PROBE = 500;
/** Number of words of a text, longest first, that are tested for being rare. */
const PROBED_WORDS = 4;
/** Index entries scanned per row of the page, as long as matches of a text may be frequent. */
const PATIENCE = 20;

/** The position of a row: its sort key (a blob stands for no name) and row number. */
interface Position {
  key: string | number | Uint8Array;
  row: number;
}

interface PageRequest {
  wanted: NormalFilter;
  sort: ListSort;
  descending: boolean;
  /** One more row than the page has, to see whether there is another page. */
  limit: number;
  after: Position | null;
}

export class InstanceLists {
  readonly #database: RegistryDatabase;
  readonly #text: TextIndex;
  readonly #rows;

  constructor(database: RegistryDatabase) {
    this.#database = database;
    this.#text = new TextIndex(database);
    this.#rows = database.statement((queries) =>
      queries
        .select({ number: rowid(instances), row: INSTANCE_COLUMNS })
        .from(instances)
        .where(inBoundList(rowid(instances), 'numbers'))
        .prepare(),
    );
  }

  page(request: ListRequest): RowPage<InstanceRow> {
    const { sort, reverse, limit } = request;
    const after = request.cursor === undefined ? null : positionIn(request.cursor, sort, reverse);
    const descending = (sort === 'name') === reverse;
    const found = eachTenant(request).flatMap((filter) => {
      const wanted = normalizeFilter(filter);
      return wanted === null ? [] : this.#find({ wanted, sort, descending, limit: limit + 1, after });
    });
    // Merges the sorted lists of several tenants.
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
    const wanted = normalizeFilter(filter);
    if (wanted === null) return 0;
    const kept = this.#keptCount(wanted);
    if (kept !== null) return Math.min(kept, cap + 1);
    let source = accessPathsFor(this.#database, wanted, 'updated').narrow;
    let hits: number[] | null = null;
    const words = searched(wanted);
    if (words.length > 0 && source.size > PROBE) {
      const match = textMatch(words);
      const rare = words.length > 1 ? this.#rare(words) : null;
      if (rare === null && asksOnly(wanted, 'words') && match.short === match.full) {
        return this.#text.count(match.full, cap);
      }
      hits = rare ?? this.#matching(match, Math.max(FEW, cap));
      if (hits !== null) source = BY_ROW_NUMBER;
    }
    const statement = this.#database.shape(
      `list count ${source.kind} ${source.index} ${filterShape(wanted)}`,
      (queries) => {
        const some = selectMatching(queries, source, wanted, { row: rowid(instances) }).limit(placeholder('limit'));
        return queries.select({ n: count() }).from(some.as('some')).prepare();
      },
    );
    return statement.get({ ...filterBindings(wanted), ...numbered(hits), limit: cap + 1 })?.n ?? 0;
  }

  /** Queries of `fields` of every matching row, in no order: one per requested tenant. */
  everything<Row>(filter: ListFilter, fields: { [K in keyof Row]: SQLiteColumn | SQL }): Query<Row>[] {
    return eachTenant(filter).flatMap((one) => {
      const wanted = normalizeFilter(one);
      if (wanted === null) return [];
      const { narrow } = accessPathsFor(this.#database, wanted, 'updated');
      const words = searched(wanted);
      const byText = words.length > 0 && narrow.size > FEW;
      const query = selectMatching(this.#database.queries, byText ? BY_TEXT : narrow, wanted, fields);
      return [withBindings<Row>(fields, query, { ...filterBindings(wanted), match: textMatch(words).full })];
    });
  }

  /** Call it when rows have gained or lost words. */
  wordsChanged(how: 'added' | 'removed'): void {
    this.#text[how]();
  }

  /** The count from the triggers, or null when they do not count what the filter asks for. */
  #keptCount(wanted: NormalFilter): number | null {
    const { tenant, state, notState, fault, label, deleted } = wanted;
    if (asksOnly(wanted, 'tenant', 'state', 'notState')) {
      const counts = readCountsByState(this.#database, tenant);
      if (deleted) return counts.deleted;
      if (state !== undefined) return counts[state];
      const living = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
      return notState === undefined ? living : living - counts[notState];
    }
    if (deleted) return null;
    if (fault !== undefined && asksOnly(wanted, 'fault')) return readCountsByFault(this.#database)[fault];
    return label !== undefined && asksOnly(wanted, 'label') ? countOfLabel(this.#database, label) : null;
  }

  #find(ask: PageRequest): Position[] {
    const { narrow, ordered } = accessPathsFor(this.#database, ask.wanted, ask.sort);
    // Sorting all matches costs a row per match; scanning in order costs a row per entry skipped. At this count both
    // cost the same.
    const few = Math.max(FEW, Math.ceil(Math.sqrt(ask.limit * ordered.size)));
    const words = searched(ask.wanted);
    if (narrow.size <= (words.length === 0 ? few : PROBE)) return this.#positions(narrow, ask);
    const scanned = narrow.ordered ? narrow : ordered;
    if (words.length === 0) return this.#positions(scanned, ask);

    const rare = this.#rare(words);
    if (rare !== null) return this.#positions(BY_ROW_NUMBER, ask, numbered(rare));
    const nearby = this.#scanNearby(scanned, ask, this.#text.density(words));
    if (nearby !== null) return nearby;
    const hits = this.#matching(textMatch(words), few);
    return hits === null ? this.#positions(scanned, ask) : this.#positions(BY_ROW_NUMBER, ask, numbered(hits));
  }

  /**
   * The rows of a rare word, or null when every word is common: the other words are then checked row by row, which is
   * cheaper than an index scan over all rows with a common word.
   */
  #rare(words: string[]): number[] | null {
    for (const word of words.toSorted((a, b) => b.length - a.length).slice(0, PROBED_WORDS)) {
      const hits = this.#text.hits(textMatch([word]).short, PROBE);
      if (hits !== null) return hits;
    }
    return null;
  }

  /** All matching rows and perhaps a few more, or null when there are more than `cap`. */
  #matching({ short, full }: TextMatch, cap: number): number[] | null {
    return this.#text.hits(short, cap) ?? (full === short ? null : this.#text.hits(full, cap));
  }

  /** The page's rows from a source: the first ones when it is sorted, else all matches, sorted. Not beyond `until`. */
  #positions(source: AccessPath, ask: PageRequest, given: { hits?: string; until?: Position } = {}): Position[] {
    const { wanted, sort, descending, after, limit } = ask;
    const { hits, until } = given;
    const shape = `${source.kind} ${source.index} ${sort} ${descending} ${after === null} ${until === undefined} ${filterShape(wanted)}`;
    const statement = this.#database.shape(`list ${shape}`, (queries) => {
      const at = positionOf(source, sort);
      return selectMatching(queries, source, wanted, at, ...between(at, ask, until))
        .orderBy(...inOrder(at, ask))
        .limit(placeholder('limit'))
        .prepare();
    });
    return statement.all({ ...filterBindings(wanted), ...bounds(ask, until), hits, limit });
  }

  /** The complete rows, in the order of their positions. */
  #read(positions: Position[]): InstanceRow[] {
    const read = this.#rows().all({ numbers: JSON.stringify(positions.map(({ row }) => row)) });
    const byNumber = new Map(read.map(({ number, row }) => [number, row]));
    return positions.flatMap(({ row }) => byNumber.get(row) ?? []);
  }

  /** Scans a stretch of the index. Null when it has too few matches for the page. */
  #scanNearby(source: AccessPath, ask: PageRequest, density: number): Position[] | null {
    const { wanted, sort, descending, after } = ask;
    const stretch = Math.min(PATIENCE, Math.ceil(1.5 / density)) * ask.limit;
    const shape = `${source.index} ${sort} ${descending} ${after === null} ${filterShape(wanted)}`;
    const statement = this.#database.shape(`list nearby ${shape}`, (queries) => {
      const at = positionOf(source, sort);
      return selectCovered(queries, source, wanted, at, ...between(at, ask))
        .orderBy(...inOrder(at, ask))
        .limit(1)
        .offset(placeholder('stretch'))
        .prepare();
    });
    const until = statement.get({ ...filterBindings(wanted), ...bounds(ask), stretch });
    if (until === undefined) return this.#positions(source, ask);
    const found = this.#positions(source, ask, { until });
    return found.length >= ask.limit ? found : null;
  }
}

/** The words for the text index, which does not know whether a row is deleted. */
function searched({ deleted, words }: NormalFilter): string[] {
  return deleted ? [] : (words ?? []);
}

function asksOnly(wanted: NormalFilter, ...aspects: Criterion[]): boolean {
  return Object.keys(wanted).every((aspect) => aspect === 'deleted' || aspects.includes(aspect as Criterion));
}

function numbered(hits: number[] | null): { hits?: string } {
  return hits === null ? {} : { hits: JSON.stringify(hits) };
}

/** Splits a filter by several tenants into one filter each: every index begins with at most one tenant. */
function eachTenant<F extends ListFilter>({ tenants, ...filter }: F): Omit<F, 'tenants'>[] {
  if (tenants === undefined) return [filter];
  const allowed = filter.tenant === undefined ? new Set(tenants) : tenants.filter((tenant) => tenant === filter.tenant);
  return [...allowed].map((tenant) => ({ ...filter, tenant }));
}

/** SQLite's order: numbers, then text by its bytes, then blobs; equal keys are sorted by row number. */
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
function between(at: { key: SQL; row: SQL }, { descending, after }: PageRequest, until?: Position): SQL[] {
  const columns = [at.key, at.row] as const;
  return [
    ...(after === null ? [] : [pastPosition(columns, descending ? '<' : '>', ['afterKey', 'afterRow'])]),
    ...(until === undefined ? [] : [pastPosition(columns, descending ? '>=' : '<=', ['untilKey', 'untilRow'])]),
  ];
}

/** The values that `between` binds. */
function bounds({ after }: PageRequest, until?: Position): Record<string, unknown> {
  return { afterKey: after?.key, afterRow: after?.row, untilKey: until?.key, untilRow: until?.row };
}

function inOrder({ key, row }: { key: SQL; row: SQL }, { descending }: PageRequest): SQL[] {
  return [key, row].map((column) => (descending ? desc(column) : asc(column)));
}

function cursorAt({ key, row }: Position, sort: ListSort, reverse: boolean): string {
  return writeCursor([reverse ? `-${sort}` : sort, key instanceof Uint8Array ? null : key, row]);
}

function positionIn(cursor: string, sort: ListSort, reverse: boolean): Position {
  const expected = reverse ? `-${sort}` : sort;
  const isPosition = (position: unknown[]): position is [string, string | number | null, number] => {
    const [of, key, row] = position;
    const keyFits = sort === 'name' ? key === null || typeof key === 'string' : Number.isSafeInteger(key);
    return position.length === 3 && of === expected && keyFits && Number.isSafeInteger(row);
  };
  const [, key, row] = readCursor(cursor, isPosition);
  return { key: key ?? new Uint8Array(), row };
}
