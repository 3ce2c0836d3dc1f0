import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { gzipped } from './gzip.ts';

const MIB = 1024 * 1024;
const packed = (chunks: Buffer[]) => buffer(Readable.from(gzipped(Readable.from(chunks))));
const noise = randomBytes(3 * MIB + 17);
const text = Buffer.from('the work of a week, line by line\n'.repeat(100_000));

test.each([
  ['nothing', []],
  ['a few bytes', [Buffer.from('a'), Buffer.alloc(0), Buffer.from('bc')]],
  ['noise', [noise]],
  ['text', [text]],
  ['blocks of one size', [text.subarray(0, MIB), noise.subarray(0, MIB)]],
  ['noise and text in pieces of any size', [text.subarray(0, 700), noise, text, noise.subarray(5, 6), text]],
] as [string, Buffer[]][])('%s comes back from one member, byte for byte', async (_, chunks) => {
  const bytes = await packed(chunks);
  const whole = Buffer.concat(chunks);
  expect(gunzipSync(bytes).equals(whole)).toBe(true);
  expect(execFileSync('gzip', ['-dc'], { input: bytes, maxBuffer: 64 * MIB }).equals(whole)).toBe(true);
});

test('noise grows by next to nothing, and text beside it shrinks as if it were alone', async () => {
  expect((await packed([noise])).length).toBeLessThan(noise.length + 1000);
  expect((await packed([noise, text])).length).toBeLessThan(noise.length + text.length / 20 + MIB);
  expect((await packed([text])).length).toBeLessThan(text.length / 20);
});

test('a failure of the source fails the packing', async () => {
  async function* broken() {
    yield text;
    throw new Error('the disk went away');
  }
  await expect(buffer(Readable.from(gzipped(broken())))).rejects.toThrow('the disk went away');
});
