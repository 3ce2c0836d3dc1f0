/**
 * The pages of a segment, in order: the last frame of each page that was committed since a position, and the pages by
 * which the database grew that no such frame has, as a reader sees them. Knows nothing of how they are written.
 */

import { lockPage } from '../ltx/ltx-header.ts';
import { LogChanged, lastFrames } from './last-frames.ts';
import type { LogReader } from './log-reader.ts';
import type { MainFile } from './main-file.ts';

/** Pages by which a database grew and that are in no frame, at most: SQLite writes all but the page of locks. */
const MOST_FILLED = 2 ** 16;

export interface PageSource {
  log: LogReader;
  file: MainFile;
  pageSize: number;
  /** The frames that were committed since: from there… */
  from: number;
  /** …up to there. */
  end: number;
  /** Pages of the database after them. */
  commit: number;
  /** The fewest pages that it had since the position, and at it. */
  leastCommit: number;
  /** Pages that are taken from the file when no frame has them, ascending. */
  alsoPages: readonly number[];
}

export interface SegmentPage {
  page: number;
  /** Its bytes, until the next page. Throws `LogChanged`. */
  content: () => Buffer;
  /** An earlier frame has it, which a checkpoint may have passed over. */
  isDoubtful: boolean;
}

/** More pages are in no frame than a segment takes. */
export class TooManyPages extends Error {}

/** Throws `LogChanged` when the log is not as it was, and `TooManyPages`. */
export function* segmentPages(source: PageSource): Generator<SegmentPage> {
  const { log, pageSize, from, end, commit, leastCommit } = source;
  const lock = lockPage(pageSize);
  // At once, and not after so many pages.
  if (commit - leastCommit - (end - from) > MOST_FILLED) throw new TooManyPages();
  const beside = new PagesBeside(source);
  let next = 1;
  for (const { page, frame, runEnd } of lastFrames(log, { from, end, firstPage: 1, lastPage: commit })) {
    if (page === lock) continue;
    yield* beside.between(next, page - 1);
    yield { page, content: () => contentOf(log, frame, runEnd), isDoubtful: false };
    next = page + 1;
  }
  yield* beside.between(next, commit);
}

function contentOf(log: LogReader, frame: number, runEnd: number): Buffer {
  const content = log.contentOf(frame, runEnd);
  if (content === null) throw new LogChanged();
  return content;
}

/** The pages that no new frame has. */
class PagesBeside {
  readonly #source: PageSource;
  readonly #lock: number;
  #also = 0;
  #filled = 0;
  /** Frames before the position, of pages by which the database grew. Looked for once one is needed. */
  #earlier: Generator<{ page: number; frame: number }> | null = null;
  #earlierNext: { page: number; frame: number } | null = null;

  constructor(source: PageSource) {
    this.#source = source;
    this.#lock = lockPage(source.pageSize);
  }

  /** Those from `first` to `last`. Asked for in ascending order, once each. */
  *between(first: number, last: number): Generator<SegmentPage> {
    const { alsoPages, leastCommit } = this.#source;
    for (; this.#also < alsoPages.length; this.#also += 1) {
      const page = alsoPages[this.#also] ?? 0;
      if (page > last || page > leastCommit) break;
      if (page >= first) yield this.#ofFile(page);
    }
    for (let page = Math.max(first, leastCommit + 1); page <= last; page += 1) {
      if (page === this.#lock) continue;
      this.#filled += 1;
      if (this.#filled > MOST_FILLED) throw new TooManyPages();
      const frame = this.#earlierFrameOf(page);
      if (frame === null) yield this.#ofFile(page);
      else yield { page, content: () => contentOf(this.#source.log, frame, frame + 1), isDoubtful: true };
    }
  }

  #ofFile(page: number): SegmentPage {
    const { file, pageSize } = this.#source;
    return { page, content: () => file.page(page, pageSize), isDoubtful: false };
  }

  #earlierFrameOf(page: number): number | null {
    const { log, from, commit, leastCommit } = this.#source;
    if (from === 0) return null;
    if (this.#earlier === null) {
      this.#earlier = lastFrames(log, { from: 0, end: from, firstPage: leastCommit + 1, lastPage: commit });
      this.#earlierNext = this.#earlier.next().value ?? null;
    }
    while (this.#earlierNext !== null && this.#earlierNext.page < page) {
      this.#earlierNext = this.#earlier.next().value ?? null;
    }
    return this.#earlierNext?.page === page ? this.#earlierNext.frame : null;
  }
}
