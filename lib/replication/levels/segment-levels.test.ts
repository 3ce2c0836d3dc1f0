import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { filesIn } from '../../testing/files-in.ts';
import { Cutter } from '../log/cutter.ts';
import { LtxWriter } from '../ltx/ltx-writer.ts';
import { findMoment, restoreMoment } from '../moments/replica-reader.ts';
import {
  newSeries,
  parseSegmentName,
  REGISTRY_ID,
  type SegmentSeries,
  segmentFile,
  segmentName,
} from '../names/replica-names.ts';
import { SegmentUploads } from '../shipping/segment-uploads.ts';
import { canUse } from '../testing/can-use.ts';
import { SegmentLevels, type SegmentLevelsParts } from './segment-levels.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A whole hour. */
const BEGIN_MS = 500_000 * HOUR_MS;
const PAGE = 512;
const PAGES = 6;

let folder: string;
let store: ObjectStore;
let cutter: Cutter;
let now: number;
let asked: string[];
let levels: SegmentLevels;
let uploads: SegmentUploads;
const series = newSeries(1, BEGIN_MS);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-levels-'));
  store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  cutter = new Cutter();
  [now, asked] = [BEGIN_MS, []];
  begin();
});
afterEach(async () => {
  await uploads.stop();
  await levels.stop();
  await cutter.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** The store, which fails whatever `fails` says. */
function failing(fails: (op: string, name: string) => boolean): SegmentLevelsParts['store'] {
  const ask = (op: string, name: string) => {
    asked.push(op);
    if (fails(op, name)) throw new Error(`${op} failed`);
  };
  return {
    upload: async (name, path, options) => {
      ask('upload', name);
      const sent = await store.upload(name, path, options);
      ask('uploaded', name);
      return sent;
    },
    head: async (name, options) => {
      ask('head', name);
      return store.head(name, options);
    },
    download: async (name, path, options) => {
      ask('download', name);
      return store.download(name, path, options);
    },
    open: async (name, options) => {
      ask('open', name);
      return store.open(name, options);
    },
  };
}

function begin(parts: Partial<SegmentLevelsParts> = {}) {
  const log = createLogger('silent');
  const own = { folder: join(folder, 'levels'), store: failing(() => false), cutter, log, keptBytes: 2 ** 20 };
  levels = new SegmentLevels({ ...own, clock: { now: () => now }, againMs: 1, ...parts });
  uploads = new SegmentUploads({ store, log, isBack: () => canUse(store), levels });
}

/** Ships a segment that changes one page, or a base. */
async function ship(txid: number, timeMs: number, id = 'a', of: SegmentSeries = series): Promise<void> {
  const spool = join(folder, 'spool', id);
  mkdirSync(spool, { recursive: true });
  const level = txid === 1 ? 9 : 0;
  const path = join(spool, `${level}-${segmentFile(txid, txid)}`);
  const header = { pageSize: PAGE, commit: PAGES, minTxid: txid, maxTxid: txid, timeMs, log: null };
  const writer = await LtxWriter.create(path, header);
  for (let page = 1; page <= PAGES; page += 1) {
    if (level === 9 || page === 1 + (txid % PAGES)) await writer.page(page, Buffer.alloc(PAGE, txid));
  }
  const bytes = await writer.finish(false);
  uploads.add({ id, series: of, level, min: txid, max: txid, path, bytes, timeMs });
  await uploads.whenShipped(id);
}

async function names(id = 'a'): Promise<string[]> {
  const found: string[] = [];
  for await (const page of store.list(`replica/${id}/`)) {
    for (const { name } of page) {
      const { level, min, max } = parseSegmentName(name) ?? {};
      found.push(`${level}: ${min}-${max}`);
    }
  }
  return found.sort();
}
const merged = async (id?: string) => (await names(id)).filter((name) => name.startsWith('1') || name.startsWith('2'));

async function made(atMs: number | null): Promise<{ bytes: Buffer; length: number; timeMs: number }> {
  const moment = await findMoment(store, 'a', atMs, null);
  if (moment === null) throw new Error('There is no moment.');
  const target = join(folder, 'made');
  await restoreMoment(store, moment, { target, tmp: join(folder, 'tmp') });
  return { bytes: readFileSync(target), length: moment.chain.length, timeMs: moment.timeMs };
}

test('the segments of a minute become one of level 1, those of an hour one of level 2, and nothing else changes', async () => {
  await ship(1, now);
  for (let txid = 2; txid < 12; txid += 1) {
    now = BEGIN_MS + (txid - 2) * 20_000;
    await ship(txid, now);
  }
  await levels.whenMerged();
  // The minute that is not over is merged with nothing.
  expect(await merged()).toEqual(['1: 2-4', '1: 5-7', '1: 8-10']);
  const before = await made(null);
  const moments = await Promise.all([0, 5, 9].map((at) => findMoment(store, 'a', BEGIN_MS + at * 20_000, null)));
  now += HOUR_MS;
  levels.look();
  await levels.whenMerged();
  levels.look();
  await levels.whenMerged();
  expect(await merged()).toEqual(['1: 11-11', '1: 2-4', '1: 5-7', '1: 8-10', '2: 2-11']);
  const after = await made(null);
  expect(after.bytes.equals(before.bytes)).toBe(true);
  expect(after).toMatchObject({ timeMs: before.timeMs, length: 2 });
  const again = await Promise.all([0, 5, 9].map((at) => findMoment(store, 'a', BEGIN_MS + at * 20_000, null)));
  expect(again.map((moment) => moment?.timeMs)).toEqual(moments.map((moment) => moment?.timeMs));
  // One write each, and not a single read.
  expect(asked.filter((op) => op !== 'uploaded')).toEqual(Array.from({ length: 5 }, () => 'upload'));
  expect(filesIn(join(folder, 'levels'))).toEqual([]);
});

test('what has no room on this disk is read from the store, and makes the same', async () => {
  begin({ keptBytes: 0 });
  await ship(1, now);
  for (const txid of [2, 3, 4]) await ship(txid, now);
  now += HOUR_MS;
  for (let round = 0; round < 2; round += 1) {
    levels.look();
    await levels.whenMerged();
  }
  expect(await merged()).toEqual(['1: 2-4', '2: 2-4']);
  expect(asked.filter((op) => op === 'download')).toHaveLength(4);
  expect((await made(null)).length).toBe(2);
});

test.each(['download', 'upload', 'uploaded', 'head'])('a store that fails at a %s costs only time', async (wrong) => {
  let failures = 0;
  const fails = (op: string) => op === wrong && failures++ < 3;
  begin({ store: failing(fails), keptBytes: wrong === 'download' ? 0 : 2 ** 20 });
  await ship(1, now);
  for (const txid of [2, 3]) await ship(txid, now);
  const before = await made(null);
  now += MINUTE_MS;
  levels.look();
  for (let round = 0; round < 100 && (await merged()).length === 0; round += 1) levels.look();
  await new Promise<void>((resolve) => {
    const turn = setInterval(() => levels.look(), 1);
    void levels.whenMerged().then(() => {
      clearInterval(turn);
      resolve();
    });
  });
  expect(await names()).toEqual(['0: 2-2', '0: 3-3', '1: 2-3', '9: 1-1']);
  expect((await made(null)).bytes.equals(before.bytes)).toBe(true);
});

test('a file that was damaged on this disk is read from the store', async () => {
  await ship(1, now);
  for (const txid of [2, 3]) await ship(txid, now);
  for (const name of filesIn(join(folder, 'levels'))) writeFileSync(join(folder, 'levels', name), 'something else');
  const before = await made(null);
  now += MINUTE_MS;
  levels.look();
  await new Promise<void>((resolve) => {
    const turn = setInterval(() => levels.look(), 1);
    void levels.whenMerged().then(() => {
      clearInterval(turn);
      resolve();
    });
  });
  expect(await merged()).toEqual(['1: 2-3']);
  expect((await made(null)).bytes.equals(before.bytes)).toBe(true);
});

test('another series, and a hole, begin another segment', async () => {
  const other = newSeries(1, BEGIN_MS + 1);
  for (const txid of [1, 2, 3, 5]) await ship(txid, now);
  for (const txid of [1, 2]) await ship(txid, now, 'a', other);
  await ship(2, now, REGISTRY_ID);
  now += MINUTE_MS;
  levels.look();
  await levels.whenMerged();
  expect(await merged()).toEqual(['1: 2-2', '1: 2-3', '1: 5-5', '2: 2-3', '2: 5-5']);
  expect(await merged(REGISTRY_ID)).toEqual(['1: 2-2']);
});

test('what is forgotten reaches the store no more, and nothing of it is left on this disk', async () => {
  await ship(1, now);
  for (const txid of [2, 3]) await ship(txid, now);
  now += MINUTE_MS;
  levels.look();
  await uploads.forget('a');
  const there = await names();
  levels.look();
  await levels.whenMerged();
  expect(await names()).toEqual(there);
  expect(filesIn(join(folder, 'levels'))).toEqual([]);
});

test('what a level lacks is merged from the store later, and not what is about to be merged anyway', async () => {
  await ship(1, now);
  const late = [];
  for (const txid of [2, 3, 4, 5]) {
    await ship(txid, now);
    late.push({ id: 'a', series, level: 0, min: txid, max: txid, bytes: 1, timeMs: now });
    if (txid === 3) now += MINUTE_MS;
  }
  levels.add('minute', late);
  await levels.whenMerged();
  expect(await merged()).toEqual(['1: 2-3']);
  await levels.stop();
  begin();
  await levels.prepare();
  levels.add('minute', late.slice(2));
  await levels.whenMerged();
  expect(await merged()).toEqual(['1: 2-3', '1: 4-5']);
  expect(asked.filter((op) => op === 'download')).toHaveLength(2);
  const name = segmentName({ id: 'a', series, level: 1, min: 4, max: 5 });
  expect((await store.head(name))?.bytes).toBeGreaterThan(0);
});
