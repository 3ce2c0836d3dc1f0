/** How much room a VFS file has left under its page limit. Reads three pragmas, none of which touches the disk. */
import { WinterdockError } from '../base/errors.ts';
import { FULL, resultCodeOf } from './sqlite-errors.ts';
import type { Statements } from './statements.ts';

/** Pages that splitting the trees of both tables can take beyond what a content needs. */
const TREE_PAGES = 64;
/** Sizes below this are not checked beforehand: SQLite's own refusal costs nothing more. */
const SMALL_BYTES = 65_536;
/** Bytes of an overflow page that are not content. */
const PAGE_LINK_BYTES = 4;

export class Quota {
  readonly #statements: Statements;
  #pageBytes = 0;
  #maxPages = 0;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /**
   * Throws `quota_exceeded` when `bytes` more would not fit; called before anything is copied. `margin`: also reserve
   * the pages that b-tree splits may need, for statements that must not hit the limit.
   */
  reserve(bytes: number, margin = false): void {
    if (!margin && bytes < SMALL_BYTES) return;
    if (this.pagesFor(bytes) + (margin ? TREE_PAGES : 0) > this.#free().pages) throw this.exceeded();
  }

  /**
   * `quota_exceeded` when an error says that a write of `bytes` hit the page limit; null for any other error, also for
   * a full disk.
   */
  explain(error: unknown, bytes: number): WinterdockError | null {
    if (resultCodeOf(error) !== FULL) return null;
    return this.#free().pages < this.pagesFor(bytes) + TREE_PAGES ? this.exceeded(error) : null;
  }

  /** Pages that a content of this many bytes takes. */
  pagesFor(bytes: number): number {
    this.#pageBytes ||= this.#pragma('page_size');
    return Math.ceil(bytes / (this.#pageBytes - PAGE_LINK_BYTES));
  }

  #free(): { pages: number; used: number } {
    this.#maxPages ||= this.#pragma('max_page_count');
    const used = this.#pragma('page_count') - this.#pragma('freelist_count');
    return { pages: this.#maxPages - used, used };
  }

  /** Pages that can still be written. */
  freePages(): number {
    return this.#free().pages;
  }

  /** Bytes of the page limit, and of what can still be written. */
  room(): { limit: number; free: number; pageBytes: number } {
    const pageBytes = this.#pragma('page_size');
    const { pages } = this.#free();
    return { limit: this.#maxPages * pageBytes, free: pages * pageBytes, pageBytes };
  }

  exceeded(cause?: unknown): WinterdockError {
    this.#pageBytes ||= this.#pragma('page_size');
    const limit = this.#maxPages * this.#pageBytes;
    const used = this.#free().used * this.#pageBytes;
    return new WinterdockError('quota_exceeded', `The sandbox is full: ${used} of ${limit} bytes are used.`, {
      hint: 'Delete files, or ask for a larger sandbox. Nothing was changed.',
      extra: { quota: 'sandbox_bytes', limit, used },
      cause,
    });
  }

  #pragma(name: string): number {
    return Number(Object.values(this.#statements.get<Record<string, number>>(`PRAGMA ${name}`) ?? {})[0] ?? 0);
  }
}
