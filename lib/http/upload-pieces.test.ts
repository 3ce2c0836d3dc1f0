import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BodySource, uploadOf } from './body.ts';

const MIB = 1024 * 1024;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-pieces-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A body that comes in pieces, each in memory of its own, which are waited for one after the other. */
function bodyOf(pieces: Uint8Array[], about: Pick<BodySource, 'length' | 'ownsPieces'>): BodySource {
  return {
    ...about,
    async read(onChunk) {
      for (const piece of pieces) await onChunk(piece);
    },
  };
}
const ownMemory = (content: Buffer) => new Uint8Array(content);

test.each([
  ['of one byte', [1]],
  ['smaller than what is written at a time', [1000, 500]],
  ['of exactly what is written at a time', [MIB]],
  ['with a piece across the border', [MIB - 1, 2, 64 * 1024]],
  ['with a piece larger than that', [10, 3 * MIB + 7, 5]],
  ['of many pieces', Array.from({ length: 50 }, () => 65_521)],
])('an upload %s is saved whole, with its length known or not', async (_what, sizes) => {
  const content = sizes.map((size) => randomBytes(size));
  const whole = Buffer.concat(content);
  for (const length of [whole.length, null]) {
    const path = join(folder, String(length));
    const source = bodyOf(content.map(ownMemory), { length, ownsPieces: true });
    expect(await uploadOf(source, null, 10 * MIB).saveTo(path)).toBe(whole.length);
    expect(readFileSync(path).equals(whole)).toBe(true);
  }
});

test('the memory of pieces is given back when they are the reader’s, and only then', async () => {
  const sizes = [65_521, MIB, 2 * MIB, 10];
  const save = async (ownsPieces: boolean) => {
    const pieces = sizes.map((size) => ownMemory(randomBytes(size)));
    await uploadOf(bodyOf(pieces, { length: null, ownsPieces }), null, 10 * MIB).saveTo(join(folder, `${ownsPieces}`));
    return pieces.map(({ byteLength }) => byteLength);
  };
  expect(await save(true)).toEqual(sizes.map(() => 0));
  expect(await save(false)).toEqual(sizes);
});
