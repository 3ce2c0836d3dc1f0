/**
 * Reads a file of transactions in the LTX format, page by page, as a stranger's bytes: what is wrong with it is
 * `corrupt`, and memory stays within a piece. What was read holds only once the end was reached, where its checksum is.
 */
import { Crc64 } from './crc64.ts';
import {
  badSegment,
  decodeHeader,
  END_BYTES,
  HEADER_BYTES,
  type LtxHeader,
  lockPage,
  PAGE_HEAD_BYTES,
  SIZED_BLOCK,
  TRAILER_BYTES,
} from './ltx-header.ts';
import { expandBlock, longestBlock } from './lz4.ts';
import { openSegmentFile, type SegmentBytes } from './segment-bytes.ts';

const PIECE_BYTES = 512 * 1024;
/** Room for the largest block. */
const LEAST_BYTES = 80 * 1024;
const CHECKSUM_FLAG = 1n << 63n;
/** The length of the index, after it. */
const INDEX_SIZE_BYTES = 8;

export class LtxReader {
  readonly name: string;
  readonly bytes: number;
  /** The page that was read last. */
  page: Buffer = Buffer.alloc(0);
  readonly #source: SegmentBytes;
  readonly #crc = new Crc64();
  readonly #piece: Buffer;
  #at = 0;
  #end = 0;
  #position = 0;
  #last = 0;
  #pages = 0;
  #header: LtxHeader | null = null;

  private constructor(source: SegmentBytes, pieceBytes: number) {
    this.#source = source;
    this.name = source.name;
    this.bytes = source.bytes;
    this.#piece = Buffer.allocUnsafeSlow(Math.max(LEAST_BYTES, Math.min(pieceBytes, source.bytes)));
  }

  /**
   * Opens a segment (absolute) and reads its header. `pieceBytes`: what is read at once, about. Throws `corrupt`, and
   * the system's errors.
   */
  static async open(path: string, pieceBytes = PIECE_BYTES): Promise<LtxReader> {
    return LtxReader.from(await openSegmentFile(path), pieceBytes);
  }

  /** The same of bytes that come from elsewhere; they are closed when this throws, and with the reader. */
  static async from(source: SegmentBytes, pieceBytes = PIECE_BYTES): Promise<LtxReader> {
    try {
      const reader = new LtxReader(source, pieceBytes);
      const header = await reader.#take(HEADER_BYTES);
      reader.#header = decodeHeader(header, reader.name);
      reader.#crc.update(header);
      reader.page = Buffer.alloc(reader.header.pageSize);
      return reader;
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  get header(): LtxHeader {
    if (this.#header === null) throw this.#damaged('it has no header');
    return this.#header;
  }

  /** Pages so far. */
  get pages(): number {
    return this.#pages;
  }

  /**
   * Reads the next page into `page`. Resolves with its number; with 0 when there is none and the checksum of the whole
   * file was right. Throws `corrupt` otherwise.
   */
  async next(): Promise<number> {
    const here = this.nextHere();
    if (here !== null) return here;
    if (this.#end - this.#at < PAGE_HEAD_BYTES) await this.#fill(END_BYTES);
    if (this.#isAtEnd()) {
      await this.#readEnd();
      return 0;
    }
    await this.#need(PAGE_HEAD_BYTES);
    await this.#need(PAGE_HEAD_BYTES + this.#blockBytes());
    const page = this.nextHere();
    if (page === null) throw this.#damaged('it is cut off');
    return page;
  }

  /** The same where it was read from the disk already; null: it was not, or there is no further page. */
  nextHere(): number | null {
    const there = this.#end - this.#at;
    if (there < PAGE_HEAD_BYTES || this.#isAtEnd()) return null;
    const length = this.#blockBytes();
    if (there < PAGE_HEAD_BYTES + length) return null;
    const begin = this.#at + PAGE_HEAD_BYTES;
    const page = this.#piece.readUInt32BE(this.#at);
    this.#crc.update(this.#piece.subarray(this.#at, begin));
    if (!expandBlock(this.#piece.subarray(begin, begin + length), this.page)) {
      throw this.#damaged(`page ${page} does not expand`);
    }
    this.#crc.update(this.page);
    this.#at = begin + length;
    this.#last = page;
    this.#pages += 1;
    return page;
  }

  #isAtEnd(): boolean {
    return this.#piece.readUInt32BE(this.#at) === 0 && this.#piece.readUInt16BE(this.#at + 4) === 0;
  }

  /** How long the block of the page is whose head lies here. Throws `corrupt` for what is no such head. */
  #blockBytes(): number {
    const { header } = this;
    if (this.#piece.readUInt16BE(this.#at + 4) !== SIZED_BLOCK) throw this.#damaged('a page has unknown flags');
    this.#requirePage(this.#piece.readUInt32BE(this.#at), header);
    const length = this.#piece.readUInt32BE(this.#at + 6);
    if (length > longestBlock(header.pageSize)) throw this.#damaged('a page is too long');
    return length;
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  /** Pages ascend; a base has every one of them. The page of locks is in none. */
  #requirePage(page: number, { commit, pageSize, minTxid }: LtxHeader): void {
    const lock = lockPage(pageSize);
    const next = this.#last + (this.#last === lock - 1 ? 2 : 1);
    if (page < next || page > commit || page === lock || (minTxid === 1 && page !== next)) {
      throw this.#damaged(`page ${page} is out of order`);
    }
  }

  async #readEnd(): Promise<void> {
    const { commit, pageSize, minTxid } = this.header;
    const last = commit - (commit === lockPage(pageSize) ? 1 : 0);
    if (minTxid === 1 && this.#last !== last) throw this.#damaged('it lacks pages');
    this.#crc.update(await this.#take(END_BYTES));
    const begun = this.#position - this.#end + this.#at;
    const indexBytes = this.bytes - begun - INDEX_SIZE_BYTES - TRAILER_BYTES;
    if (indexBytes < 1) throw this.#damaged('it has no end');
    for (let rest = indexBytes; rest > 0; ) {
      const part = await this.#take(Math.min(rest, LEAST_BYTES));
      this.#crc.update(part);
      rest -= part.length;
    }
    const size = await this.#take(INDEX_SIZE_BYTES);
    this.#crc.update(size);
    if (size.readBigUInt64BE() !== BigInt(indexBytes)) throw this.#damaged('its index has another length');
    const trailer = await this.#take(TRAILER_BYTES);
    this.#crc.update(trailer.subarray(0, 8));
    if (trailer.readBigUInt64BE(8) !== (this.#crc.value | CHECKSUM_FLAG)) throw this.#damaged('its checksum is wrong');
  }

  async #need(length: number): Promise<void> {
    if (this.#end - this.#at < length) await this.#fill(length);
  }

  /** The next bytes, until the next call. */
  async #take(length: number): Promise<Buffer> {
    await this.#need(length);
    const bytes = this.#piece.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }

  /** Reads on until there are `length` bytes, at most `LEAST_BYTES`. */
  async #fill(length: number): Promise<void> {
    this.#piece.copyWithin(0, this.#at, this.#end);
    [this.#at, this.#end] = [0, this.#end - this.#at];
    while (this.#end < length) {
      const bytes = await this.#source.read(this.#piece, this.#end);
      if (bytes === 0) throw this.#damaged('it is cut off');
      this.#position += bytes;
      this.#end += bytes;
    }
  }

  #damaged(why: string): Error {
    return badSegment(this.name, why);
  }
}

/** Reads all of a segment (absolute). Throws `corrupt` when it is damaged, and the system's errors. */
export async function verifySegment(path: string): Promise<{ header: LtxHeader; bytes: number; pages: number }> {
  const reader = await LtxReader.open(path);
  try {
    while ((await reader.next()) !== 0);
    return { header: reader.header, bytes: reader.bytes, pages: reader.pages };
  } finally {
    await reader.close();
  }
}
