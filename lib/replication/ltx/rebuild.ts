/**
 * Makes a database of a base and the segments after it. Nothing is at the target before every byte of all of them was
 * checked. Knows nothing of where segments come from.
 */
import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createFile, performing, renameFile, syncFolder, unlinkFile } from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import { isRestingPage, putPageToRest } from './first-page.ts';
import { badSegment } from './ltx-header.ts';
import { LtxReader } from './ltx-reader.ts';
import { unfinishedName } from './ltx-writer.ts';
import { mergePages, mergeSegments, type PageSink, requireChain } from './merge.ts';
import { PieceWriter } from './piece-writer.ts';
import { openSegmentFile, type SegmentBytes } from './segment-bytes.ts';

/** Segments that are open at the same time, and what is read of each at once, in bytes. */
const MOST_OPEN = 64;
const PIECE_BYTES = 80 * 1024;

export interface RebuildRequest {
  /** A base and the segments after it, absolute, in order. */
  segments: readonly string[];
  /** Opens the base where it is no file of this machine; `segments` are those after it. */
  base?: () => Promise<SegmentBytes>;
  /** The database, absolute. What is there is replaced. */
  target: string;
  /** A database in WAL mode becomes one at rest, without a log. */
  atRest?: boolean;
  /** False for a file that no restart needs: it waits for no disk and is not hashed. Default: true. */
  durable?: boolean;
}

export interface Rebuilt {
  bytes: number;
  /** Lower-case hex; empty of a file that was not to be durable. */
  sha256: string;
  /** Of the last segment, in epoch milliseconds. */
  timeMs: number;
  /** Of the last segment. */
  txid: number;
  /** Whether it was at rest by itself: of a filing. */
  wasAtRest: boolean;
}

/**
 * Makes the database, durable and hashed unless it is not to be, in one pass: pages are written as they are read.
 * Throws `corrupt` when a segment is damaged or does not follow the one before, and the system's errors; what was at
 * the target is there still then.
 */
export async function rebuild({
  segments,
  base,
  target,
  atRest = false,
  durable = true,
}: RebuildRequest): Promise<Rebuilt> {
  const unfinished = unfinishedName(target);
  const part = `${unfinished}.part`;
  const [first, ...since] = base === undefined ? segments : ['', ...segments];
  if (first === undefined) throw new WinterdockError('corrupt', 'There is no segment to make a database of.');
  try {
    const isLong = since.length >= MOST_OPEN;
    if (isLong) await mergeSegments({ segments: since, target: part, sync: false });
    const opening = [base ?? (() => openSegmentFile(first))];
    for (const path of isLong ? [part] : since) opening.push(() => openSegmentFile(path));
    const rebuilt = await written(opening, unfinished, { atRest, durable });
    await renameFile(unfinished, target);
    if (durable) await syncFolder(dirname(target));
    return rebuilt;
  } catch (error) {
    await unlinkFile(unfinished);
    throw error;
  } finally {
    await unlinkFile(part);
  }
}

async function written(
  opening: readonly (() => Promise<SegmentBytes>)[],
  unfinished: string,
  { atRest, durable }: { atRest: boolean; durable: boolean },
): Promise<Rebuilt> {
  const readers: LtxReader[] = [];
  const file = await createFile(unfinished, 'w+');
  try {
    for (const open of opening) {
      readers.push(await LtxReader.from(await open(), opening.length > 1 ? PIECE_BYTES : undefined));
    }
    const [first, last] = [readers[0], readers.at(-1)?.header];
    if (first === undefined || last === undefined) throw new Error('There is no segment.');
    if (first.header.minTxid !== 1) throw badSegment(first.name, 'it is no base');
    requireChain(readers);
    const { pageSize, commit, maxTxid: txid, timeMs } = last;
    const database = new DatabaseWriter(file, pageSize, { atRest, isHashed: durable });
    await mergePages(readers, database);
    const sha256 = await database.end(commit);
    if (durable) await performing({ kind: 'sync', path: unfinished }, () => file.sync());
    return { bytes: commit * pageSize, sha256, timeMs, txid, wasAtRest: database.wasAtRest };
  } finally {
    for (const reader of readers) await reader.close();
    await file.close();
  }
}

/** Writes the pages of a database as they come, and hashes them where somebody keeps the hash. */
class DatabaseWriter implements PageSink {
  readonly #pageSize: number;
  readonly #atRest: boolean;
  readonly #hash: Hash | null;
  readonly #pieces: PieceWriter;
  #next = 1;
  /** Whether it was at rest by itself. */
  wasAtRest = true;

  constructor(file: FileHandle, pageSize: number, { atRest, isHashed }: { atRest: boolean; isHashed: boolean }) {
    this.#pageSize = pageSize;
    this.#atRest = atRest;
    this.#hash = isHashed ? createHash('sha256') : null;
    this.#pieces = new PieceWriter(file, undefined, (piece) => this.#hash?.update(piece));
  }

  page(page: number, bytes: Buffer): Promise<void> | undefined {
    // The page of locks is in no segment.
    if (page === this.#next && !this.#pieces.lacks(this.#pageSize)) this.#put(bytes);
    else return this.#putLater(page, bytes);
    return undefined;
  }

  /** Ends it with that many pages; resolves with the hash, in lower-case hex. */
  async end(commit: number): Promise<string> {
    if (this.#next <= commit) await this.#zeros(commit + 1);
    await this.#pieces.end();
    return this.#hash?.digest('hex') ?? '';
  }

  async #putLater(page: number, bytes: Buffer): Promise<void> {
    await this.#zeros(page);
    if (this.#pieces.lacks(this.#pageSize)) await this.#pieces.flush();
    this.#put(bytes);
  }

  /** Every page before this one that no segment has. */
  async #zeros(page: number): Promise<void> {
    for (const zeros = Buffer.alloc(this.#pageSize); this.#next < page; ) {
      if (this.#pieces.lacks(this.#pageSize)) await this.#pieces.flush();
      this.#put(zeros);
    }
  }

  #put(bytes: Buffer): void {
    if (this.#next === 1) {
      this.wasAtRest = isRestingPage(bytes);
      if (this.#atRest && !this.wasAtRest) putPageToRest(bytes);
    }
    this.#pieces.put(bytes);
    this.#next += 1;
  }
}
