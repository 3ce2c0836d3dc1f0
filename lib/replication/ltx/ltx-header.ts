/**
 * The fixed parts of an LTX file, version 3 (github.com/superfly/ltx): a header, pages, an index of them, a trailer.
 * All numbers are big-endian. Rolling checksums of the whole database are not kept. Pure.
 */
import { WinterdockError } from '../../base/errors.ts';

export const HEADER_BYTES = 100;
export const TRAILER_BYTES = 16;
/** Page number, flags, and length of its block. */
export const PAGE_HEAD_BYTES = 10;
/** At the end of the pages. */
export const END_BYTES = 6;
/** Flag of a page: it is one LZ4 block, whose length is said. */
export const SIZED_BLOCK = 1;

const MAGIC = 'LTX1';
/** Flag of a header: no rolling checksum. */
const NO_CHECKSUM = 2;
const SMALLEST_PAGE = 512;
const LARGEST_PAGE = 65_536;
/** Where SQLite has its locks: the page there holds nothing. */
const LOCK_BYTE = 2 ** 30;
/** Bytes of a database, at most: what says more is damaged. */
const MOST_DATABASE_BYTES = 2 ** 40;
const LAST_TIME_MS = 8.64e15;

/** What is said of a file of transactions. */
export interface LtxHeader {
  /** Bytes of a page. */
  pageSize: number;
  /** Pages of the database after the last transaction. */
  commit: number;
  minTxid: number;
  maxTxid: number;
  /** Of the last commit, in epoch milliseconds. */
  timeMs: number;
  /** Where in a log the transactions stood; null: they were in none. */
  log: { offset: number; bytes: number; salts: string } | null;
}

export function isPageSize(bytes: number): boolean {
  return bytes >= SMALLEST_PAGE && bytes <= LARGEST_PAGE && (bytes & (bytes - 1)) === 0;
}

/** The page that is in no segment, and only zeros. */
export function lockPage(pageSize: number): number {
  return LOCK_BYTE / pageSize + 1;
}

/** Whether a database may have so many pages. */
export function isDatabaseSize(pages: number, pageSize: number): boolean {
  return pages > 0 && pages * pageSize <= MOST_DATABASE_BYTES;
}

export function encodeHeader({ pageSize, commit, minTxid, maxTxid, timeMs, log }: LtxHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write(MAGIC, 0, 'latin1');
  bytes.writeUInt32BE(NO_CHECKSUM, 4);
  bytes.writeUInt32BE(pageSize, 8);
  bytes.writeUInt32BE(commit, 12);
  bytes.writeBigUInt64BE(BigInt(minTxid), 16);
  bytes.writeBigUInt64BE(BigInt(maxTxid), 24);
  bytes.writeBigInt64BE(BigInt(timeMs), 32);
  if (log !== null) {
    bytes.writeBigInt64BE(BigInt(log.offset), 48);
    bytes.writeBigInt64BE(BigInt(log.bytes), 56);
    bytes.write(log.salts, 64, 'hex');
  }
  return bytes;
}

/** Throws `corrupt` when it is no header of ours, or says what cannot be. `name`: of the file, for the message. */
export function decodeHeader(bytes: Buffer, name: string): LtxHeader {
  const number = (at: number) => Number(bytes.readBigInt64BE(at));
  const header: LtxHeader = {
    pageSize: bytes.readUInt32BE(8),
    commit: bytes.readUInt32BE(12),
    minTxid: number(16),
    maxTxid: number(24),
    timeMs: number(32),
    log: number(48) === 0 ? null : { offset: number(48), bytes: number(56), salts: bytes.toString('hex', 64, 72) },
  };
  const { pageSize, commit, minTxid, maxTxid, timeMs } = header;
  if (bytes.toString('latin1', 0, 4) !== MAGIC) throw badSegment(name, 'it has another beginning');
  if ((bytes.readUInt32BE(4) & ~NO_CHECKSUM) !== 0) throw badSegment(name, 'it has unknown flags');
  if (!isPageSize(pageSize)) throw badSegment(name, 'it has no size of a page');
  if (!isDatabaseSize(commit, pageSize)) throw badSegment(name, 'it has no size of a database');
  const areInOrder = minTxid >= 1 && minTxid <= maxTxid && Number.isSafeInteger(maxTxid);
  if (!areInOrder) throw badSegment(name, 'its transactions are out of order');
  if (!(timeMs >= 0 && timeMs <= LAST_TIME_MS)) throw badSegment(name, 'it has no time');
  return header;
}

/** The error of a file that is no segment, or a damaged one. `why` is a clause. */
export function badSegment(name: string, why: string): WinterdockError {
  return new WinterdockError('corrupt', `The segment ${name} is damaged: ${why}.`, {
    hint: 'Take the segment from another copy, or restore to a time before it.',
  });
}
