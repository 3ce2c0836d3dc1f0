/**
 * Lists of instances, page by page, and their counts. The cost of a page depends on its length: it is read from an
 * index in the order of its sort, or, when few rows match, they are all read and sorted.
 */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { asc, desc, placeholder } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { ListFilter, ListRequest } from '../instances.ts';
import { withBindings } from '../statements/bound-values.ts';
import { INSTANCE_COLUMNS } from '../statements/instance-rows.ts';
import {
  eachTenant,
  filterBindings,
  filterShape,
  type NormalFilter,
  normalizeFilter,
  searched,
} from '../statements/list-filter.ts';
import { inBoundList, pastPosition, rowid } from '../statements/raw.ts';
import type { Query } from '../statements/statements.ts';
import type { InstanceRow, RowCount, RowPage } from '../types.ts';
import {
  type AccessPath,
  accessPathsFor,
  BY_ROW_NUMBER,
  BY_TEXT,
  countEntries,
  type ListSort,
  positionOf,
  selectCovered,
  selectMatching,
  selectPositions,
  sourceOfAll,
} from './access-paths.ts';
import type { RegistryDatabase } from './database.ts';
import { ListCounts } from './list-counts.ts';
import { PROBE, TextIndex, textMatch } from './text-index.ts';

/** Up to this many rows are always read and sorted. */
const FEW = 1000;
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
  readonly #counts: ListCounts;
  readonly #rows;

  constructor(database: RegistryDatabase) {
    this.#database = database;
    this.#text = new TextIndex(database);
    this.#counts = new ListCounts(database, this.#text);
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
      return wanted === null ? [] : this.#find(withOneBound({ wanted, sort, descending, limit: limit + 1, after }));
    });
    // Merges the sorted lists of several tenants.
    if (request.tenants !== undefined) found.sort(byPosition(descending));
    const positions = found.slice(0, limit);
    const last = positions.at(-1);
    const next = found.length > limit && last ? cursorAt(last, sort, reverse) : null;
    return { rows: this.#read(positions), next };
  }

  count(filter: ListFilter, cap: number): number {
    return this.#counts.count(filter, cap);
  }

  total(filter: ListFilter, cap: number): RowCount {
    return this.#counts.total(filter, cap);
  }

  /** Queries of `fields` of every matching row, in no order: one per requested tenant. */
  everything<Row>(filter: ListFilter, fields: { [K in keyof Row]: SQLiteColumn | SQL }): Query<Row>[] {
    return eachTenant(filter).flatMap((one) => {
      const wanted = normalizeFilter(one);
      if (wanted === null) return [];
      const narrow = sourceOfAll(accessPathsFor(this.#database, wanted, 'updated'));
      const patterns = searched(wanted);
      const byText = patterns.length > 0 && narrow.size > FEW;
      const query = selectMatching(this.#database.queries, byText ? BY_TEXT : narrow, wanted, fields);
      return [withBindings<Row>(fields, query, { ...filterBindings(wanted), match: textMatch(patterns) })];
    });
  }

  /** Call it when rows have gained or lost search texts. */
  textsChanged(how: 'added' | 'removed'): void {
    this.#text[how]();
  }

  #find(ask: PageRequest): Position[] {
    const { narrow: counted, ordered, spans } = accessPathsFor(this.#database, ask.wanted, ask.sort);
    // Sorting all matches costs a row per match; scanning in order costs a row per entry skipped. At this count both
    // cost the same.
    const few = Math.max(FEW, Math.ceil(Math.sqrt(ask.limit * ordered.size)));
    const patterns = searched(ask.wanted);
    const narrow = this.#narrowest(counted, spans, ask, few);
    if (narrow.size <= (patterns.length === 0 ? few : PROBE)) return this.#positions(narrow, ask);
    const scanned = narrow.ordered ? narrow : ordered;
    const [due] = spans.filter(({ covers }) => covers.includes('due'));
    if (patterns.length === 0) {
      if (due === undefined) return this.#positions(scanned, ask);
      // Many fall due, and those may be the last in the order of the sort.
      return this.#scanNearby(scanned, ask, few / ordered.size) ?? this.#positions(due, ask);
    }

    const rare = this.#text.rare(patterns);
    if (rare !== null) return this.#positions(BY_ROW_NUMBER, ask, numbered(rare));
    const nearby = this.#scanNearby(scanned, ask, this.#text.density(patterns));
    if (nearby !== null) return nearby;
    const hits = this.#text.candidates(patterns, few) ?? this.#text.matches(patterns, few);
    return hits === null ? this.#positions(scanned, ask) : this.#positions(BY_ROW_NUMBER, ask, numbered(hits));
  }

  /** The source with the fewest rows: the counted one, or a span of time that has fewer, and at most `few`. */
  #narrowest(counted: AccessPath, spans: readonly AccessPath[], { wanted, sort }: PageRequest, few: number) {
    let best = counted;
    for (const span of spans) {
      // An index in the order of the sort begins and ends with the span anyway.
      if (sort === 'updated' && !span.covers.includes('due')) continue;
      const limit = Math.min(few, best.size);
      const size = countEntries(this.#database, span, wanted, limit + 1);
      if (size <= limit) best = { ...span, size };
    }
    return best;
  }

  /** The page's rows from a source: the first ones when it is sorted, else all matches, sorted. Not beyond `until`. */
  #positions(source: AccessPath, ask: PageRequest, given: { hits?: string; until?: Position } = {}): Position[] {
    const { wanted, sort, descending, after, limit } = ask;
    const { hits, until } = given;
    const shape = `${source.kind} ${source.index} ${sort} ${descending} ${after === null} ${until === undefined} ${filterShape(wanted)}`;
    const statement = this.#database.shape(`list ${shape}`, (queries) => {
      const at = positionOf(source, sort);
      return selectPositions(queries, source, wanted, sort, ...between(at, ask, until))
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
    const bounded = withOneEnd(ask, until);
    const found = this.#positions(source, bounded.ask, bounded);
    return found.length >= ask.limit || bounded.until === undefined ? found : null;
  }
}

/**
 * The same request with one bound where the page begins: the position, or the end of the span of time when that is
 * further. With both, SQLite seeks by the span and reads every row before the position again.
 */
function withOneBound(ask: PageRequest): PageRequest {
  const { after, sort, descending, wanted } = ask;
  if (after === null || sort !== 'updated') return ask;
  const { [descending ? 'until' : 'since']: bound, ...rest } = wanted;
  if (bound === undefined) return ask;
  const isPast = descending ? Number(after.key) <= bound : Number(after.key) >= bound;
  return isPast ? { ...ask, wanted: rest } : { ...ask, after: null };
}

/**
 * The same for the end of a scanned stretch: its last position, or the end of the span of time when that comes first;
 * then there is nothing beyond the stretch.
 */
function withOneEnd(ask: PageRequest, until: Position): { ask: PageRequest; until?: Position } {
  const { sort, descending, wanted } = ask;
  const { [descending ? 'since' : 'until']: bound, ...rest } = wanted;
  if (sort !== 'updated' || bound === undefined) return { ask, until };
  const isWithin = descending ? Number(until.key) >= bound : Number(until.key) <= bound;
  return isWithin ? { ask: { ...ask, wanted: rest }, until } : { ask };
}

function numbered(hits: number[] | null): { hits?: string } {
  return hits === null ? {} : { hits: JSON.stringify(hits) };
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
