/** gzip of a stream, in blocks that are compressed in parallel. Knows nothing of the contents. */
import { crc32 } from 'node:zlib';
import { deflateBlocks } from './deflate-blocks.ts';

/** RFC 1952: deflate, no name, no time, fastest level, unknown system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff]);

/** Compresses `source` into one gzip member, as it is read. */
export async function* gzipped(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let crc = 0;
  let size = 0;
  yield HEADER;
  yield* deflateBlocks(source, (block) => {
    crc = crc32(block, crc);
    size += block.length;
  });
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  yield trailer;
}
