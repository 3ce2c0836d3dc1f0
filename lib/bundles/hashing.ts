/** Counts and hashes the bytes of a stream or a file, up to a limit. Knows nothing of the contents. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { WinterdockError } from '../base/errors.ts';

/** Hash and size of one member, or of a whole bundle. */
export interface Hashed {
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
}

/** Chunk size for reading and hashing files. */
export const CHUNK_BYTES = 1024 * 1024;

/** A hashing pass-through. Fails with `too_large` after `limit` bytes; `named` is the subject of that message. */
export function hashing(limit: number, named: string): { through: Transform; result(): Hashed } {
  const hash = createHash('sha256');
  let bytes = 0;
  const through = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > limit) return done(tooLarge(limit, named));
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { through, result: () => ({ sha256: hash.digest('hex'), bytes }) };
}

/** The hash of a file. */
export async function hashOf(file: string): Promise<Hashed> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  return { sha256: hash.digest('hex'), bytes };
}

function tooLarge(limit: number, named: string): WinterdockError {
  return new WinterdockError('too_large', `${named} is over the limit of ${limit} bytes.`, { extra: { limit } });
}
