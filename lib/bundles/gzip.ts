/**
 * gzip in blocks that are compressed in parallel: deflate's fastest level for compressible blocks, stored for others.
 * Knows nothing of the contents.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';

/** deflate's fastest level: the output is sent, not kept. */
const FASTEST = 1;
const STORED = 0;
/** Each block is compressed by itself, with a level of its own. */
const BLOCK_BYTES = 1024 * 1024;
/** Blocks compressed ahead: this many threads of zlib, and blocks in memory. */
const AHEAD = 2;
/** Bytes from the middle of a block that are compressed as a sample. */
const SAMPLE_BYTES = 16 * 1024;
/** Blocks whose sample shrinks by less than this are stored. */
const WORTHWHILE = 0.95;
/** RFC 1952: deflate, no name, no time, fastest level, unknown system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff]);
/** RFC 1951: an empty block that is the last. */
const LAST_BLOCK = Buffer.from([3, 0]);

const deflated = promisify<Buffer, { level: number; finishFlush: number }, Buffer>(deflateRaw);

/** Compresses `source` into one gzip member, as it is read. */
export async function* gzipped(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const underWay: Promise<Buffer>[] = [];
  let crc = 0;
  let size = 0;
  yield HEADER;
  for await (const block of blocksOf(source)) {
    crc = crc32(block, crc);
    size += block.length;
    const level = shrinks(block) ? FASTEST : STORED;
    // Each block ends on a byte and refers to nothing before it, so that they can be put behind each other.
    underWay.push(deflated(block, { level, finishFlush: constants.Z_SYNC_FLUSH }));
    if (underWay.length > AHEAD) yield (await underWay.shift()) ?? Buffer.alloc(0);
  }
  for (const packed of underWay) yield await packed;
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  yield Buffer.concat([LAST_BLOCK, trailer]);
}

/** The same bytes in blocks of equal size; the last may be smaller. */
async function* blocksOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + BLOCK_BYTES - size);
      kept.push(piece);
      at += piece.length;
      size += piece.length;
      if (size < BLOCK_BYTES) continue;
      yield Buffer.concat(kept);
      kept = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(kept);
}

function shrinks(block: Buffer): boolean {
  const from = Math.max(0, Math.floor((block.length - SAMPLE_BYTES) / 2));
  const sample = block.subarray(from, from + SAMPLE_BYTES);
  return deflateRawSync(sample, { level: FASTEST }).length < sample.length * WORTHWHILE;
}
