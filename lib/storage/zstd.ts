/** Compresses a file and expands it again. Writes to the given path; knows no drawer. */
import { createHash, type Hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { writeStream } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { readRegular } from '../base/strangers-file.ts';

/** zstd's own default level: 3 compresses text about as well as gzip at several times the speed. */
const LEVEL = 3;

/** Passes bytes through and hashes them. */
function hashing(hash: Hash): (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer> {
  return async function* (chunks) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
}

/** Compresses the file at `source` into a new one at `target`. Returns the SHA-256 of what it read (lower-case hex). */
export async function pack(source: string, target: string): Promise<string> {
  const hash = createHash('sha256');
  const compress = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  await pipeline(await readRegular(source), hashing(hash), compress, writeStream(target));
  return hash.digest('hex');
}

/** Expands the file at `source` into a new one at `target`. Throws `corrupt`; `key` says whose file it is. */
export async function expand(source: string, target: string, key: string): Promise<void> {
  try {
    await pipeline(await readRegular(source), createZstdDecompress(), writeStream(target));
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^Z(STD)?_/.test(String(error.code))) {
      throw new WinterdockError('corrupt', `The archived file of "${key}" does not expand.`, { cause: error });
    }
    throw error;
  }
}
