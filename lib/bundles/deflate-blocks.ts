/**
 * Raw deflate in blocks, each at the level that suits its content: what a sample says does not shrink is stored without
 * the compressor, anything else gets deflate's fastest level on zlib's threads. Knows nothing of zip or gzip.
 */
import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync } from 'node:zlib';

/** deflate's fastest level: on VFS files it is several times faster than the default at nearly the same ratio. */
const FASTEST = 1;
/** Each block is compressed by itself, so one block of noise costs its neighbours nothing. */
const BLOCK_BYTES = 512 * 1024;
/** Blocks compressed ahead, which is also how many are in memory. zlib has as many threads. */
const AHEAD = 4;
/** Output is collected in pieces of this size: text shrinks to a quarter or less. */
const OUTPUT_BYTES = 128 * 1024;
/**
 * Parts of a block, evenly spaced, whose compression decides. Noise costs 23 ms per MiB, so a sample is 1.5 % of it.
 */
const SAMPLES = 4;
const SAMPLE_BYTES = 2 * 1024;
/** A sample that does not shrink below this share is not worth the time. */
const WORTHWHILE = 0.95;
/** RFC 1951: an empty block that is the last. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** RFC 1951: a stored block has at most this many bytes behind a header of five. */
const STORED_BYTES = 0xffff;
const STORED_HEAD_BYTES = 5;

const deflated = promisify<Buffer, { level: number; finishFlush: number; chunkSize: number }, Buffer>(deflateRaw);

/** Compresses `source` as it is read, and shows each uncompressed block to `inspect` in order. */
export async function* deflateBlocks(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  inspect: (block: Buffer) => void,
): AsyncGenerator<Buffer> {
  const underWay: Promise<Buffer>[] = [];
  for await (const block of blocksOf(source)) {
    inspect(block);
    // Each block ends on a byte and refers to nothing before it, so that they can be put behind each other.
    underWay.push(
      shrinks(sampleOf(block))
        ? deflated(block, { level: FASTEST, finishFlush: constants.Z_SYNC_FLUSH, chunkSize: OUTPUT_BYTES })
        : Promise.resolve(stored(block)),
    );
    if (underWay.length > AHEAD) yield (await underWay.shift()) ?? Buffer.alloc(0);
  }
  for (const packed of underWay) yield await packed;
  yield LAST_BLOCK;
}

/** Whether a sample compresses well enough to be worth the time. */
export function shrinks(sample: Buffer): boolean {
  return deflateRawSync(sample, { level: FASTEST }).length < sample.length * WORTHWHILE;
}

/** Evenly spaced parts of a block; the whole of a small one. */
function sampleOf(block: Buffer): Buffer {
  if (block.length <= SAMPLES * SAMPLE_BYTES) return block;
  const step = Math.floor((block.length - SAMPLE_BYTES) / (SAMPLES - 1));
  return Buffer.concat(Array.from({ length: SAMPLES }, (_, n) => block.subarray(n * step, n * step + SAMPLE_BYTES)));
}

/** The same bytes as stored blocks, none of them the last. */
function stored(block: Buffer): Buffer {
  const heads = Math.ceil(block.length / STORED_BYTES);
  const out = Buffer.allocUnsafe(block.length + heads * STORED_HEAD_BYTES);
  let to = 0;
  for (let from = 0; from < block.length; from += STORED_BYTES) {
    const length = Math.min(STORED_BYTES, block.length - from);
    out[to] = 0;
    out.writeUInt16LE(length, to + 1);
    out.writeUInt16LE(length ^ STORED_BYTES, to + 3);
    block.copy(out, to + STORED_HEAD_BYTES, from, from + length);
    to += STORED_HEAD_BYTES + length;
  }
  return out;
}

/** The same bytes in blocks of equal size; the last may be smaller. Copies only what is not whole in one chunk. */
async function* blocksOf(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + BLOCK_BYTES - size);
      kept.push(piece);
      at += piece.length;
      size += piece.length;
      if (size < BLOCK_BYTES) continue;
      yield kept.length === 1 ? piece : Buffer.concat(kept, size);
      kept = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(kept, size);
}
