/**
 * Cuts the last few commits of a log at once: for who writes the log, and lets it go in the same tick. What takes more
 * than frames of the log is left to cut.ts. Knows nothing of spools.
 */

import { dirname } from 'node:path';
import { renameFileNow, syncFolderNow, unlinkFileNow, writeNewFileNow } from '../../base/effects.ts';
import { Crc64 } from '../ltx/crc64.ts';
import {
  END_BYTES,
  encodeHeader,
  HEADER_BYTES,
  isDatabaseSize,
  lockPage,
  PAGE_HEAD_BYTES,
  SIZED_BLOCK,
  TRAILER_BYTES,
} from '../ltx/ltx-header.ts';
import { unfinishedName } from '../ltx/ltx-writer.ts';
import { literalHead } from '../ltx/lz4.ts';
import { writeNumber } from '../ltx/page-runs.ts';
import type { CutResult, LogPosition, SegmentRequest } from './cut.ts';
import { LogChanged, lastFrames, MOST_FRAMES } from './last-frames.ts';
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES, LogReader, LogTooLong } from './log-reader.ts';

/** Set in every checksum, so that none is zero. */
const CHECKSUM_FLAG = 1n << 63n;
/** Bytes of an entry of the index: three numbers. */
const MOST_OF_ENTRY = 30;

export type CutNowRequest = Pick<SegmentRequest, 'log' | 'target' | 'txid' | 'timeMs' | 'mostBytes'> & {
  /** One that was confirmed: a log that began anew since goes on from there. */
  position: LogPosition;
};

/**
 * Cuts all that was committed since a position, durably when it returns; blocks meanwhile. `mostBytes`: of the log,
 * which are read into memory. Null: that is not all of it, or not what it needs; then nothing was written. Throws the
 * system's errors.
 */
export function cutNow({ log: path, position, target, txid, timeMs, mostBytes }: CutNowRequest): CutResult | null {
  const log = LogReader.open(path);
  if (log === null) return null;
  try {
    const { header } = log;
    if (header === null) return null;
    const isNew = header.salts !== position.salts;
    // The pages of which nobody is sure would have to be read again.
    if (isNew && position.doubtful.length > 0) return null;
    const from = isNew ? 0 : position.frames;
    const sums = isNew ? header.sums : position.sums;
    const last = from === 0 ? header.sums : log.sumsOf(from - 1);
    if (last === null || last[0] !== sums[0] || last[1] !== sums[1]) return null;
    const { pageSize } = header;
    const frameBytes = FRAME_HEADER_BYTES + pageSize;
    const most = Math.max(1, Math.floor(mostBytes / frameBytes));
    const found = log.committed(from, sums, most, MOST_FRAMES);
    if (found === null) return { kind: 'nothing' };
    const { end, commit } = found;
    if (found.isCut || !isDatabaseSize(commit, pageSize) || found.leastCommit < position.commit) return null;
    const lock = lockPage(pageSize);
    const frames = [...lastFrames(log, { from, end, firstPage: 1, lastPage: commit })].filter(
      ({ page }) => page !== lock,
    );
    // A page by which the database grew, and that no frame has, lies elsewhere.
    const grown = commit - position.commit - (lock > position.commit && lock <= commit ? 1 : 0);
    if (frames.filter(({ page }) => page > position.commit).length !== grown) return null;
    const bytes = encoded(
      {
        ...{ pageSize, commit, minTxid: txid, maxTxid: txid, timeMs },
        log: { offset: LOG_HEADER_BYTES + from * frameBytes, bytes: (end - from) * frameBytes, salts: header.salts },
      },
      frames.map(({ page, frame }) => ({ page, content: () => contentOf(log, frame, end) })),
    );
    putNow(target, bytes);
    const doubtful = position.doubtful.filter((page) => !frames.some((one) => one.page === page));
    return {
      ...{ kind: 'segment', isMore: false, bytes: bytes.length, pages: frames.length, commit, pageSize },
      position: { salts: header.salts, frames: end, sums: found.sums, commit, doubtful },
    };
  } catch (error) {
    if (error instanceof LogChanged || error instanceof LogTooLong) return null;
    throw error;
  } finally {
    log.close();
  }
}

function contentOf(log: LogReader, frame: number, end: number): Buffer {
  const content = log.contentOf(frame, end);
  if (content === null) throw new LogChanged();
  return content;
}

/** A whole segment; pages ascend. */
function encoded(
  header: Parameters<typeof encodeHeader>[0],
  pages: readonly { page: number; content: () => Buffer }[],
): Buffer {
  const blockHead = literalHead(header.pageSize);
  const length = blockHead.length + header.pageSize;
  const each = PAGE_HEAD_BYTES + length;
  const room = HEADER_BYTES + pages.length * (each + MOST_OF_ENTRY) + END_BYTES + 1 + 8 + TRAILER_BYTES;
  const bytes = Buffer.alloc(room);
  const crc = new Crc64();
  let at = 0;
  const put = (piece: Uint8Array, { isSummed = true } = {}) => {
    bytes.set(piece, at);
    at += piece.length;
    if (isSummed) crc.update(piece);
  };
  put(encodeHeader(header));
  const head = Buffer.alloc(PAGE_HEAD_BYTES);
  for (const { page, content } of pages) {
    head.writeUInt32BE(page, 0);
    head.writeUInt16BE(SIZED_BLOCK, 4);
    head.writeUInt32BE(length, 6);
    put(head);
    put(blockHead, { isSummed: false });
    put(content());
  }
  put(Buffer.alloc(END_BYTES));
  const begun = at;
  const entry = Buffer.alloc(MOST_OF_ENTRY);
  for (const [index, { page }] of pages.entries()) {
    const offset = HEADER_BYTES + index * each;
    const end = writeNumber(entry, writeNumber(entry, writeNumber(entry, 0, page), offset), each);
    put(entry.subarray(0, end));
  }
  put(Buffer.alloc(1));
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(at - begun));
  put(size);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  crc.update(trailer.subarray(0, 8));
  trailer.writeBigUInt64BE(crc.value | CHECKSUM_FLAG, 8);
  put(trailer, { isSummed: false });
  return bytes.subarray(0, at);
}

/** Makes the file, durable with its name, or nothing. */
function putNow(target: string, bytes: Uint8Array): void {
  const unfinished = unfinishedName(target);
  unlinkFileNow(unfinished);
  try {
    writeNewFileNow(unfinished, bytes);
    renameFileNow(unfinished, target);
    syncFolderNow(dirname(target));
  } catch (error) {
    for (const path of [unfinished, target]) unlinkFileNow(path);
    throw error;
  }
}
