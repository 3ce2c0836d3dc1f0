/**
 * Reads a log (the `-wal` of a database) by its descriptor, as a stranger's bytes: who writes it may put anything
 * there, at any time. What the checksums do not cover is as if it were not there. Knows nothing of what frames are
 * for, and takes no lock: the format is https://www.sqlite.org/fileformat2.html#walformat.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { leadsNowhere } from '../../base/is-there.ts';
import { isPageSize } from '../ltx/ltx-header.ts';

export const LOG_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** The last bit says the order of bytes of the checksums. */
const MAGIC = 0x377f0682;
const FORMAT = 3007000;
const PIECE_BYTES = 1024 * 1024;
/** Bytes of a header, and of a frame's header, that their checksum covers. */
const SUMMED_OF_HEADER = 24;
const SUMMED_OF_FRAME = 8;
const HOST_IS_BIG = endianness() === 'BE';

export type LogSums = [number, number];

export interface LogHeader {
  pageSize: number;
  /** Both salts, 16 hex digits. */
  salts: string;
  /** Checksum before the first frame. */
  sums: LogSums;
  isBigEndian: boolean;
}

/** What was committed after a frame. */
export interface CommittedFrames {
  /** The first frame after the last commit. */
  end: number;
  sums: LogSums;
  /** Pages of the database after the last commit. */
  commit: number;
  /** The fewest that any of the commits left. */
  leastCommit: number;
  /** Whether there may be more: enough was read. */
  isCut: boolean;
}

/** One transaction has more frames than are cut at once. */
export class LogTooLong extends Error {}

/** Opens a file without following a link or waiting for a pipe. Null when there is none, or no regular one. */
export function openRegularNow(path: string): { descriptor: number; size: number } | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    // A socket gives ENXIO.
    if (leadsNowhere(error) || (error as NodeJS.ErrnoException).code === 'ENXIO') return null;
    throw error;
  }
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return { descriptor, size: stat.size };
  closeSync(descriptor);
  return null;
}

/** Reads up to the end of `target`, or of the file. Returns the bytes. */
export function readNow(descriptor: number, target: Uint8Array, position: number): number {
  let at = 0;
  while (at < target.length) {
    const read = readSync(descriptor, target, at, target.length - at, position + at);
    if (read === 0) break;
    at += read;
  }
  return at;
}

export class LogReader {
  readonly #descriptor: number;
  readonly #size: number;
  #header: LogHeader | null = null;
  #piece: Buffer = Buffer.alloc(0);
  #pieceFrom = 0;
  #pieceFrames = 0;
  #swapped: Buffer = Buffer.alloc(0);

  private constructor(descriptor: number, size: number) {
    this.#descriptor = descriptor;
    this.#size = size;
  }

  /** Opens a log (absolute). Null when nothing lies there but what is no log. Throws the system's errors. */
  static open(path: string): LogReader | null {
    const opened = openRegularNow(path);
    if (opened === null) return null;
    const reader = new LogReader(opened.descriptor, opened.size);
    try {
      reader.#header = reader.readHeader();
      return reader;
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  /** The header as it was when the log was opened; null when there was no valid one. */
  get header(): LogHeader | null {
    return this.#header;
  }

  /** Whole frames that the file had room for when it was opened. */
  get frames(): number {
    const { pageSize } = this.#known();
    return Math.max(0, Math.floor((this.#size - LOG_HEADER_BYTES) / (FRAME_HEADER_BYTES + pageSize)));
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** The header as it is now; null when it is not valid. */
  readHeader(): LogHeader | null {
    const bytes = Buffer.alloc(LOG_HEADER_BYTES);
    if (readNow(this.#descriptor, bytes, 0) < LOG_HEADER_BYTES) return null;
    const magic = bytes.readUInt32BE(0);
    const pageSize = bytes.readUInt32BE(8);
    if ((magic & ~1) !== MAGIC || bytes.readUInt32BE(4) !== FORMAT || !isPageSize(pageSize)) return null;
    const isBigEndian = (magic & 1) === 1;
    const sums: LogSums = [0, 0];
    this.#sum(sums, bytes, 0, SUMMED_OF_HEADER, isBigEndian);
    if (sums[0] !== bytes.readInt32BE(24) || sums[1] !== bytes.readInt32BE(28)) return null;
    return { pageSize, salts: bytes.toString('hex', 16, 24), sums, isBigEndian };
  }

  /** The checksum that stands in a frame; null when the frame is not there, or of another generation. */
  sumsOf(frame: number): LogSums | null {
    const { salts, pageSize } = this.#known();
    const head = Buffer.alloc(FRAME_HEADER_BYTES);
    const position = LOG_HEADER_BYTES + frame * (FRAME_HEADER_BYTES + pageSize);
    if (readNow(this.#descriptor, head, position) < FRAME_HEADER_BYTES) return null;
    if (head.toString('hex', 8, 16) !== salts) return null;
    return [head.readInt32BE(16), head.readInt32BE(20)];
  }

  /**
   * Follows the checksums from a frame (`sums`: the checksum before it) to the last commit. Null when nothing was
   * committed there; throws `LogTooLong` when one transaction has more than `mostFrames`.
   *
   * @param enoughFrames After so many it ends with the next commit.
   */
  committed(from: number, sums: LogSums, enoughFrames: number, mostFrames: number): CommittedFrames | null {
    const { isBigEndian, salts, pageSize } = this.#known();
    const running: LogSums = [sums[0], sums[1]];
    let found: CommittedFrames | null = null;
    const until = Math.min(this.frames, from + mostFrames);
    let frame = from;
    for (; frame < until; frame += 1) {
      if (found !== null && frame - from >= enoughFrames) return { ...found, isCut: true };
      const at = this.#load(frame, until);
      if (at < 0) break;
      const bytes = this.#piece;
      if (bytes.toString('hex', at + 8, at + 16) !== salts || bytes.readUInt32BE(at) === 0) break;
      this.#sum(running, bytes, at, SUMMED_OF_FRAME, isBigEndian);
      this.#sum(running, bytes, at + FRAME_HEADER_BYTES, pageSize, isBigEndian);
      if (running[0] !== bytes.readInt32BE(at + 16) || running[1] !== bytes.readInt32BE(at + 20)) break;
      const commit = bytes.readUInt32BE(at + 4);
      if (commit === 0) continue;
      const leastCommit = Math.min(found?.leastCommit ?? commit, commit);
      found = { end: frame + 1, sums: [running[0], running[1]], commit, leastCommit, isCut: false };
    }
    if (found === null && frame === until && until < this.frames) throw new LogTooLong();
    return found;
  }

  /** The page that a committed frame has; 0 when the log is not as it was. */
  pageOf(frame: number, until: number): number {
    const at = this.#load(frame, until);
    if (at < 0 || this.#piece.toString('hex', at + 8, at + 16) !== this.#known().salts) return 0;
    return this.#piece.readUInt32BE(at);
  }

  /**
   * What is in a committed frame, until the next call; null when the log is not as it was. `until`: frames up to there
   * may be read along.
   */
  contentOf(frame: number, until: number): Buffer | null {
    const at = this.#load(frame, until);
    if (at < 0 || this.#piece.toString('hex', at + 8, at + 16) !== this.#known().salts) return null;
    const begin = at + FRAME_HEADER_BYTES;
    return this.#piece.subarray(begin, begin + this.#known().pageSize);
  }

  #known(): LogHeader {
    if (this.#header === null) throw new Error('The log has no header.');
    return this.#header;
  }

  /** Where a frame begins in the piece that was read; -1 when the file ends before it does. */
  #load(frame: number, until: number): number {
    const frameBytes = FRAME_HEADER_BYTES + this.#known().pageSize;
    if (frame < this.#pieceFrom || frame >= this.#pieceFrom + this.#pieceFrames) {
      const count = Math.max(1, Math.min(Math.floor(PIECE_BYTES / frameBytes), until - frame));
      if (this.#piece.length < count * frameBytes) this.#piece = Buffer.allocUnsafeSlow(count * frameBytes);
      const target = this.#piece.subarray(0, count * frameBytes);
      const read = readNow(this.#descriptor, target, LOG_HEADER_BYTES + frame * frameBytes);
      this.#pieceFrom = frame;
      this.#pieceFrames = Math.floor(read / frameBytes);
      if (this.#pieceFrames === 0) return -1;
    }
    return (frame - this.#pieceFrom) * frameBytes;
  }

  /** SQLite's checksum goes on over `length` bytes, which begin at a multiple of four. */
  #sum(sums: LogSums, bytes: Buffer, at: number, length: number, isBigEndian: boolean): void {
    let [source, from] = [bytes, at];
    if (isBigEndian !== HOST_IS_BIG) {
      if (this.#swapped.length < length) this.#swapped = Buffer.allocUnsafeSlow(length);
      source = this.#swapped.subarray(0, length);
      bytes.copy(source, 0, at, at + length);
      source.swap32();
      from = 0;
    }
    const words = new Int32Array(source.buffer, source.byteOffset + from, length / 4);
    let [first, second] = sums;
    for (let word = 0; word < words.length; word += 2) {
      first = (first + (words[word] ?? 0) + second) | 0;
      second = (second + (words[word + 1] ?? 0) + first) | 0;
    }
    sums[0] = first;
    sums[1] = second;
  }
}
