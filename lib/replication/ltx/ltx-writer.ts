/**
 * Writes a file of transactions in the LTX format, page by page. Blocks are literal; a page of nothing but zeros takes
 * some thirty bytes. The file has its name once it is whole, and the time of its last commit. Knows nothing of where
 * pages come from.
 */
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createFile, performing, renameFile, setTimesNow, syncFolder, unlinkFile } from '../../base/effects.ts';
import { Crc64 } from './crc64.ts';
import {
  END_BYTES,
  encodeHeader,
  HEADER_BYTES,
  type LtxHeader,
  PAGE_HEAD_BYTES,
  SIZED_BLOCK,
  TRAILER_BYTES,
} from './ltx-header.ts';
import { literalHead, zeroBlock } from './lz4.ts';
import { PageRuns, writeNumber } from './page-runs.ts';
import { PieceWriter } from './piece-writer.ts';

/** Set in every checksum, so that none is zero. */
const CHECKSUM_FLAG = 1n << 63n;
/** Bytes of an entry of the index: three numbers. */
const MOST_OF_ENTRY = 30;

export class LtxWriter {
  readonly #target: string;
  readonly #unfinished: string;
  readonly #file: FileHandle;
  readonly #pieces: PieceWriter;
  readonly #crc = new Crc64();
  readonly #runs = new PageRuns();
  readonly #head = Buffer.alloc(PAGE_HEAD_BYTES);
  readonly #literalHead: Buffer;
  readonly #zeroBlock: Buffer;
  readonly #zeros: Buffer;
  readonly #timeMs: number;

  private constructor(target: string, unfinished: string, file: FileHandle, header: LtxHeader, expected?: number) {
    this.#target = target;
    this.#unfinished = unfinished;
    this.#file = file;
    this.#pieces = new PieceWriter(file, expected);
    this.#literalHead = literalHead(header.pageSize);
    this.#zeroBlock = zeroBlock(header.pageSize);
    this.#zeros = Buffer.alloc(header.pageSize);
    this.#timeMs = header.timeMs;
    this.#put(encodeHeader(header));
  }

  /** Begins a file that will be at `target` (absolute). `expectedBytes`: about its size, where that is known. */
  static async create(target: string, header: LtxHeader, expectedBytes?: number): Promise<LtxWriter> {
    const unfinished = unfinishedName(target);
    const file = await createFile(unfinished, 'w');
    return new LtxWriter(target, unfinished, file, header, expectedBytes);
  }

  /** Pages so far. */
  get pages(): number {
    return this.#runs.count;
  }

  /** Adds a page; its number is higher than any before, and it is not the page of locks. */
  async page(page: number, bytes: Uint8Array): Promise<void> {
    const isZero = bytes[0] === 0 && this.#zeros.equals(bytes);
    const block = isZero ? this.#zeroBlock : this.#literalHead;
    const length = block.length + (isZero ? 0 : bytes.length);
    if (this.#pieces.lacks(PAGE_HEAD_BYTES + length)) await this.#pieces.flush();
    const head = this.#head;
    head.writeUInt32BE(page, 0);
    head.writeUInt16BE(SIZED_BLOCK, 4);
    head.writeUInt32BE(length, 6);
    this.#put(head);
    this.#crc.update(bytes);
    this.#pieces.put(block);
    if (!isZero) this.#pieces.put(bytes);
    this.#runs.add(page, isZero);
  }

  /**
   * Ends the file and gives it its name. With `sync` both are durable. Resolves with its size in bytes. Throws the
   * system's errors; nothing is left then.
   */
  async finish(sync: boolean): Promise<number> {
    try {
      await this.#putChecked(Buffer.alloc(END_BYTES));
      await this.#putIndex();
      const trailer = Buffer.alloc(TRAILER_BYTES);
      this.#crc.update(trailer.subarray(0, 8));
      trailer.writeBigUInt64BE(this.#crc.value | CHECKSUM_FLAG, 8);
      if (this.#pieces.lacks(TRAILER_BYTES)) await this.#pieces.flush();
      this.#pieces.put(trailer);
      await this.#pieces.end();
      if (sync) await performing({ kind: 'sync', path: this.#unfinished }, () => this.#file.sync());
      await this.#file.close();
      // Litestream's own tools take the time of a segment from there, where a replica is files.
      setTimesNow(this.#unfinished, this.#timeMs / 1000);
      await renameFile(this.#unfinished, this.#target);
      if (sync) await syncFolder(dirname(this.#target));
      return this.#pieces.bytes;
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  /** Removes what was written. Never rejects: what cannot be removed is overwritten by the next of its name. */
  async discard(): Promise<void> {
    await this.#pieces.end().catch(() => undefined);
    await this.#file.close().catch(() => undefined);
    await unlinkFile(this.#unfinished).catch(() => undefined);
  }

  #put(bytes: Uint8Array): void {
    this.#crc.update(bytes);
    this.#pieces.put(bytes);
  }

  async #putChecked(bytes: Uint8Array): Promise<void> {
    if (this.#pieces.lacks(bytes.length)) await this.#pieces.flush();
    this.#put(bytes);
  }

  /** Number, offset and length of each page, a zero, and the length of all that. */
  async #putIndex(): Promise<void> {
    const begun = this.#pieces.bytes;
    const entry = Buffer.alloc(MOST_OF_ENTRY);
    const literal = PAGE_HEAD_BYTES + this.#literalHead.length + this.#zeros.length;
    const zero = PAGE_HEAD_BYTES + this.#zeroBlock.length;
    let offset = HEADER_BYTES;
    for (const [page, isZero] of this.#runs.pages()) {
      const length = isZero ? zero : literal;
      const end = writeNumber(entry, writeNumber(entry, writeNumber(entry, 0, page), offset), length);
      offset += length;
      if (this.#pieces.lacks(end)) await this.#pieces.flush();
      this.#put(entry.subarray(0, end));
    }
    await this.#putChecked(Buffer.alloc(1));
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(this.#pieces.bytes - begun));
    await this.#putChecked(size);
  }
}

/** Where a file lies until it is whole. */
export function unfinishedName(target: string): string {
  return join(dirname(target), `.${basename(target)}.unfinished`);
}
