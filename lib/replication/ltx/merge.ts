/**
 * Makes one segment of several that follow each other: of each page its last version, and of the database the size
 * after the last one. What is made of a chain with it is, byte for byte, what is made of a chain with them. Pages are
 * in order in each, so memory is bounded by how many are open. Knows nothing of where segments come from.
 */
import { unlinkFile } from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import { badSegment, lockPage } from './ltx-header.ts';
import { LtxReader } from './ltx-reader.ts';
import { LtxWriter } from './ltx-writer.ts';

/** Segments that are open at the same time. Each takes some 80 KiB and a page. */
const MOST_OPEN = 64;
const PIECE_BYTES = 80 * 1024;
/** Pages by which a database grew again and that no segment has, at most: our own have all of them. */
const MOST_FILLED = 2 ** 16;

/** Takes pages in ascending order; what it is given is its own only until it returns, or what it returns resolves. */
export interface PageSink {
  page(page: number, bytes: Buffer): Promise<void> | undefined;
}

export interface MergeRequest {
  /** Segments, absolute, in order; each begins where the one before ends. The first may be a base. */
  segments: readonly string[];
  /** The new segment, absolute. Its folder is there. */
  target: string;
  /** Whether it is durable when it is there. */
  sync: boolean;
}

export interface Merged {
  bytes: number;
  /** In the segment. */
  pages: number;
  /** Pages of the database. */
  commit: number;
  minTxid: number;
  maxTxid: number;
  /** Of the last one, in epoch milliseconds. */
  timeMs: number;
}

/**
 * Merges them. Throws `corrupt` when one is damaged or does not follow the one before, and the system's errors; nothing
 * is at the target then.
 */
export async function mergeSegments({ segments, target, sync }: MergeRequest): Promise<Merged> {
  if (segments.length <= MOST_OPEN) return mergeOpen(segments, target, sync);
  const parts: string[] = [];
  try {
    for (let at = 0; at < segments.length; at += MOST_OPEN) {
      const part = `${target}.part-${parts.length}`;
      parts.push(part);
      await mergeOpen(segments.slice(at, at + MOST_OPEN), part, false);
    }
    return await mergeSegments({ segments: parts, target, sync });
  } finally {
    for (const part of parts) await unlinkFile(part);
  }
}

async function mergeOpen(paths: readonly string[], target: string, sync: boolean): Promise<Merged> {
  const readers: LtxReader[] = [];
  try {
    for (const path of paths) readers.push(await LtxReader.open(path, PIECE_BYTES));
    return await merged(readers, target, sync);
  } finally {
    for (const reader of readers) await reader.close();
  }
}

async function merged(readers: readonly LtxReader[], target: string, sync: boolean): Promise<Merged> {
  const [first, last] = [readers[0]?.header, readers.at(-1)?.header];
  if (first === undefined || last === undefined) {
    throw new WinterdockError('corrupt', 'There is no segment to merge.');
  }
  requireChain(readers);
  const { pageSize, minTxid } = first;
  const { commit, maxTxid, timeMs } = last;
  const segment = await LtxWriter.create(target, { pageSize, commit, minTxid, maxTxid, timeMs, log: null });
  try {
    await mergePages(readers, segment);
  } catch (error) {
    await segment.discard();
    throw error;
  }
  const { pages } = segment;
  return { bytes: await segment.finish(sync), pages, commit, minTxid, maxTxid, timeMs };
}

/** Throws `corrupt` when one does not follow the one before. */
export function requireChain(readers: readonly LtxReader[]): void {
  for (const [at, { header, name }] of readers.entries()) {
    const before = readers[at - 1]?.header;
    if (before === undefined) continue;
    if (header.minTxid !== before.maxTxid + 1) throw badSegment(name, 'it does not follow the one before');
    if (header.pageSize !== before.pageSize) throw badSegment(name, 'it has pages of another size');
  }
}

/** Gives each page once, its last version. Every one of them is read to its end, where its checksum is. */
export async function mergePages(readers: readonly LtxReader[], sink: PageSink): Promise<void> {
  const { pageSize, commit } = readers.at(-1)?.header ?? { pageSize: 0, commit: 0 };
  const shortest = shortestAfter(readers);
  const fill = new GrownPages(sink, { pageSize, commit, leastCommit: shortest[0] ?? commit });
  const next = await Promise.all(readers.map((reader) => reader.next()));
  for (let page = smallest(next); page !== 0; page = smallest(next)) {
    const last = next.lastIndexOf(page);
    // What a later one gave back is gone, whoever grew over it again.
    const isKept = page <= (shortest[last + 1] ?? commit);
    if (isKept) {
      if (fill.lacks(page)) await fill.upTo(page - 1);
      const taking = sink.page(page, readers[last]?.page ?? Buffer.alloc(0));
      if (taking !== undefined) await taking;
      fill.passed(page);
    }
    for (let at = 0; at < readers.length; at += 1) {
      const reader = readers[at];
      if (next[at] === page && reader !== undefined) next[at] = reader.nextHere() ?? (await reader.next());
    }
  }
  await fill.upTo(commit);
}

/** For each of them the smallest size of the database at its end and after it. */
function shortestAfter(readers: readonly LtxReader[]): number[] {
  const shortest: number[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const { header } of readers.toReversed()) {
    least = Math.min(least, header.commit);
    shortest.unshift(least);
  }
  return shortest;
}

/** The lowest number of those that have one; 0: none has. */
function smallest(numbers: readonly number[]): number {
  let least = 0;
  for (const number of numbers) if (number !== 0 && (least === 0 || number < least)) least = number;
  return least;
}

/** Pages that a database gave back and grew over again: where no segment has one, it is nothing but zeros. */
class GrownPages {
  readonly #sink: PageSink;
  readonly #zeros: Buffer;
  readonly #commit: number;
  readonly #lock: number;
  #next: number;
  #filled = 0;

  constructor(
    sink: PageSink,
    { pageSize, commit, leastCommit }: { pageSize: number; commit: number; leastCommit: number },
  ) {
    this.#sink = sink;
    this.#zeros = Buffer.alloc(pageSize);
    this.#commit = commit;
    this.#lock = lockPage(pageSize);
    this.#next = leastCommit + 1;
  }

  /** Whether pages before this one are to be made. */
  lacks(page: number): boolean {
    return this.#next < page;
  }

  async upTo(last: number): Promise<void> {
    for (; this.#next <= Math.min(last, this.#commit); this.#next += 1) {
      if (this.#next === this.#lock) continue;
      this.#filled += 1;
      if (this.#filled > MOST_FILLED) {
        throw new WinterdockError('corrupt', 'Segments lack too many pages to be merged.');
      }
      await this.#sink.page(this.#next, this.#zeros);
    }
  }

  passed(page: number): void {
    this.#next = Math.max(this.#next, page + 1);
  }
}
