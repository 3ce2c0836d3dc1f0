/**
 * Lists of instances, page by page, and how many match. A page costs about its own length: it is walked from an index in the
 * order of its sort, or gathered and sorted where few rows match.
 */
import { readCursor, writeCursor } from '../cursor.ts';
import type { InstanceRow, ListFilter, ListRequest, Page } from '../registry.ts';
import { countOfLabel, countsByFault, countsByState } from './counts.ts';
import type { RegistryDatabase, Value } from './database.ts';
import { type Aspect, type Condition, conditionsOf, type Wanted, wantedOf } from './filter.ts';
import { ROW_COLUMNS, rowOf } from './rows.ts';
import { type Sort, type Source, sortKey, sourcesFor } from './sources.ts';
import { hitSource, type Match, matchOf, TextIndex, textSource } from './text-index.ts';

/** So few rows are gathered and sorted without a second thought. */
const FEW = 1000;
/** Matches of a word up to which they are gathered at once. */
const PROBE = 500;
/** Words of a text, longest first, that are tried for being rare. */
const PROBED_WORDS = 4;
/** Index entries looked at per row of the page while matches of a text may be frequent. */
const PATIENCE = 20;

/** Sort key (a blob stands for no name) and row number. */
type Position = [key: string | number | Uint8Array, row: number];

interface Ask {
  conditions: Condition[];
  sort: Sort;
  descending: boolean;
  /** One more than the page, to see whether there is another. */
  limit: number;
  after: Position | null;
}

type Found = { row: InstanceRow; position: Position };

export class Lists {
  readonly #database: RegistryDatabase;
  readonly #text: TextIndex;

  constructor(database: RegistryDatabase) {
    this.#database = database;
    this.#text = new TextIndex(database);
  }

  page(request: ListRequest): Page<InstanceRow> {
    const { sort, reverse, limit } = request;
    const after = request.cursor === undefined ? null : positionIn(request.cursor, sort, reverse);
    const descending = (sort === 'name') === reverse;
    const found = eachTenant(request).flatMap((filter) => {
      const wanted = wantedOf(filter);
      if (wanted === null) return [];
      return this.#find(wanted, { conditions: conditionsOf(wanted), sort, descending, limit: limit + 1, after });
    });
    // The lists of several tenants, each in order, become one.
    if (request.tenants !== undefined) found.sort(byPosition(descending));
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const next = found.length > limit && last ? cursorAt(last.position, sort, reverse) : null;
    return { rows: rows.map(({ row }) => row), next };
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
    const conditions = conditionsOf(wanted);
    let source = sourcesFor(this.#database, wanted, 'updated').narrow;
    if (wanted.words.length > 0 && !wanted.deleted && source.size > PROBE) {
      const match = matchOf(wanted.words);
      const rare = wanted.words.length > 1 ? this.#rare(wanted.words) : null;
      const onlyWords = conditions.every(({ aspect }) => aspect === 'deleted' || aspect === 'words');
      if (rare === null && onlyWords && match.short === match.full) return this.#text.count(match.full, cap);
      const hits = rare ?? this.#matching(match, Math.max(FEW, cap));
      if (hits !== null) source = hitSource(hits, source.key);
    }
    const { from, where, params } = rowsOf(source, conditions);
    return this.#database.integer(
      `SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${where} LIMIT ?)`,
      ...params,
      cap + 1,
    );
  }

  /** Statements that select `columns` of every row that matches, in no order worth naming: one for each tenant that is asked for. */
  everything(filter: ListFilter, columns: string): { sql: string; params: Value[] }[] {
    return eachTenant(filter).flatMap((one) => {
      const wanted = wantedOf(one);
      if (wanted === null) return [];
      const { narrow } = sourcesFor(this.#database, wanted, 'updated');
      const source =
        wanted.words.length > 0 && !wanted.deleted && narrow.size > FEW ? textSource(wanted.words) : narrow;
      const { from, where, params } = rowsOf(source, conditionsOf(wanted));
      return [{ sql: `SELECT ${columns} FROM ${from} WHERE ${where}`, params }];
    });
  }

  /** To be called when rows have gained or lost words. */
  wordsChanged(how: 'added' | 'removed'): void {
    this.#text[how]();
  }

  /** The count that triggers keep, or null when the filter asks for more than they know. */
  #keptCount(wanted: Wanted): number | null {
    const { tenant, state, notState, fault, label, deleted } = wanted;
    const asked = conditionsOf(wanted).map(({ aspect }) => aspect);
    const only = (...aspects: Aspect[]) => asked.every((aspect) => aspect === 'deleted' || aspects.includes(aspect));
    if (only('tenant', 'state', 'notState')) {
      const counts = countsByState(this.#database, tenant);
      if (deleted) return counts.deleted;
      if (state !== undefined) return counts[state];
      const living = Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
      return notState === undefined ? living : living - counts[notState];
    }
    if (deleted) return null;
    if (fault !== undefined && only('fault')) return countsByFault(this.#database)[fault];
    return label !== undefined && only('label') ? countOfLabel(this.#database, label) : null;
  }

  #find(wanted: Wanted, ask: Ask): Found[] {
    const { narrow, ordered } = sourcesFor(this.#database, wanted, ask.sort);
    // Gathering costs a row per match, walking a row per entry passed over: here the two meet.
    const few = Math.max(FEW, Math.ceil(Math.sqrt(ask.limit * ordered.size)));
    const walked = narrow.ordered ? narrow : ordered;
    const words = wanted.deleted ? [] : wanted.words;
    if (narrow.size <= (words.length === 0 ? few : PROBE)) {
      return narrow.ordered ? this.#walk(narrow, ask) : this.#gather(narrow, ask);
    }
    if (words.length === 0) return this.#walk(walked, ask);

    const key = sortKey(ask.sort);
    const rare = this.#rare(words);
    if (rare !== null) return this.#gather(hitSource(rare, key), ask);
    const nearby = this.#walkNearby(walked, ask, this.#text.density(words));
    if (nearby !== null) return nearby;
    const hits = this.#matching(matchOf(words), few);
    return hits === null ? this.#walk(walked, ask) : this.#gather(hitSource(hits, key), ask);
  }

  /**
   * The rows of a word that few have, or null when many have each: the other words are then checked row by row, which is
   * cheaper than letting the index pass over everything that a common one matches.
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

  /** In the order of the index, until there are enough. */
  #walk(source: Source, ask: Ask, until: Position | null = null): Found[] {
    const { from, where, params } = rowsOf(source, ask.conditions, between(source, ask, until));
    const sql = `SELECT ${ROW_COLUMNS}, ${source.key}, ${source.row} FROM ${from} WHERE ${where} ${orderBy(source, ask)} LIMIT ?`;
    return this.#database
      .sql(sql)
      .all(...params, ask.limit)
      .map(foundOf);
  }

  /** Everything that matches, sorted; only the page is read in full. */
  #gather(source: Source, ask: Ask): Found[] {
    const { from, where, params } = rowsOf(source, ask.conditions, between(source, ask, null));
    const sorted = this.#database
      .sql(`SELECT ${source.key}, ${source.row} FROM ${from} WHERE ${where} ${orderBy(source, ask)} LIMIT ?`)
      .all(...params, ask.limit) as Position[];
    const read = this.#database
      .sql(
        `SELECT ${ROW_COLUMNS}, instances.rowid FROM json_each(?) AS page CROSS JOIN instances ON instances.rowid = page.value`,
      )
      .all(JSON.stringify(sorted.map(([, row]) => row)));
    const byRow = new Map(read.map((values) => [values.at(-1), rowOf(values)]));
    return sorted.flatMap((position) => {
      const row = byRow.get(position[1]);
      return row === undefined ? [] : [{ row, position }];
    });
  }

  /** A walk that gives up (null) when a stretch of the index has too few matches for the page. */
  #walkNearby(source: Source, ask: Ask, density: number): Found[] | null {
    const stretch = Math.min(PATIENCE, Math.ceil(1.5 / density)) * ask.limit;
    const limits = between(source, ask, null);
    const where = [...source.where, ...limits.where].join(' AND ');
    const sql = `SELECT ${source.key}, ${source.row} FROM ${source.index} WHERE ${where} ${orderBy(source, ask)} LIMIT 1 OFFSET ?`;
    const end = this.#database.sql(sql).get(...source.params, ...limits.params, stretch);
    if (end === undefined) return this.#walk(source, ask);
    const found = this.#walk(source, ask, [end[0] as Position[0], end[1] as number]);
    return found.length >= ask.limit ? found : null;
  }
}

/** A filter by several tenants as one filter for each: every index leads with at most one. */
function eachTenant<F extends ListFilter>({ tenants, ...filter }: F): Omit<F, 'tenants'>[] {
  if (tenants === undefined) return [filter];
  const asked = filter.tenant === undefined ? new Set(tenants) : tenants.filter((tenant) => tenant === filter.tenant);
  return [...asked].map((tenant) => ({ ...filter, tenant }));
}

/** The order that SQLite gives: numbers, then text by its bytes, then blobs; rows decide between equals. */
function byPosition(descending: boolean): (a: Found, b: Found) => number {
  const rank = (key: Position[0]) => (typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2);
  const keys = (a: Position[0], b: Position[0]): number => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
    return rank(a) - rank(b);
  };
  const ascending = (a: Found, b: Found) => keys(a.position[0], b.position[0]) || a.position[1] - b.position[1];
  return descending ? (a, b) => ascending(b, a) : ascending;
}

interface Clause {
  where: string[];
  params: Value[];
}

/** From the cursor on and, when `until` is given, not beyond it. */
function between(source: Pick<Source, 'key' | 'row'>, ask: Ask, until: Position | null): Clause {
  const clause: Clause = { where: [], params: [] };
  const bound = (comparison: string, position: Position | null) => {
    if (position === null) return;
    // Without a collation that both sides agree on, SQLite seeks by the key alone and reads every equal one.
    clause.where.push(`(${source.key}, ${source.row}) ${comparison} (?, ? COLLATE BINARY)`);
    clause.params.push(...position);
  };
  bound(ask.descending ? '<' : '>', ask.after);
  bound(ask.descending ? '>=' : '<=', until);
  return clause;
}

function orderBy({ key, row }: Pick<Source, 'key' | 'row'>, { descending }: Ask): string {
  const direction = descending ? 'DESC' : 'ASC';
  return `ORDER BY ${key} ${direction}, ${row} ${direction}`;
}

/** A source with every condition that it does not answer by itself. */
function rowsOf(
  source: Source,
  conditions: Condition[],
  more: Clause = { where: [], params: [] },
): { from: string; where: string; params: Value[] } {
  const rest = conditions.filter(({ aspect }) => !source.covers.includes(aspect));
  return {
    from: `${source.index} ${source.join}`,
    where: [...source.where, ...more.where, ...rest.map(({ sql }) => sql)].join(' AND '),
    params: [...source.params, ...more.params, ...rest.flatMap(({ params }) => params)],
  };
}

function foundOf(values: Value[]): Found {
  const [key, row] = values.slice(-2);
  return { row: rowOf(values), position: [key as Position[0], row as number] };
}

function cursorAt([key, row]: Position, sort: Sort, reverse: boolean): string {
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
  return [key ?? new Uint8Array(), row];
}
