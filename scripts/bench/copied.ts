/** The floor of whatever makes a file from a stream: its bytes alone. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Hashes what comes on its way into a file, and makes that durable if it is to be. */
export async function copied(from: Readable, target: string, { durable = true } = {}): Promise<void> {
  const hash = createHash('sha256');
  const hashed = async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
  };
  await pipeline(from, hashed, createWriteStream(target));
  hash.digest('hex');
  if (!durable) return;
  const handle = await open(target, 'r');
  await handle.sync();
  await handle.close();
}
