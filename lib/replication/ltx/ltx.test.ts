import { hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { numbersOf } from '../testing/history.ts';
import { Crc64 } from './crc64.ts';
import { HEADER_BYTES, type LtxHeader } from './ltx-header.ts';
import { LtxReader, verifySegment } from './ltx-reader.ts';
import { LtxWriter } from './ltx-writer.ts';
import { expandBlock, literalHead, longestBlock, zeroBlock } from './lz4.ts';
import { PageRuns } from './page-runs.ts';
import { rebuild } from './rebuild.ts';

const SIZE = 512;
const HEADER: LtxHeader = { pageSize: SIZE, commit: 3, minTxid: 1, maxTxid: 1, timeMs: 1000, log: null };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-ltx-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A page that says its number. */
const pageOf = (text: string, pageSize = SIZE) => Buffer.alloc(pageSize, text);

async function written(name: string, header: Partial<LtxHeader>, pages: readonly [number, Buffer][]): Promise<string> {
  const target = join(folder, name);
  const segment = await LtxWriter.create(target, { ...HEADER, ...header });
  for (const [page, bytes] of pages) await segment.page(page, bytes);
  expect(await segment.finish(false)).toBe(readFileSync(target).length);
  return target;
}

async function readBack(path: string): Promise<[number, Buffer][]> {
  const reader = await LtxReader.open(path);
  const pages: [number, Buffer][] = [];
  for (let page = await reader.next(); page !== 0; page = await reader.next()) {
    pages.push([page, Buffer.from(reader.page)]);
  }
  await reader.close();
  return pages;
}

/** Compared as they are, bytes are slow. */
const hashed = (pages: readonly [number, Buffer][]) => pages.map(([page, bytes]) => [page, hash('sha256', bytes)]);

const BASE: [number, Buffer][] = [
  [1, pageOf('one')],
  [2, Buffer.alloc(SIZE)],
  [3, pageOf('three')],
];
const base = () => written('base', {}, BASE);
const second = () => written('second', { minTxid: 2, maxTxid: 2, commit: 4, timeMs: 2000 }, [[4, pageOf('four')]]);

describe('a segment', () => {
  test('is read as it was written, for every size of a page', async () => {
    for (let pageSize = 512; pageSize <= 65_536; pageSize *= 2) {
      const log = { offset: 32, bytes: 24 + pageSize, salts: '0123456789abcdef' };
      const header = { pageSize, commit: 2 ** 24, minTxid: 7, maxTxid: 9, timeMs: 1_790_000_000_123, log };
      const pages: [number, Buffer][] = [
        [2, pageOf('two', pageSize)],
        [3, Buffer.alloc(pageSize)],
        [4, Buffer.alloc(pageSize, 0).fill(1, pageSize - 1)],
        [2 ** 24, pageOf('last', pageSize)],
      ];
      const path = await written('segment', header, pages);
      expect(hashed(await readBack(path))).toEqual(hashed(pages));
      expect(await verifySegment(path)).toEqual({ header, bytes: readFileSync(path).length, pages: 4 });
    }
  });

  test('has the index that readers of single pages need: number, offset and length of each', async () => {
    const bytes = readFileSync(await written('base', {}, BASE));
    const size = Number(bytes.readBigUInt64BE(bytes.length - 24));
    const index = [...bytes.subarray(bytes.length - 24 - size, bytes.length - 24)];
    const numbers: number[] = [];
    for (let [value, unit] = [0, 1], rest = index; rest.length > 0; rest = rest.slice(1)) {
      value += ((rest[0] ?? 0) & 127) * unit;
      unit *= 128;
      if ((rest[0] ?? 0) < 128) [value, unit] = [numbers.push(value) * 0, 1];
    }
    const literal = 10 + literalHead(SIZE).length + SIZE;
    const zero = 10 + zeroBlock(SIZE).length;
    const at = [HEADER_BYTES, HEADER_BYTES + literal, HEADER_BYTES + literal + zero];
    expect(numbers).toEqual([1, at[0], literal, 2, at[1], zero, 3, at[2], literal, 0]);
  });

  test('has no name before it is whole, and leaves nothing when it is discarded', async () => {
    const segment = await LtxWriter.create(join(folder, 'new.ltx'), HEADER);
    await segment.page(1, pageOf('one'));
    expect(readdirSync(folder)).toEqual(['.new.ltx.unfinished']);
    await segment.discard();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('of which any bit is another, or the end is missing, is refused', async () => {
    const path = await base();
    const bytes = readFileSync(path);
    const tried = join(folder, 'tried');
    for (let at = 0; at < bytes.length; at += 1) {
      for (const bit of at < 140 || at > bytes.length - 60 ? [0, 7] : at % 9 === 0 ? [at % 8] : []) {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        writeFileSync(tried, flipped);
        const read = verifySegment(tried).then(({ header }) => header);
        await expect(read, `bit ${bit} of byte ${at}`).rejects.toMatchObject({ code: 'corrupt' });
      }
    }
    for (let length = 0; length < bytes.length; length += 11) {
      writeFileSync(tried, bytes.subarray(0, length));
      await expect(verifySegment(tried)).rejects.toMatchObject({ code: 'corrupt' });
    }
    writeFileSync(tried, Buffer.concat([bytes, Buffer.alloc(1)]));
    await expect(verifySegment(tried)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('that says what cannot be is refused, though its checksum is right', async () => {
    const zero = Buffer.alloc(SIZE);
    const wrong: [string, Partial<LtxHeader>, [number, Buffer][]][] = [
      ['pages out of order', { minTxid: 2, maxTxid: 2 }, [BASE[2] ?? [3, zero], BASE[0] ?? [1, zero]]],
      ['a page twice', { minTxid: 2, maxTxid: 2 }, [BASE[0] ?? [1, zero], BASE[0] ?? [1, zero]]],
      ['a page beyond the end', { minTxid: 2, maxTxid: 2 }, [[4, zero]]],
      ['the page of locks', { minTxid: 2, maxTxid: 2, commit: 2 ** 22 }, [[2 ** 21 + 1, zero]]],
      ['a base that lacks its last page', {}, BASE.slice(0, 2)],
      ['a base that lacks its first page', {}, BASE.slice(1)],
      ['a base of nothing', {}, []],
      ['no page at all', { commit: 0 }, []],
      ['more than a database can have', { commit: 2 ** 32 - 1, minTxid: 2, maxTxid: 2 }, []],
      ['transactions out of order', { minTxid: 3, maxTxid: 2 }, []],
      ['no transaction', { minTxid: 0, maxTxid: 2 }, []],
      ['a time before all times', { timeMs: -1 }, BASE],
    ];
    for (const [why, header, pages] of wrong) {
      await expect(verifySegment(await written('wrong', header, pages)), why).rejects.toMatchObject({
        code: 'corrupt',
      });
    }
  });

  test('is read from a regular file alone', async () => {
    mkdirSync(join(folder, 'folder'));
    await expect(verifySegment(join(folder, 'folder'))).rejects.toMatchObject({ code: 'corrupt' });
    await expect(verifySegment(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a rebuilt file', () => {
  test('has every page of the base and of what came after, and is cut off and grows as the commits say', async () => {
    const shrinks = await written('shrinks', { minTxid: 3, maxTxid: 3, commit: 2 }, [[1, pageOf('first')]]);
    const grows = await written('grows', { minTxid: 4, maxTxid: 6, commit: 4, timeMs: 4000 }, [[4, pageOf('last')]]);
    const target = join(folder, 'target');
    const made = await rebuild({ segments: [await base(), await second(), shrinks, grows], target });
    const expected = Buffer.concat([pageOf('first'), Buffer.alloc(2 * SIZE), pageOf('last')]);
    expect(readFileSync(target)).toEqual(expected);
    expect(made).toMatchObject({ bytes: 4 * SIZE, txid: 6, timeMs: 4000 });
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('is not made of a damaged segment, a gap or another database, and what was there stays', async () => {
    const target = join(folder, 'target');
    writeFileSync(target, 'as it was');
    const [first, next] = [await base(), await second()];
    const cut = join(folder, 'cut');
    writeFileSync(cut, readFileSync(next).subarray(0, -1));
    const third = await written('third', { minTxid: 4, maxTxid: 4 }, []);
    const other = await written('other', { minTxid: 2, maxTxid: 2, pageSize: 1024 }, []);
    symlinkSync(next, join(folder, 'link'));
    for (const segments of [[], [next], [first, cut], [cut], [first, first], [first, third], [first, other]]) {
      await expect(rebuild({ segments, target })).rejects.toMatchObject({ code: 'corrupt' });
    }
    await expect(rebuild({ segments: [first, join(folder, 'none')], target })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    expect(readFileSync(target, 'utf8')).toBe('as it was');
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(existsSync(`${target}-wal`)).toBe(false);
  });
});

describe('a block', () => {
  test('of literals or of zeros expands to what it was made of', () => {
    for (let length = 512; length <= 65_536; length *= 2) {
      const bytes = Buffer.alloc(length, 'any');
      const target = Buffer.alloc(length, 1);
      expect(expandBlock(Buffer.concat([literalHead(length), bytes]), target)).toBe(true);
      expect(target.equals(bytes)).toBe(true);
      expect(expandBlock(zeroBlock(length), target)).toBe(true);
      expect(target.equals(Buffer.alloc(length))).toBe(true);
      expect(literalHead(length).length + length).toBeLessThanOrEqual(longestBlock(length));
    }
  });

  test('that others compressed expands: matches far, near and over their own end', () => {
    // "abcd" + 8 of them again at distance 4, then 6 of "z" at distance 1, then five literals.
    const block = Buffer.from([0x44, ...Buffer.from('abcd'), 4, 0, 0x12, 0x7a, 1, 0, 0x50, ...Buffer.from('start')]);
    const expected = 'abcdabcdabcdzzzzzzzstart';
    const target = Buffer.alloc(expected.length);
    expect(expandBlock(block, target)).toBe(true);
    expect(target.toString()).toBe(expected);
    for (let length = 0; length < block.length; length += 1) {
      expect(expandBlock(block.subarray(0, length), Buffer.alloc(expected.length))).toBe(false);
    }
    for (const other of [-1, 1]) expect(expandBlock(block, Buffer.alloc(expected.length + other))).toBe(false);
  });

  test('of any bytes neither throws nor writes beside its target', () => {
    const random = numbersOf(3);
    for (let round = 0; round < 3000; round += 1) {
      const block = Buffer.from(Array.from({ length: 40 }, () => Math.floor(random() * 256)));
      const around = Buffer.alloc(600, 7);
      expandBlock(block, around.subarray(40, 552));
      expect([around.subarray(0, 40), around.subarray(552)].every((part) => part.every((byte) => byte === 7))).toBe(
        true,
      );
    }
  });
});

test('runs of pages are kept in order, whatever their gaps, in few bytes', () => {
  const random = numbersOf(5);
  const pages: [number, boolean][] = [];
  const runs = new PageRuns();
  for (let page = 0; pages.length < 5000; ) {
    page += random() < 0.7 ? 1 : 1 + Math.floor(random() ** 8 * 2 ** 20);
    pages.push([page, random() < 0.2]);
    runs.add(...(pages.at(-1) as [number, boolean]));
  }
  expect([...runs.pages()]).toEqual(pages);
  expect(runs.count).toBe(5000);
  expect([...new PageRuns().pages()]).toEqual([]);
});

test('the checksum is over the pages as they are, and not over their blocks', async () => {
  const bytes = readFileSync(await written('base', { commit: 1 }, [[1, pageOf('one')]]));
  const crc = new Crc64();
  crc.update(bytes.subarray(0, HEADER_BYTES + 10));
  crc.update(pageOf('one'));
  crc.update(bytes.subarray(HEADER_BYTES + 10 + literalHead(SIZE).length + SIZE, -8));
  expect(bytes.readBigUInt64BE(bytes.length - 8)).toBe(crc.value | (1n << 63n));
});
