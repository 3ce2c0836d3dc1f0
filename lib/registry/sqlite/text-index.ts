/**
 * The full-text index: which rows have words with the given prefixes. Words go in as quoted FTS5 strings of letters and
 * digits, so nothing a person types is syntax. Matches are cached until words change: a list, its count and its next
 * pages search for the same.
 */
import { count, eq, integer, placeholder, sqliteTable, text } from '../../../db/drizzle.ts';
import type { RegistryDatabase } from './database.ts';

/**
 * The index as a table, created by a migration. FTS5 treats an equality with the column of the table's own name as a
 * match.
 */
export const instanceText = sqliteTable('instance_text', {
  rowid: integer('rowid').notNull(),
  match: text('instance_text'),
});

/** The longest prefix with an index of its own (`prefix=` of instance_text): up to it, rows are found one by one. */
const INDEXED_PREFIX = 12;
/** Number of cached queries. */
const REMEMBERED = 200;
/** Row numbers cached per query. */
const REMEMBERED_ROWS = 1000;

/**
 * `short` searches by indexed prefixes and returns at least all matches; `full` returns exactly the matches, but
 * collects all of them first.
 */
export interface TextMatch {
  short: string;
  full: string;
}

export function textMatch(words: string[]): TextMatch {
  const query = (terms: string[]) => terms.map((term) => `"${term}"*`).join(' ');
  return { short: query(words.map((word) => [...word].slice(0, INDEXED_PREFIX).join(''))), full: query(words) };
}

interface RememberedMatch {
  /** Lower bound of the matching rows: valid until words are removed. */
  atLeast: number;
  /** All matches, when they are few: valid until words are added. */
  rows: number[] | null;
  additions: number;
  /** Share of the matching rows, estimated from the oldest. */
  density: number;
}

export class TextIndex {
  readonly #database: RegistryDatabase;
  readonly #known = new Map<string, RememberedMatch>();
  readonly #count;
  readonly #hits;
  #additions = 0;
  #version = -1;

  constructor(database: RegistryDatabase) {
    this.#database = database;
    const matches = eq(instanceText.match, placeholder('match'));
    this.#count = database.statement((queries) => {
      const some = queries
        .select({ rowid: instanceText.rowid })
        .from(instanceText)
        .where(matches)
        .limit(placeholder('limit'));
      return queries.select({ n: count() }).from(some.as('some')).prepare();
    });
    this.#hits = database.statement((queries) =>
      queries
        .select({ rowid: instanceText.rowid })
        .from(instanceText)
        .where(matches)
        .orderBy(instanceText.rowid)
        .limit(placeholder('limit'))
        .prepare(),
    );
  }

  /** Number of matching rows, exact up to `cap`; above it `cap + 1`. */
  count(match: string, cap: number): number {
    const known = this.#recall(match);
    if (known !== undefined && known.atLeast > cap) return cap + 1;
    if (known?.rows) return known.rows.length;
    const atLeast = this.#count().get({ match, limit: cap + 1 })?.n ?? 0;
    this.#remember(match, { atLeast, rows: null, density: known?.density ?? 1 });
    return atLeast;
  }

  /** The numbers of the matching rows, or null when there are more than `cap`. */
  hits(match: string, cap: number): number[] | null {
    const known = this.#recall(match);
    if (known !== undefined && known.atLeast > cap) return null;
    if (known?.rows) return known.rows;
    const rows = this.#hits()
      .all({ match, limit: cap + 1 })
      .map(({ rowid }) => rowid);
    const complete = rows.length <= cap;
    this.#remember(match, {
      atLeast: rows.length,
      rows: complete && rows.length <= REMEMBERED_ROWS ? rows : null,
      density: rows.length / Math.max(1, rows.at(-1) ?? 1),
    });
    return complete ? rows : null;
  }

  /** Estimated share of rows that have all the words, as if words were independent; 1 when nothing is known. */
  density(words: string[]): number {
    return words.reduce((share, word) => share * (this.#recall(textMatch([word]).short)?.density ?? 1), 1);
  }

  /** Call it when rows have gained words. */
  added(): void {
    this.#additions += 1;
  }

  /** Call it when rows have lost words. */
  removed(): void {
    this.#known.clear();
  }

  #recall(match: string): RememberedMatch | undefined {
    const version = this.#database.dataVersion();
    // Another process has written: words may have come or gone.
    if (version !== this.#version) this.#known.clear();
    this.#version = version;
    const known = this.#known.get(match);
    if (known !== undefined && known.additions !== this.#additions) known.rows = null;
    return known;
  }

  #remember(match: string, known: Omit<RememberedMatch, 'additions'>): void {
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(match, { ...known, additions: this.#additions });
  }
}
