/**
 * What files take of the quota: what the seed's table will hold at rest, so each name of a file counts as a copy and
 * holes count as zeros. Knows nothing of names.
 *
 * It begins with the pages that the file has. What is added counts with the most pages that it can take, and what was
 * there before with the fewest when it is removed: what fits here, fits at rest.
 */
import { ENOSPC, endWith } from './errno.ts';

/** SQLite's smallest usual page, and what of an overflow page is content. */
const PAGE_BYTES = 4096;
const PAGE_CONTENT_BYTES = 4092;
/** Rows below this share pages, which are at least half full after a split. */
const SHARED_BYTES = 1900;
/** Of the rows of a name in all tables and indices, beside the path, of which there are four copies. */
const ENTRY_BYTES = 320;
const PATH_COPIES = 4;

/** The most bytes that a name with a content of `size` can take. `pathBytes` is the length of its path. */
export function highestCharge(size: number, pathBytes: number): number {
  const entry = 2 * (ENTRY_BYTES + PATH_COPIES * pathBytes);
  return entry + (size < SHARED_BYTES ? 2 * size : (Math.ceil(size / PAGE_CONTENT_BYTES) + 1) * PAGE_BYTES);
}

/** The fewest bytes that it takes. */
export function lowestCharge(size: number): number {
  return size < PAGE_BYTES ? size : Math.floor(size / PAGE_CONTENT_BYTES) * PAGE_BYTES;
}

export class Room {
  readonly #maxBytes: number;
  #used: number;

  constructor(maxBytes: number, used: number) {
    this.#maxBytes = maxBytes;
    this.#used = used;
  }

  get used(): number {
    return this.#used;
  }

  get maxBytes(): number {
    return this.#maxBytes;
  }

  get free(): number {
    return Math.max(0, this.#maxBytes - this.#used);
  }

  /** Refuses what does not fit. What takes less than before always fits. */
  require(more: number): void {
    if (more > 0 && this.#used + more > this.#maxBytes) endWith(ENOSPC);
  }

  add(more: number): void {
    this.#used = Math.max(0, this.#used + more);
  }
}
