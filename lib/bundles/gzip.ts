/**
 * gzip in blocks that are packed beside each other: fastest for what shrinks, stored for noise. Knows nothing of what
 * it packs.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';

/** deflate's fastest; what is packed here is on its way, not kept. */
const FASTEST = 1;
const STORED = 0;
/** A block is packed by itself, and its level chosen for it alone. */
const BLOCK_BYTES = 1024 * 1024;
/** Blocks under way at a time: two of zlib's threads, and what is kept in memory. */
const AHEAD = 2;
/** Bytes in the middle of a block that are tried. */
const SAMPLE_BYTES = 16 * 1024;
/** Blocks whose sample shrinks by less than this are stored. */
const WORTHWHILE = 0.95;
/** RFC 1952: deflate, no name, no time, made fast, on no system in particular. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff]);
/** RFC 1951: an empty block that is the last. */
const LAST_BLOCK = Buffer.from([3, 0]);

const deflated = promisify<Buffer, { level: number; finishFlush: number }, Buffer>(deflateRaw);

/** One gzip member of all that `source` gives, as far as it is read. */
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

/** The same bytes in blocks of one size but for the last. */
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
