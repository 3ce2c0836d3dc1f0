/** Writes the zip of a bundle. Runs in a bundle process; knows nothing of the contents of its members. */

import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { deflateRawSync } from 'node:zlib';
import { ZipFile } from 'yazl';
import { writeStream } from '../base/effects.ts';
import { CHUNK_BYTES, type Hashed, hashing } from './hashing.ts';
import type { Member } from './manifest.ts';

/** deflate's fastest level: on VFS files it is several times faster at nearly the same ratio. */
const LEVEL = 1;
const SAMPLES = 16;
const SAMPLE_BYTES = 64 * 1024;
/** A member whose samples do not shrink below this share is stored. */
const WORTHWHILE = 0.95;
const FILE_MODE = 0o100644;

/** Writes and hashes a zip of `members` at `target`, in their order, all dated `createdSeconds`. */
export async function writeZip(
  target: string,
  members: readonly { name: Member; file: string }[],
  createdSeconds: number,
): Promise<Hashed> {
  const zip = new ZipFile();
  const failed = new Promise<never>((_resolve, reject) => zip.on('error', reject));
  const mtime = new Date(createdSeconds * 1000);
  for (const { name, file } of members) {
    const compressionLevel = shrinks(file) ? LEVEL : 0;
    zip.addReadStreamLazy(name, { mtime, mode: FILE_MODE, compressionLevel }, (ready) =>
      ready(null, createReadStream(file, { highWaterMark: CHUNK_BYTES })),
    );
  }
  zip.end();
  const counted = hashing(Number.POSITIVE_INFINITY, 'The bundle');
  const output = writeStream(target, { flags: 'wx' });
  await Promise.race([pipeline(zip.outputStream, counted.through, output), failed]);
  return counted.result();
}

/** Whether samples from the whole file compress well enough to be worth the time. */
function shrinks(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const room = Math.max(0, fstatSync(descriptor).size - SAMPLE_BYTES);
    const sample = Buffer.alloc(SAMPLE_BYTES);
    let read = 0;
    let deflated = 0;
    for (let n = 0; n < SAMPLES; n += 1) {
      const bytes = readSync(descriptor, sample, 0, SAMPLE_BYTES, Math.floor((room * n) / (SAMPLES - 1)));
      read += bytes;
      deflated += deflateRawSync(sample.subarray(0, bytes), { level: LEVEL }).byteLength;
    }
    return deflated < read * WORTHWHILE;
  } finally {
    closeSync(descriptor);
  }
}
