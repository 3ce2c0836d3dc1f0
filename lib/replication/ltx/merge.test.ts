import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY, DRAWS_ALL } from '../../testing/draw.ts';
import { Cutter } from '../log/cutter.ts';
import { numbersOf } from '../testing/history.ts';
import { LtxReader } from './ltx-reader.ts';
import { LtxWriter } from './ltx-writer.ts';
import { mergeSegments } from './merge.ts';
import { rebuild } from './rebuild.ts';

const PAGE = 512;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-merge-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
/** Writes segment `txid`: the pages it has, each full of its own byte, and the size after it. */
async function segment(txid: number, commit: number, pages: readonly number[]): Promise<string> {
  const path = at(`${txid}.ltx`);
  const of = { minTxid: txid, maxTxid: txid, timeMs: 1000 * txid, log: null };
  const writer = await LtxWriter.create(path, { pageSize: PAGE, commit, ...of });
  for (const page of pages) await writer.page(page, Buffer.alloc(PAGE, txid * 16 + page));
  await writer.finish(false);
  return path;
}
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
async function made(segments: readonly string[]): Promise<Buffer> {
  await rebuild({ segments, target: at('rebuilt') });
  return readFileSync(at('rebuilt'));
}

/** The segments with those groups merged whose bit says that one goes on with the one before. */
async function grouped(segments: readonly string[], joins: number, name: string): Promise<string[]> {
  const groups: string[][] = [];
  for (const [index, path] of segments.entries()) {
    if (index > 0 && (joins >> (index - 1)) & 1) groups.at(-1)?.push(path);
    else groups.push([path]);
  }
  const merged: string[] = [];
  for (const group of groups) {
    const target = at(`${name}-${merged.length}.ltx`);
    await mergeSegments({ segments: group, target, sync: false });
    merged.push(target);
  }
  return merged;
}

test('the last version of a page stays, and what the database gave back is not there', async () => {
  const segments = [await segment(2, 6, [1, 4, 6]), await segment(3, 4, [2, 4]), await segment(4, 5, [5])];
  const merged = await mergeSegments({ segments, target: at('2-4.ltx'), sync: true });
  expect(merged).toMatchObject({ minTxid: 2, maxTxid: 4, commit: 5, timeMs: 4000, pages: 4 });
  const reader = await LtxReader.open(at('2-4.ltx'));
  const pages: [number, number | undefined][] = [];
  for (let page = await reader.next(); page !== 0; page = await reader.next()) pages.push([page, reader.page[0]]);
  await reader.close();
  expect(pages).toEqual([
    [1, 33],
    [2, 50],
    [4, 52],
    [5, 69],
  ]);
});

test('a page that was given back is not what it was once the database has grown over it again', async () => {
  const base = await segment(1, 8, upTo(8));
  // The last one grows without page 6, which is therefore nothing but zeros.
  const segments = [base, await segment(2, 8, [6]), await segment(3, 4, [1]), await segment(4, 8, [5, 7, 8])];
  const expected = await made(segments);
  expect(expected.subarray(5 * PAGE, 6 * PAGE).every((byte) => byte === 0)).toBe(true);
  for (let joins = 0; joins < 8; joins += 1) {
    expect((await made(await grouped(segments, joins, 'merged'))).equals(expected), `groups ${joins}`).toBe(true);
  }
});

test('every grouping of random segments makes the same file, whatever they lack', async () => {
  const histories = DRAWS_ALL ? 60 : 3;
  for (let history = 0; history < histories; history += 1) {
    const random = numbersOf(DAY * 1000 + history);
    const below = (limit: number) => Math.floor(random() * limit);
    const first = 1 + below(6);
    const segments = [await segment(1, first, upTo(first))];
    for (let txid = 2; txid < 7; txid += 1) {
      const commit = 1 + below(9);
      segments.push(
        await segment(
          txid,
          commit,
          upTo(commit).filter(() => below(2) === 0),
        ),
      );
    }
    const expected = await made(segments);
    for (let joins = 0; joins < 32; joins += 1) {
      const once = await grouped(segments, joins, 'once');
      if (!(await made(once)).equals(expected)) throw new Error(`history ${history}, groups ${joins}`);
      const twice = await grouped(once, below(32), 'twice');
      if (!(await made(twice)).equals(expected)) throw new Error(`history ${history}, groups ${joins}, and again`);
    }
  }
});

test('more segments than may be open at once are merged in parts, of which nothing is left', async () => {
  const segments = [await segment(1, 3, upTo(3))];
  for (let txid = 2; txid < 150; txid += 1) segments.push(await segment(txid, 3 + (txid % 5), upTo(3 + (txid % 5))));
  const expected = await made(segments);
  const cutter = new Cutter();
  const merged = await cutter.merge({ segments, target: at('merged.ltx'), sync: false });
  await cutter.close();
  expect(merged).toMatchObject({ minTxid: 1, maxTxid: 149 });
  expect((await made([at('merged.ltx')])).equals(expected)).toBe(true);
  expect(readdirSync(folder).filter((name) => name.includes('part') || name.startsWith('.'))).toEqual([]);
});

test('what is damaged, or does not follow, is merged with nothing', async () => {
  const [one, two, four] = [await segment(2, 3, [1]), await segment(3, 3, [2]), await segment(5, 3, [3])];
  const merge = (segments: string[]) => mergeSegments({ segments, target: at('merged.ltx'), sync: false });
  await expect(merge([one, two, four])).rejects.toMatchObject({ code: 'corrupt' });
  await expect(merge([])).rejects.toMatchObject({ code: 'corrupt' });
  const bytes = readFileSync(two);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(two, bytes);
  await expect(merge([one, two])).rejects.toMatchObject({ code: 'corrupt' });
  await expect(merge([one, at('none.ltx')])).rejects.toMatchObject({ code: 'ENOENT' });
  // A few bytes may claim a database of a terabyte.
  const claim = [await segment(2, 2 ** 30, []), await segment(3, 1, []), await segment(4, 2 ** 30, [])];
  await expect(merge(claim)).rejects.toMatchObject({ code: 'corrupt' });
  expect(existsSync(at('merged.ltx'))).toBe(false);
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
});
