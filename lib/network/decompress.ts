/** Decompresses the body of an answer, within what an answer may have. Pure but for its threads. */
import { promisify } from 'node:util';
import { brotliDecompress, inflate, inflateRaw, unzip } from 'node:zlib';

const DECOMPRESS = {
  gzip: promisify(unzip),
  'x-gzip': promisify(unzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** Why it could not be. */
export type NotDecompressed = 'size' | 'encoding' | 'undecodable';

/** Ends early for a body that grows beyond `mostBytes`. `encoding`: as the answer names it, in lower case. */
export async function decompressed(
  body: Buffer,
  encoding: string,
  mostBytes: number,
): Promise<Buffer | NotDecompressed> {
  const work = Object.hasOwn(DECOMPRESS, encoding) ? DECOMPRESS[encoding as keyof typeof DECOMPRESS] : null;
  if (work === null) return 'encoding';
  const limit = { maxOutputLength: mostBytes };
  try {
    // Some servers mean the bare format by "deflate".
    if (encoding === 'deflate' && ((body[0] ?? 0) & 0x0f) !== 8) return await promisify(inflateRaw)(body, limit);
    return await work(body, limit);
  } catch (error) {
    const isLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isLarge ? 'size' : 'undecodable';
  }
}
