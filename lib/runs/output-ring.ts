/**
 * The newest output of one run. Offsets count the bytes of both streams together, from the first byte ever written, so
 * a reader can go on at an exact byte. Knows nothing of runs, limits of tenants or followers.
 */
import { unfinishedEnd } from '../workers/protocol/byte-text.ts';
import type { OutputChunk } from '../workers/protocol/instance.ts';

export interface RingPiece {
  stream: OutputChunk['stream'];
  /** Where it begins. */
  offset: number;
  bytes: Uint8Array;
}

interface Block {
  stream: OutputChunk['stream'];
  offset: number;
  content: Buffer;
  length: number;
}

/** Bytes of a block: what a reader is given as one piece. */
const BLOCK_BYTES = 16 * 1024;
/** What a block takes beside its content, and a ring beside its blocks. */
const BLOCK_COST = 128;
const RING_COST = 512;

export class OutputRing {
  readonly #limit: number;
  #blocks: Block[] = [];
  #content = 0;
  #end = 0;

  /** `limit`: bytes of content that are kept. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The offset of the first byte that is kept; `end` when there is none. */
  get start(): number {
    return this.#blocks[0]?.offset ?? this.#end;
  }

  /** The offset after the last byte that was written. */
  get end(): number {
    return this.#end;
  }

  /** Bytes of memory. */
  get cost(): number {
    return RING_COST + this.#content + this.#blocks.length * BLOCK_COST;
  }

  /** Adds whole characters, after `skipped` bytes that are not there. Drops the oldest over the limit. */
  push(stream: OutputChunk['stream'], bytes: Uint8Array, skipped = 0): void {
    this.#end += skipped;
    let at = 0;
    while (at < bytes.byteLength) {
      const some = bytes.subarray(at, at + BLOCK_BYTES);
      const cut = at + some.byteLength < bytes.byteLength ? unfinishedEnd(some) : 0;
      const whole = some.subarray(0, some.byteLength - cut);
      this.#add(stream, whole);
      at += whole.byteLength;
    }
    this.trim(this.#limit);
  }

  /** Drops the oldest until the blocks, with what they take beside their content, have at most so many bytes. */
  trim(most: number): void {
    let dropped = 0;
    while (dropped < this.#blocks.length && this.#content + (this.#blocks.length - dropped) * BLOCK_COST > most) {
      this.#content -= this.#blocks[dropped]?.content.byteLength ?? 0;
      dropped += 1;
    }
    if (dropped > 0) this.#blocks = this.#blocks.slice(dropped);
  }

  /**
   * The pieces from `offset` on, at most about `most` bytes of them. A piece that begins later than the one before it
   * ends, or than `offset`, has a gap in front. `next`: where to go on.
   */
  read(offset: number, most: number): { pieces: RingPiece[]; next: number } {
    const pieces: RingPiece[] = [];
    let next = offset;
    let bytes = 0;
    for (let at = this.#first(offset); at < this.#blocks.length && bytes < most; at += 1) {
      const block = this.#blocks[at];
      if (block === undefined) break;
      const from = Math.max(0, offset - block.offset);
      // A copy: the block may grow, or be dropped, while the piece is being sent.
      const content = Buffer.from(block.content.subarray(from, block.length));
      pieces.push({ stream: block.stream, offset: block.offset + from, bytes: content });
      bytes += content.byteLength;
      next = block.offset + block.length;
    }
    // What was left out at the end has no block behind it.
    if (bytes < most) next = Math.max(next, this.#end);
    return { pieces, next };
  }

  /** The first block that ends after `offset`. */
  #first(offset: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const block = this.#blocks[middle];
      if (block !== undefined && block.offset + block.length <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #add(stream: OutputChunk['stream'], bytes: Uint8Array): void {
    const last = this.#blocks.at(-1);
    const length = bytes.byteLength;
    const goesOn = last?.stream === stream && last.offset + last.length === this.#end;
    if (last !== undefined && goesOn && last.length + length <= BLOCK_BYTES) {
      if (last.length + length > last.content.byteLength) {
        const larger = Buffer.alloc(Math.min(BLOCK_BYTES, 2 * (last.length + length)));
        last.content.copy(larger, 0, 0, last.length);
        this.#content += larger.byteLength - last.content.byteLength;
        last.content = larger;
      }
      last.content.set(bytes, last.length);
      last.length += length;
    } else {
      this.#blocks.push({ stream, offset: this.#end, content: Buffer.from(bytes), length });
      this.#content += length;
    }
    this.#end += length;
  }
}
