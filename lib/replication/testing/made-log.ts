/** Logs and databases made by hand, of what SQLite writes and of what it never would. For tests. */
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES } from '../log/log-reader.ts';

export interface MadeFrame {
  page: number;
  /** Pages of the database where the frame ends a transaction; else 0. */
  commit: number;
  /** What the page is full of. */
  text: string;
}

export interface MadeLogOptions {
  pageSize?: number;
  /** 16 hex digits. */
  salts?: string;
  isBigEndian?: boolean;
}

/** SQLite's checksum goes on over bytes. */
function summed([first, second]: [number, number], bytes: Buffer, isBigEndian: boolean): [number, number] {
  let [one, other] = [first, second];
  const word = (at: number) => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + word(at) + other) >>> 0;
    other = (other + word(at + 4) + one) >>> 0;
  }
  return [one, other];
}

/** A log with right checksums. */
export function madeLog(frames: readonly MadeFrame[], options: MadeLogOptions = {}): Buffer {
  const { pageSize = 512, salts = '0102030405060708', isBigEndian = false } = options;
  const log = Buffer.alloc(LOG_HEADER_BYTES + frames.length * (FRAME_HEADER_BYTES + pageSize));
  log.writeUInt32BE(0x377f0682 + (isBigEndian ? 1 : 0), 0);
  log.writeUInt32BE(3_007_000, 4);
  log.writeUInt32BE(pageSize, 8);
  log.write(salts, 16, 'hex');
  let sums = summed([0, 0], log.subarray(0, 24), isBigEndian);
  log.writeUInt32BE(sums[0], 24);
  log.writeUInt32BE(sums[1], 28);
  for (const [at, { page, commit, text }] of frames.entries()) {
    const begin = LOG_HEADER_BYTES + at * (FRAME_HEADER_BYTES + pageSize);
    const frame = log.subarray(begin, begin + FRAME_HEADER_BYTES + pageSize);
    frame.writeUInt32BE(page, 0);
    frame.writeUInt32BE(commit, 4);
    frame.write(salts, 8, 'hex');
    frame.fill(text, FRAME_HEADER_BYTES);
    sums = summed(sums, frame.subarray(0, 8), isBigEndian);
    sums = summed(sums, frame.subarray(FRAME_HEADER_BYTES), isBigEndian);
    frame.writeUInt32BE(sums[0], 16);
    frame.writeUInt32BE(sums[1], 20);
  }
  return log;
}

/** A database whose pages are full of texts; the first has a header as well. */
export function madeDatabase(texts: readonly string[], pageSize = 512): Buffer {
  const pages = Buffer.concat(texts.map((text) => Buffer.alloc(pageSize, text)));
  pages.write('SQLite format 3\0', 0, 'latin1');
  pages.writeUInt16BE(pageSize === 65_536 ? 1 : pageSize, 16);
  return pages;
}
