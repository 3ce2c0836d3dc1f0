/**
 * Lower bounds of counts, in memory. Counting ten thousand rows costs more than a page of them, and a list asks for the
 * same count again and again. A count that was more than was told stays so until as many rows have changed. A span of
 * time that includes the counted one has at least as many: what idled for an hour a second ago still does.
 */

import { filterBindings, filterShape, type NormalFilter } from '../statements/list-filter.ts';
import type { RegistryDatabase } from './database.ts';

/** Filters remembered. */
const REMEMBERED = 200;

interface Counted {
  counted: number;
  /** What was told: at most `counted`. */
  told: number;
  /** Whether rows were left that nobody counted. */
  isCut: boolean;
}

interface Bound extends Counted {
  since: number;
  until: number;
  /** Number of changes when it was counted. */
  changes: number;
}

export class CountBounds {
  readonly #database: RegistryDatabase;
  readonly #bounds = new Map<string, Bound>();
  #version = -1;

  constructor(database: RegistryDatabase) {
    this.#database = database;
  }

  /** What was counted, when the filter still has as many as were told. */
  of(wanted: NormalFilter): Counted | null {
    const version = this.#database.dataVersion();
    // Another process has written, and nobody knows how many rows.
    if (version !== this.#version) this.#bounds.clear();
    this.#version = version;
    const bound = this.#bounds.get(keyOf(wanted));
    if (bound === undefined) return null;
    const { since, until } = spanOf(wanted);
    if (since > bound.since || until < bound.until) return null;
    return bound.counted - (this.#database.changes() - bound.changes) >= bound.told ? bound : null;
  }

  /** Call it after `of`. */
  remember(wanted: NormalFilter, counted: Counted): void {
    if (this.#bounds.size >= REMEMBERED) this.#bounds.clear();
    this.#bounds.set(keyOf(wanted), { ...spanOf(wanted), ...counted, changes: this.#database.changes() });
  }
}

function spanOf({ since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY }: NormalFilter) {
  return { since, until };
}

function keyOf({ since: _since, until: _until, ...rest }: NormalFilter): string {
  return `${filterShape(rest)} ${JSON.stringify(filterBindings(rest))}`;
}
