/**
 * The full-text index: all runs of three characters (trigrams) of the rows' search texts. It knows which rows have all
 * trigrams of a text, the candidates; whether a candidate matches is in its row. Trigrams go in as quoted FTS5 strings
 * of letters, digits and spaces, so nothing a person types is syntax. Results are cached until texts change: a list,
 * its count and its next pages search for the same.
 */
import type { SQL } from 'drizzle-orm';
import { and, eq, integer, placeholder, sqliteTable, text } from '../../../db/drizzle.ts';
import { instances } from '../../../db/schema.ts';
import { contains, inBoundList, rowid, selectUnindexed } from '../statements/raw.ts';
import type { RegistryDatabase } from './database.ts';

/**
 * The index as a table, created by a migration. FTS5 treats an equality with the column of the table's own name as a
 * match.
 */
export const instanceText = sqliteTable('instance_text', {
  rowid: integer('rowid').notNull(),
  match: text('instance_text'),
});

const GRAM = 3;
/** Trigrams of one pattern that are searched for: more make the search slower and hardly narrower. */
const GRAMS_OF_PATTERN = 12;
/** Up to this many matches of a pattern are read at once. */
export const PROBE = 500;
/** Number of patterns of a text, longest first, that are tested for being rare. */
const PROBED_PATTERNS = 4;
/** Number of cached queries. */
const REMEMBERED = 200;
/** Row numbers cached per query. */
const REMEMBERED_ROWS = 1000;

/** The query of the rows that have the trigrams of all patterns. A pattern has three characters or more. */
export function textMatch(patterns: readonly string[]): string {
  const grams = patterns.flatMap((pattern) => {
    const characters = [...pattern];
    const all = characters.slice(GRAM - 1).map((_, at) => characters.slice(at, at + GRAM).join(''));
    const step = Math.max(1, all.length / GRAMS_OF_PATTERN);
    return Array.from({ length: Math.min(all.length, GRAMS_OF_PATTERN) }, (_, n) => all[Math.floor(n * step)] ?? '');
  });
  return [...new Set(grams)].map((gram) => `"${gram}"`).join(' ');
}

interface RememberedMatch {
  /** Lower bound of the matching rows: valid until texts are removed. */
  atLeast: number;
  /** All matches, when they are few: valid until texts are added. */
  rows: number[] | null;
  additions: number;
  /** Share of the matching rows, estimated from the oldest. */
  density: number;
}

export class TextIndex {
  readonly #database: RegistryDatabase;
  readonly #known = new Map<string, RememberedMatch>();
  #additions = 0;
  #version = -1;

  constructor(database: RegistryDatabase) {
    this.#database = database;
  }

  /** The numbers of all matching rows and perhaps of a few more, or null when there are more than `cap`. */
  candidates(patterns: readonly string[], cap: number): number[] | null {
    return this.#hits(patterns, [], cap);
  }

  /** The numbers of the matching rows, or null when there are more than `cap`. Reads every candidate. */
  matches(patterns: readonly string[], cap: number): number[] | null {
    return this.#hits(patterns, inexact(patterns), cap);
  }

  /**
   * The rows of a rare pattern, or null when every one is common: the others are then checked row by row, which is
   * cheaper than an index scan over all rows with a common one.
   */
  rare(patterns: readonly string[]): number[] | null {
    for (const pattern of patterns.toSorted((a, b) => b.length - a.length).slice(0, PROBED_PATTERNS)) {
      const hits = this.candidates([pattern], PROBE);
      if (hits !== null) return hits;
    }
    return null;
  }

  /** Number of the matching rows among candidates. */
  matchesAmong(candidates: readonly number[], patterns: readonly string[]): number {
    const key = keyOf(patterns, patterns);
    const known = this.#recall(key)?.rows;
    if (known) return known.length;
    const statement = this.#database.shape(`text among ${patterns.length}`, (queries) =>
      selectUnindexed(queries, { number: rowid(instances) }, instances)
        .where(and(inBoundList(rowid(instances), 'hits'), ...conditionsOf(patterns)))
        .prepare(),
    );
    const found = statement.all({ hits: JSON.stringify(candidates), ...patternBindings(patterns) });
    const rows = found.map(({ number }) => number);
    this.#remember(key, { atLeast: rows.length, rows, density: 1 });
    return rows.length;
  }

  /** Estimated share of rows that have all the patterns, as if these were independent; 1 when nothing is known. */
  density(patterns: readonly string[]): number {
    return patterns.reduce((share, pattern) => share * (this.#recall(keyOf([pattern], []))?.density ?? 1), 1);
  }

  /** Call it when rows have gained texts. */
  added(): void {
    this.#additions += 1;
  }

  /** Call it when rows have lost texts. */
  removed(): void {
    this.#known.clear();
  }

  /** Rows with the trigrams of a match, in the order of their numbers, whose text contains each of the `checked`. */
  #found(checked: readonly string[]) {
    const number = rowid(instanceText);
    const fields = { number: number.as('number') };
    const from = this.#database.queries.select(fields).from(instanceText);
    const matching = eq(instanceText.match, placeholder('match'));
    if (checked.length === 0) return from.where(matching).orderBy(instanceText.rowid).limit(placeholder('limit'));
    // CROSS JOIN: the index is read first, then each candidate's row.
    from.crossJoin(instances);
    return from
      .where(and(matching, eq(rowid(instances), number), ...conditionsOf(checked)))
      .limit(placeholder('limit'));
  }

  #hits(patterns: readonly string[], checked: readonly string[], cap: number): number[] | null {
    const key = keyOf(patterns, checked);
    const known = this.#recall(key);
    if (known !== undefined && known.atLeast > cap) return null;
    if (known?.rows) return known.rows;
    const statement = this.#database.shape(`text hits ${checked.length}`, () => this.#found(checked).prepare());
    const rows = statement.all({ ...bindings(patterns, checked), limit: cap + 1 }).map(({ number }) => number);
    const complete = rows.length <= cap;
    this.#remember(key, {
      atLeast: rows.length,
      rows: complete && rows.length <= REMEMBERED_ROWS ? rows : null,
      density: rows.length / Math.max(1, rows.at(-1) ?? 1),
    });
    return complete ? rows : null;
  }

  #recall(key: string): RememberedMatch | undefined {
    const version = this.#database.dataVersion();
    // Another process has written: texts may have come or gone.
    if (version !== this.#version) this.#known.clear();
    this.#version = version;
    const known = this.#known.get(key);
    if (known !== undefined && known.additions !== this.#additions) known.rows = null;
    return known;
  }

  #remember(key: string, known: Omit<RememberedMatch, 'additions'>): void {
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(key, { ...known, additions: this.#additions });
  }
}

/** The patterns that a row may lack although it has their trigrams: those of more than one. */
function inexact(patterns: readonly string[]): string[] {
  return patterns.filter((pattern) => [...pattern].length > GRAM);
}

function keyOf(patterns: readonly string[], checked: readonly string[]): string {
  return [checked.length, ...patterns].join('\n');
}

function bindings(patterns: readonly string[], checked: readonly string[]): Record<string, unknown> {
  return { match: textMatch(patterns), ...patternBindings(checked) };
}

function conditionsOf(patterns: readonly string[]): SQL[] {
  return patterns.map((_, n) => contains(instances.words, `pattern${n}`));
}

/** The values that `conditionsOf` binds. */
function patternBindings(patterns: readonly string[]): Record<string, string> {
  return Object.fromEntries(patterns.map((pattern, n) => [`pattern${n}`, pattern]));
}
