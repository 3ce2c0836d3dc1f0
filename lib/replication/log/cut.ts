/**
 * Makes segments: of what was committed to a log since a position, of a whole database, and of the pages that are
 * written beside the log. A segment has what a reader of the database sees after its last commit. Everything that is
 * read may be a stranger's; knows nothing of sandboxes, of spools or of stores.
 */
import { createHash } from 'node:crypto';
import { isDatabaseSize, lockPage } from '../ltx/ltx-header.ts';
import { LtxWriter } from '../ltx/ltx-writer.ts';
import { LogChanged, MOST_FRAMES } from './last-frames.ts';
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES, LogReader, type LogSums, LogTooLong } from './log-reader.ts';
import { MainFile, noDatabase, UnopenedPage } from './main-file.ts';
import { type PageSource, segmentPages, TooManyPages } from './segment-pages.ts';

/** How far a log was cut. Opaque to who keeps it. */
export interface LogPosition {
  /** Both salts of the log, 16 hex digits. */
  salts: string;
  /** Frames up to there. */
  frames: number;
  /** The log's checksum there. */
  sums: LogSums;
  /** Pages of the database there. */
  commit: number;
  /**
   * Pages that no frame of a later commit has, and of which a checkpoint may leave something else: they are read again
   * after it.
   */
  doubtful: readonly number[];
}

interface Target {
  /** The new segment, absolute. Its folder is there. */
  target: string;
  txid: number;
  /** Of the segment, in epoch milliseconds. */
  timeMs: number;
  /** Whether it is durable when it is there. */
  sync: boolean;
}

export interface SegmentRequest extends Target {
  /** Absolute. */
  log: string;
  /**
   * The database, absolute. Nobody writes to it but by checkpoints of what was confirmed. `bytes`: its size, when this
   * process may not open it; a segment that needs a page of it is a gap.
   */
  main: string | { bytes: number };
  /** Where the segment before it ends; null: at the beginning of a log that began after it. */
  position: LogPosition | null;
  /** The position up to which the log may have been written over; null: nowhere. */
  restartsAt: LogPosition | null;
  /** Takes the first page from the database when no frame has it: entering WAL writes it there. */
  withFirstPage: boolean;
  /** Bytes of a page; left out: as the log says. */
  pageSize?: number;
  /** Bytes of the log after which the segment ends with the next commit. */
  mostBytes: number;
}

export interface BaseRequest extends Target {
  /** The database, absolute. */
  main: string;
  /** Its log, absolute. */
  log: string;
}

export interface FirstPageRequest extends Target {
  /** The database at rest, absolute. */
  main: string;
  /** Where the last segment of the log ended; null: nothing was committed since the last time. */
  position: LogPosition | null;
}

interface Cut {
  /** Of the segment. */
  bytes: number;
  /** In the segment. */
  pages: number;
  /** Pages of the database. */
  commit: number;
  pageSize: number;
}

/** `why`: a clause. */
type Gap = { kind: 'gap'; why: string };

/** `isMore`: the log may have more that was committed. */
export type CutResult = { kind: 'nothing' } | Gap | ({ kind: 'segment'; position: LogPosition; isMore: boolean } & Cut);
export type FirstPageCut = Gap | ({ kind: 'segment' } & Cut);
/** `sha256`: of the database's bytes, lower-case hex. `position`: where the next segment begins. */
export type BaseCut = Gap | ({ kind: 'base'; sha256: string; position: LogPosition | null } & Cut);

const TOO_LONG = 'one transaction has too many pages';
const gap = (why: string): Gap => ({ kind: 'gap', why });

/**
 * Cuts what was committed since a position. `gap`: it cannot be shown to follow what was cut before, and a new lineage
 * has to begin. Throws the system's errors, and writes nothing then.
 */
export async function cutSegment(request: SegmentRequest): Promise<CutResult> {
  const { position, restartsAt } = request;
  const mayBeGone = position === null || isSamePosition(position, restartsAt);
  const log = LogReader.open(request.log);
  try {
    if (log === null || log.header === null) {
      return mayBeGone ? { kind: 'nothing' } : gap('the log is gone');
    }
    const { salts, sums, pageSize } = log.header;
    if (request.pageSize !== undefined && request.pageSize !== pageSize)
      return gap('the log has pages of another size');
    const begin: LogPosition = { salts, frames: 0, sums, commit: 0, doubtful: [] };
    if (position === null) return await cutFrom(request, log, null, begin);
    if (position.salts !== salts) {
      if (!mayBeGone) return gap('the log was written over before it was cut');
      return await cutFrom(request, log, position, { ...begin, doubtful: position.doubtful });
    }
    const last = position.frames === 0 ? sums : log.sumsOf(position.frames - 1);
    if (last === null || last[0] !== position.sums[0] || last[1] !== position.sums[1]) {
      return gap('the log has lost what was cut');
    }
    return await cutFrom(request, log, position, position);
  } catch (error) {
    if (error instanceof LogChanged) return gap('the log changed while it was cut');
    if (error instanceof LogTooLong) return gap(TOO_LONG);
    if (error instanceof UnopenedPage) return gap('a page is needed that is in the file alone');
    if (error instanceof TooManyPages) return gap('the database grew by too many pages at once');
    throw error;
  } finally {
    log?.close();
  }
}

function isSamePosition(one: LogPosition, other: LogPosition | null): boolean {
  return other !== null && one.salts === other.salts && one.frames === other.frames;
}

/** `before`: the position that `begin` goes on from, in this generation of the log or the one before. */
async function cutFrom(
  request: SegmentRequest,
  log: LogReader,
  before: LogPosition | null,
  begin: LogPosition,
): Promise<CutResult> {
  const { main, target, txid, timeMs, sync, withFirstPage, mostBytes } = request;
  const pageSize = log.header?.pageSize ?? 0;
  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  const from = begin.frames;
  const enough = Math.max(1, Math.floor(mostBytes / frameBytes));
  const found = log.committed(from, begin.sums, enough, MOST_FRAMES);
  if (found === null) return { kind: 'nothing' };
  const { commit, end } = found;
  if (!isDatabaseSize(commit, pageSize)) return gap('the log says a size that no database has');
  const isOpened = typeof main === 'string';
  const file = isOpened ? MainFile.open(main) : MainFile.unopened(main.bytes);
  try {
    if (isOpened && file.size > 0 && file.readPageSize() !== pageSize)
      return gap('the database has pages of another size');
    const source: PageSource = {
      log,
      file,
      pageSize,
      from,
      end,
      commit,
      leastCommit: Math.min(found.leastCommit, before?.commit ?? Math.floor(file.size / pageSize)),
      alsoPages: from > 0 ? [] : [...new Set([...(withFirstPage ? [1] : []), ...begin.doubtful])],
    };
    const bytes = (end - from) * frameBytes;
    const segment = await LtxWriter.create(
      target,
      {
        pageSize,
        commit,
        minTxid: txid,
        maxTxid: txid,
        timeMs,
        log: { offset: LOG_HEADER_BYTES + from * frameBytes, bytes, salts: begin.salts },
      },
      bytes + bytes / 4,
    );
    const doubtful = new Set(from > 0 ? begin.doubtful.filter((page) => page <= source.leastCommit) : []);
    try {
      for (const { page, content, isDoubtful } of segmentPages(source)) {
        await segment.page(page, content());
        if (isDoubtful) doubtful.add(page);
        else doubtful.delete(page);
      }
    } catch (error) {
      await segment.discard();
      throw error;
    }
    const position = {
      salts: begin.salts,
      frames: end,
      sums: found.sums,
      commit,
      doubtful: [...doubtful].sort(byNumber),
    };
    const { pages } = segment;
    return {
      kind: 'segment',
      position,
      isMore: found.isCut,
      bytes: await segment.finish(sync),
      pages,
      commit,
      pageSize,
    };
  } finally {
    file.close();
  }
}

const byNumber = (one: number, other: number) => one - other;

/**
 * Cuts every page of a database. `gap`: it was written to meanwhile. Throws `corrupt` when it is no database, and the
 * system's errors.
 */
export async function cutBase(request: BaseRequest): Promise<BaseCut> {
  try {
    return await cutWhole(request, beginOf(request.log));
  } catch (error) {
    if (error instanceof LogTooLong) return gap(TOO_LONG);
    throw error;
  }
}

/** `before`: the beginning of the log. */
async function cutWhole(request: BaseRequest, before: LogPosition | null): Promise<BaseCut> {
  const { main, log, target, txid, timeMs, sync } = request;
  const file = MainFile.open(main);
  try {
    const { size } = file;
    const pageSize = file.requirePageSize();
    const commit = size / pageSize;
    const hash = createHash('sha256');
    const segment = await LtxWriter.create(target, {
      pageSize,
      commit,
      minTxid: txid,
      maxTxid: txid,
      timeMs,
      // With what is in its log it is a state that was committed; without that it may be none.
      log:
        before === null
          ? null
          : { offset: LOG_HEADER_BYTES, bytes: FRAME_HEADER_BYTES + pageSize, salts: before.salts },
    });
    let isWhole = true;
    try {
      for (const { first, bytes } of file.pieces(pageSize)) {
        hash.update(bytes);
        for (let at = 0, page = first; at < bytes.length; at += pageSize, page += 1) {
          const content = bytes.subarray(at, at + pageSize);
          if (page !== lockPage(pageSize)) await segment.page(page, content);
          else if (content.some((byte) => byte !== 0)) throw noDatabase('its page of locks is written to');
        }
      }
      isWhole = file.currentSize() === size && segment.pages === commit - (commit < lockPage(pageSize) ? 0 : 1);
      isWhole &&= before === null || beginOf(log)?.salts === before.salts;
    } catch (error) {
      await segment.discard();
      throw error;
    }
    if (!isWhole) {
      await segment.discard();
      return gap('the database was written to while it was read');
    }
    const { pages } = segment;
    const bytes = await segment.finish(sync);
    const position = before === null ? null : { ...before, commit };
    return { kind: 'base', bytes, pages, commit, pageSize, sha256: hash.digest('hex'), position };
  } finally {
    file.close();
  }
}

/** The beginning of a log; null where nothing is committed: SQLite gives such a log new salts at any time. */
function beginOf(path: string): LogPosition | null {
  const log = LogReader.open(path);
  try {
    if (log === null || log.header === null) return null;
    const { salts, sums } = log.header;
    if (log.committed(0, sums, 1, MOST_FRAMES) === null) return null;
    return { salts, frames: 0, sums, commit: 0, doubtful: [] };
  } finally {
    log?.close();
  }
}

/**
 * Cuts the first page of a database that has come to rest, which leaving WAL writes beside the log, and the doubtful
 * ones. `gap`: it is not what was cut. Throws `corrupt` when it is no database, and the system's errors.
 */
export async function cutFirstPage(request: FirstPageRequest): Promise<FirstPageCut> {
  const { main, position, target, txid, timeMs, sync } = request;
  const file = MainFile.open(main);
  try {
    const pageSize = file.requirePageSize();
    const commit = file.size / pageSize;
    if (position !== null && position.commit !== commit)
      return gap('the file at rest has another size than what was cut');
    const header = { pageSize, commit, minTxid: txid, maxTxid: txid, timeMs, log: null };
    const segment = await LtxWriter.create(target, header, pageSize);
    try {
      for (const page of [1, ...(position?.doubtful ?? []).filter((each) => each > 1)]) {
        await segment.page(page, file.page(page, pageSize));
      }
    } catch (error) {
      await segment.discard();
      throw error;
    }
    const { pages } = segment;
    return { kind: 'segment', bytes: await segment.finish(sync), pages, commit, pageSize };
  } finally {
    file.close();
  }
}
