/** Writes the zip of a bundle. Runs in a bundle process; knows nothing of the contents of its members. */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { writeStream } from '../base/effects.ts';
import { deflateBlocks, shrinks } from './deflate-blocks.ts';
import { CHUNK_BYTES, type Hashed } from './hashing.ts';
import type { Member } from './manifest.ts';
import { DEFLATED, descriptor, directory, localHeader, STORED, type ZipMember } from './zip-records.ts';

const SAMPLES = 16;
const SAMPLE_BYTES = 64 * 1024;

/** Writes and hashes a zip of `members` at `target`, in their order, all dated `createdSeconds`. */
export async function writeZip(
  target: string,
  members: readonly { name: Member; file: string }[],
  createdSeconds: number,
): Promise<Hashed> {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of zipOf(members, createdSeconds)) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  await pipeline(pieces, writeStream(target, { flags: 'wx' }));
  return { sha256: hash.digest('hex'), bytes };
}

async function* zipOf(
  members: readonly { name: Member; file: string }[],
  createdSeconds: number,
): AsyncGenerator<Buffer> {
  const written: ZipMember[] = [];
  let at = 0;
  const count = (piece: Buffer): Buffer => {
    at += piece.length;
    return piece;
  };
  for (const { name, file } of members) {
    const method = shrinksAsWhole(file) ? DEFLATED : STORED;
    const member: ZipMember = { name, method, mtime: createdSeconds, start: at, crc: 0, packedBytes: 0, bytes: 0 };
    const inspect = (block: Buffer) => {
      member.crc = crc32(block, member.crc);
      member.bytes += block.length;
    };
    yield count(localHeader(member));
    const contentAt = at;
    const content: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: CHUNK_BYTES });
    if (method === DEFLATED) for await (const packed of deflateBlocks(content, inspect)) yield count(packed);
    else
      for await (const block of content) {
        inspect(block);
        yield count(block);
      }
    member.packedBytes = at - contentAt;
    yield count(descriptor(member));
    written.push(member);
  }
  yield directory(written, at);
}

/** Whether samples from the whole file compress. One that does not is stored, so that any tool reads it at once. */
function shrinksAsWhole(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const room = Math.max(0, fstatSync(descriptor).size - SAMPLE_BYTES);
    const samples = Array.from({ length: SAMPLES }, (_, n) => {
      const sample = Buffer.alloc(SAMPLE_BYTES);
      const bytes = readSync(descriptor, sample, 0, SAMPLE_BYTES, Math.floor((room * n) / (SAMPLES - 1)));
      return sample.subarray(0, bytes);
    });
    return shrinks(Buffer.concat(samples));
  } finally {
    closeSync(descriptor);
  }
}
