/**
 * How many instances a filter has: from the maintained counts, or counted in the narrowest index. Knows nothing of
 * pages.
 */
import { count, placeholder } from '../../../db/drizzle.ts';
import type { ListFilter } from '../instances.ts';
import {
  asksOnly,
  eachTenant,
  filterBindings,
  filterShape,
  type NormalFilter,
  normalizeFilter,
  searched,
} from '../statements/list-filter.ts';
import type { RowCount } from '../types.ts';
import {
  type AccessPath,
  accessPathsFor,
  BY_ROW_NUMBER,
  BY_TEXT,
  countEntries,
  isCovered,
  selectAmongFirst,
  selectPositions,
  sourceOfAll,
} from './access-paths.ts';
import { CountBounds } from './count-bounds.ts';
import { countOfLabel, readCountsByFault, readCountsByState } from './counts.ts';
import type { RegistryDatabase } from './database.ts';
import { PROBE, type TextIndex, textMatch } from './text-index.ts';

/**
 * Rows that are read at most to count for a list: reading one of a million takes 1 to 3 µs, and the server's thread
 * waits.
 */
const READ_ROWS = 3000;
/** Entries of an index that are read instead of a row. */
const ENTRIES_OF_ROW = 7;
/** A count goes on beyond its cap by this share, so that the answer stays true while some rows change. */
const BEYOND_CAP = 0.5;

export class ListCounts {
  readonly #database: RegistryDatabase;
  readonly #text: TextIndex;
  readonly #bounds: CountBounds;

  constructor(database: RegistryDatabase, text: TextIndex) {
    this.#database = database;
    this.#text = text;
    this.#bounds = new CountBounds(database);
  }

  /** Exact up to `cap`; above it `cap + 1`. */
  count(filter: ListFilter, cap: number): number {
    let sum = 0;
    for (const one of eachTenant(filter)) {
      sum += this.#count(one, cap, Number.POSITIVE_INFINITY).n;
      if (sum > cap) return cap + 1;
    }
    return sum;
  }

  /** See `InstanceStore.total`. */
  total(filter: ListFilter, cap: number): RowCount {
    const filters = eachTenant(filter);
    const most = Math.ceil(READ_ROWS / Math.max(1, filters.length));
    const sum: RowCount = { n: 0, isExact: true };
    for (const one of filters) {
      const { n, isExact } = this.#count(one, cap, most);
      sum.n += n;
      if (sum.n > cap) return { n: cap, isExact: false };
      if (!isExact) sum.isExact = false;
    }
    return sum;
  }

  /** Exact up to `cap`, above it `cap + 1`; when that takes more than `most` rows, a number that is not too great. */
  #count(filter: ListFilter, cap: number, most: number): RowCount {
    const wanted = normalizeFilter(filter);
    if (wanted === null) return { n: 0, isExact: true };
    const kept = this.#keptCount(wanted);
    if (kept !== null) return { n: Math.min(kept, cap + 1), isExact: true };
    const known = this.#bounds.of(wanted);
    if (known !== null && known.told > cap) return { n: cap + 1, isExact: true };
    if (known?.isCut && Number.isFinite(most)) return { n: known.told, isExact: false };
    return this.#countRows(wanted, cap, most);
  }

  #countRows(wanted: NormalFilter, cap: number, most: number): RowCount {
    const enough = Math.ceil(cap * (1 + BEYOND_CAP));
    const patterns = searched(wanted);
    let source = sourceOfAll(accessPathsFor(this.#database, wanted, 'updated'));
    let hits: number[] | null = null;
    if (patterns.length > 0 && source.size > PROBE) {
      hits = this.#text.rare(patterns);
      if (hits !== null && asksOnly(wanted, 'patterns')) {
        return { n: Math.min(this.#text.matchesAmong(hits, patterns), cap + 1), isExact: true };
      }
      hits ??= this.#text.candidates(patterns, Number.isFinite(most) ? most : enough);
      if (hits !== null) source = BY_ROW_NUMBER;
      else if (this.#text.density(patterns) * this.#living() < source.size) {
        source = { ...BY_TEXT, size: Number.POSITIVE_INFINITY };
      }
    }
    const first = mostEntries(source, wanted, most);
    const isCut = Number.isFinite(first) && this.#size(source, wanted, first + 1) > first;
    const statement = this.#database.shape(
      `list count ${source.kind} ${source.index} ${isCut} ${filterShape(wanted)}`,
      (queries) => {
        const select = isCut ? selectAmongFirst : selectPositions;
        const some = select(queries, source, wanted, 'updated').limit(placeholder('limit'));
        return queries.select({ n: count() }).from(some.as('some')).prepare();
      },
    );
    const bound = {
      ...(hits === null ? {} : { hits: JSON.stringify(hits) }),
      ...(source.kind === 'text' ? { match: textMatch(patterns) } : {}),
      ...(isCut ? { first } : {}),
    };
    const n = statement.get({ ...filterBindings(wanted), ...bound, limit: enough + 1 })?.n ?? 0;
    if (n <= cap && !isCut) return { n, isExact: true };
    const told = n > cap ? cap + 1 : roundedDown(n);
    this.#bounds.remember(wanted, { counted: n, told, isCut });
    return { n: told, isExact: n > cap };
  }

  /** Number of rows in a source, up to `limit`. No count knows how many are within a span of time. */
  #size(source: AccessPath, wanted: NormalFilter, limit: number): number {
    const isSpan = source.covers.some((aspect) => aspect === 'since' || aspect === 'until' || aspect === 'due');
    return isSpan ? countEntries(this.#database, source, wanted, limit) : source.size;
  }

  /** Number of rows that are not deleted. */
  #living(): number {
    const counts = readCountsByState(this.#database);
    return Object.values(counts).reduce((sum, n) => sum + n, 0) - counts.deleted;
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
}

/** How many entries of a source may be read instead of so many rows. Where every one matches, the count ends itself. */
function mostEntries(source: AccessPath, wanted: NormalFilter, rows: number): number {
  if (!isCovered(source, wanted)) return rows;
  return source.checks?.length ? rows * ENTRIES_OF_ROW : Number.POSITIVE_INFINITY;
}

/** To one significant digit: the number that is shown with a plus. */
function roundedDown(n: number): number {
  if (n < 10) return n;
  const unit = 10 ** Math.floor(Math.log10(n));
  return Math.floor(n / unit) * unit;
}
