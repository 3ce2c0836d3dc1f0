/** Which moments are listed: of bundles and of merged minutes, around a time, of several series, and damaged ones. */
import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { type S3Server, startS3Server, useTestKeys } from '../../storage/object-store/testing/s3-server.ts';
import { LtxWriter } from '../ltx/ltx-writer.ts';
import { minuteOf } from '../names/bundle-names.ts';
import { newSeries, parseSegmentName, type SegmentSeries, segmentName } from '../names/replica-names.ts';
import { TenantBundles } from '../segment-bundles/bundle-reader.ts';
import { bundlingStage } from '../testing/bundling-stage.ts';
import { type ListedMoment, listMoments } from './moment-list.ts';
import { findMoment } from './replica-reader.ts';

const MINUTE_MS = 60_000;
const BEGIN_MS = 1_790_000_000_000;
const PAGE = 4096;

let folder: string;
let store: ObjectStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-moment-list-'));
  store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, {
    ...{ endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} },
  });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Puts a segment of one page: the first one, of a database at rest (1) or in WAL mode (2), or another one (null). */
async function put(
  series: SegmentSeries,
  [level, min, max]: [number, number, number],
  timeMs: number,
  version: number | null,
  log: Parameters<typeof LtxWriter.create>[1]['log'] = null,
): Promise<void> {
  const path = join(folder, 'segment.ltx');
  const commit = min === 1 ? 1 : 2;
  const writer = await LtxWriter.create(path, { pageSize: PAGE, commit, minTxid: min, maxTxid: max, timeMs, log });
  await writer.page(version === null ? 2 : 1, Buffer.alloc(PAGE, version ?? 7));
  await writer.finish(false);
  await store.upload(segmentName({ id: 'a', series, level, min, max }), path);
  rmSync(path);
}

const list = (aroundS: number | null = null, limit = 100) =>
  listMoments(store, 'a', null, { aroundMs: aroundS === null ? null : BEGIN_MS + aroundS * 1000, limit });
/** Seconds since the beginning, what it is, and its grain. */
const shown = (moments: readonly ListedMoment[]) =>
  moments.map(({ timeMs, kind, grainS }) => `${(timeMs - BEGIN_MS) / 1000} ${kind} ${grainS}`);

/** Two series: awake from 0 to 5 s, filed at 6; awake again from 100, a minute merged, filed at 190. */
async function twoSeries(): Promise<void> {
  const first = newSeries(1, BEGIN_MS);
  await put(first, [9, 1, 1], BEGIN_MS, 2);
  for (let txid = 2; txid <= 6; txid += 1) await put(first, [0, txid, txid], BEGIN_MS + (txid - 1) * 1000, null);
  await put(first, [0, 7, 7], BEGIN_MS + 6000, 1);
  const second = newSeries(1, BEGIN_MS + 100_000);
  await put(second, [9, 1, 1], BEGIN_MS + 100_000, 2);
  await put(second, [1, 2, 30], BEGIN_MS + 140_000, null);
  await put(second, [1, 31, 40], BEGIN_MS + 190_000, 1);
}

test('moments are listed newest first, over series, with how coarse they are and which are filings', async () => {
  await twoSeries();
  expect(shown(await list())).toEqual([
    ...['190 filing 60', '140 commit 60', '100 commit 1'],
    ...['6 filing 1', '5 commit 1', '4 commit 1', '3 commit 1', '2 commit 1', '1 commit 1', '0 commit 1'],
  ]);
});

test('around a time are as many before it as after it, and more of one side where the other has fewer', async () => {
  await twoSeries();
  expect(shown(await list(3, 4))).toEqual(['5 commit 1', '4 commit 1', '3 commit 1', '2 commit 1']);
  expect(shown(await list(6, 4))).toEqual(['140 commit 60', '100 commit 1', '6 filing 1', '5 commit 1']);
  expect(shown(await list(0, 4))).toEqual(['3 commit 1', '2 commit 1', '1 commit 1', '0 commit 1']);
  expect(shown(await list(150, 3))).toEqual(['190 filing 60', '140 commit 60', '100 commit 1']);
  expect(shown(await list(99, 1))).toEqual(['6 filing 1']);
  expect(shown(await list(10_000, 2))).toEqual(['190 filing 60', '140 commit 60']);
  expect(await list(-1)).toEqual([]);
});

test('the first of those around a time that is not after it is the one that a restore to it makes', async () => {
  await twoSeries();
  for (let second = 0; second < 200; second += 7) {
    const timeMs = BEGIN_MS + second * 1000;
    const listed = (await list(second, 6)).find((moment) => moment.timeMs <= timeMs);
    expect([second, listed?.timeMs]).toEqual([second, (await findMoment(store, 'a', timeMs, null))?.timeMs]);
  }
});

test('a base beside a log is no moment by itself, and what is cut off, or follows a hole, is left out', async () => {
  const series = newSeries(1, BEGIN_MS);
  await put(series, [9, 1, 1], BEGIN_MS, 2, { offset: 32, bytes: 100, salts: '0102030405060708' });
  await put(series, [0, 2, 2], BEGIN_MS + 1000, null);
  await put(series, [0, 3, 3], BEGIN_MS + 2000, null);
  await put(series, [0, 5, 5], BEGIN_MS + 4000, null);
  expect(shown(await list())).toEqual(['2 commit 1', '1 commit 1']);
  const [name = ''] = readdirSync(join(folder, 'store'), { recursive: true, encoding: 'utf8' }).filter((each) =>
    each.endsWith('0000000000000003-0000000000000003.ltx'),
  );
  truncateSync(join(folder, 'store', name), 50);
  expect(shown(await list())).toEqual(['1 commit 1']);
});

test('what stays of a whole series has the grain of a day', async () => {
  const series = newSeries(1, BEGIN_MS);
  await put(series, [9, 1, 900], BEGIN_MS + 80_000_000, 1);
  expect(shown(await list())).toEqual(['80000 filing 86400']);
});

let server: S3Server;
let forgetKeys: () => void;
beforeAll(async () => {
  forgetKeys = useTestKeys();
  server = await startS3Server();
});
afterAll(async () => {
  await server.stop();
  forgetKeys();
});

test('commits that lie in bundles are listed near the time, and of other minutes the last one', async () => {
  const stage = await bundlingStage(server, 'listed');
  try {
    // The middle of a minute.
    stage.clock.at = minuteOf(stage.clock.at) * MINUTE_MS + 30_000;
    const tenants = { acme: ['a', 'b'] };
    for (let minute = 0; minute < 6; minute += 1) {
      for (let second = 0; second < 4; second += 1) {
        await stage.ship(tenants);
        stage.clock.at += 1000;
      }
      stage.clock.at += MINUTE_MS - 4000;
      await stage.merge();
    }
    // The last ones lie in bundles alone.
    for (let second = 0; second < 3; second += 1) {
      await stage.ship(tenants);
      stage.clock.at += 1000;
    }
    const times = (stage.made.states.get('a') ?? []).map(({ timeMs }) => timeMs);
    const of = async (aroundMs: number | null, limit = 100) => {
      const bundles = new TenantBundles(stage.store, 'acme', { nowMs: stage.clock.now });
      return (await listMoments(stage.store, 'a', bundles, { aroundMs, limit })).map(({ timeMs }) => timeMs);
    };
    // What was alone for a while went by itself, and is listed wherever it is.
    const alone = (await stage.names('replica/a/')).flatMap((name) => parseSegmentName(name)?.max ?? []);
    /** The base, and the last of each minute. */
    const coarse = new Set([0, 3, 7, 11, 15, 19, 23, ...alone.map((txid) => txid - 1)].map((at) => times[at] ?? 0));
    const newest = times.slice(24);
    expect(await of(null)).toEqual(times.filter((time) => coarse.has(time) || newest.includes(time)).reverse());
    const around = times[9] ?? 0;
    const near = times.slice(4, 16);
    const wanted = new Set([...coarse, ...near].filter((time) => !newest.includes(time)));
    // Those behind the last minute that was merged are of another time.
    expect((await of(around)).filter((time) => !newest.includes(time))).toEqual(
      times.filter((time) => wanted.has(time)).reverse(),
    );
    expect(await of(around, 1)).toEqual([around]);
    for (const time of times) {
      const bundles = new TenantBundles(stage.store, 'acme', { nowMs: stage.clock.now });
      const found = await findMoment(stage.store, 'a', time, bundles);
      expect((await of(time, 5)).find((each) => each <= time)).toBe(found?.timeMs);
    }
  } finally {
    await stage.close();
  }
});
