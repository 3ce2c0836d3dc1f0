import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULT_RETENTION, parseRetention } from '../../base/replica-retention.ts';
import type { ListedObject, ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { DRAWS_ALL, partOf, ROUND } from '../../testing/draw.ts';
import { Cutter } from '../log/cutter.ts';
import { LtxWriter } from '../ltx/ltx-writer.ts';
import { mergeSegments } from '../ltx/merge.ts';
import { findMoment, restoreMoment } from '../moments/replica-reader.ts';
import type { MergeStep, StoredSegment } from '../names/level-groups.ts';
import { newSeries, parseSegmentName, type SegmentSeries, segmentFile, segmentName } from '../names/replica-names.ts';
import { ageReplicaOf, type ReplicaAgingParts } from './replica-aging.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PAGE = 512;
const PAGES = 4;
const LAST = 9;
/** As it is after an hour and a stop: what is of the last minute has no level. */
const MERGED: readonly (readonly [level: number, min: number, max: number])[] = [
  [1, 2, 4],
  [1, 5, 7],
  [2, 2, 7],
];

let folder: string;
let store: ObjectStore;
let cutter: Cutter;
let series: SegmentSeries;
let beganMs: number;
/** The file after each segment. */
const states = new Map<number, Buffer>();
const late: [step: MergeStep, spans: number[][]][] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-aging-'));
  store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  cutter = new Cutter();
  beganMs = Date.now();
  series = newSeries(1, beganMs);
  states.clear();
  late.length = 0;
});
afterEach(async () => {
  await cutter.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Shortly before now: in a folder a segment is as old as its last commit, in other stores as its storing. */
const timeOf = (txid: number) => beganMs + 1000 * (txid - LAST - 1);
const local = (min: number, max = min) => join(folder, segmentFile(min, max));
const nameOf = (level: number, min: number, max = min, of = series) =>
  segmentName({ id: 'a', series: of, level, min, max });

/** A series of a base and eight segments, and what is merged of them. `pages`: of its base. */
async function putSeries(merged = MERGED, pages = PAGES): Promise<void> {
  for (let txid = 1; txid <= LAST; txid += 1) {
    const header = { pageSize: PAGE, commit: pages, minTxid: txid, maxTxid: txid, timeMs: timeOf(txid), log: null };
    const writer = await LtxWriter.create(local(txid), header);
    for (let page = 1; page <= pages; page += 1) {
      if (txid === 1 || page === 1 + (txid % PAGES)) await writer.page(page, Buffer.alloc(PAGE, txid));
    }
    await writer.finish(false);
    await store.upload(nameOf(txid === 1 ? 9 : 0, txid), local(txid));
    const state = Buffer.concat([states.get(txid - 1) ?? Buffer.alloc(pages * PAGE, 1)]);
    if (txid > 1) state.fill(txid, (txid % PAGES) * PAGE, ((txid % PAGES) + 1) * PAGE);
    states.set(txid, state);
  }
  for (const [level, min, max] of merged) {
    const segments = Array.from({ length: max - min + 1 }, (_, at) => local(min + at));
    await mergeSegments({ segments, target: local(min, max), sync: false });
    await store.upload(nameOf(level, min, max), local(min, max));
  }
}

/** The same as the only one. */
async function putNew(): Promise<void> {
  series = newSeries(1, Date.now());
  rmSync(join(folder, 'store', 'replica'), { recursive: true, force: true });
  await putSeries();
}

async function made(atMs: number | null = null): Promise<Buffer | null> {
  const moment = await findMoment(store, 'a', atMs, null);
  if (moment === null) return null;
  await restoreMoment(store, moment, { target: join(folder, 'made'), tmp: join(folder, 'tmp') });
  return readFileSync(join(folder, 'made'));
}

/** Which moment a restore to the time of each segment makes, by the bytes of its file. */
async function moments(): Promise<number[]> {
  const found: number[] = [];
  for (let txid = 1; txid <= LAST; txid += 1) {
    const bytes = await made(timeOf(txid));
    const [number = 0] = [...states].find(([, state]) => bytes?.equals(state)) ?? [];
    if (found.at(-1) !== number) found.push(number);
  }
  return found;
}

async function names(): Promise<string[]> {
  const found: string[] = [];
  for await (const page of store.list('replica/a/')) {
    for (const { name } of page) {
      const { level, min, max } = parseSegmentName(name) ?? {};
      found.push(`${level}: ${min}-${max}`);
    }
  }
  return found.sort();
}

function age(
  days: number,
  { of = store, isDeleted = false }: { of?: ReplicaAgingParts['store']; isDeleted?: boolean } = {},
) {
  const keeps = parseRetention(DEFAULT_RETENTION);
  if (keeps === null) throw new Error(DEFAULT_RETENTION);
  const levels = {
    add: (step: MergeStep, segments: readonly StoredSegment[]) => {
      if (segments.length > 0) late.push([step, segments.map(({ min, max }) => [min, max])]);
    },
  };
  const remove = (name: string) => ('remove' in of ? (of as ObjectStore) : store).remove(name);
  const parts = { store: of, remove, cutter, levels, tmp: join(folder, 'aging'), keeps, isOver: () => false };
  return ageReplicaOf({ ...parts, nowMs: Date.now() + days * DAY_MS }, 'a', isDeleted);
}

/** The store, where `change` may fail, or answer something else. */
function changed(
  change: (op: string, name: string) => void,
  listed = (page: readonly ListedObject[]) => page,
): ObjectStore {
  return new Proxy(store, {
    get(target, key) {
      const own = target[key as keyof ObjectStore];
      if (key === 'list') {
        return async function* (prefix: string) {
          change('list', prefix);
          for await (const page of target.list(prefix)) yield listed(page);
        };
      }
      if (typeof own !== 'function') return own;
      return async (...given: unknown[]) => {
        change(String(key), String(given[0]));
        return (own as (...all: unknown[]) => unknown).apply(target, given);
      };
    },
  });
}

const ALL = [1, 2, 3, 4, 5, 6, 7, 8, 9];

test('every commit is kept a day, then minutes a week, then hours a month, then the last state', async () => {
  await putSeries();
  await age(0.9);
  expect(await moments()).toEqual(ALL);
  expect(await age(1.1)).toBe(6);
  // What no minute has stays.
  expect(await moments()).toEqual([1, 4, 7, 8, 9]);
  expect(await age(7.1)).toBe(2);
  expect(await moments()).toEqual([1, 7, 8, 9]);
  expect(await names()).toEqual(['0: 8-8', '0: 9-9', '2: 2-7', '9: 1-1']);
  await age(31);
  expect(await names()).toEqual(['9: 1-9']);
  expect(await made()).toEqual(states.get(LAST));
  expect(await age(400)).toBe(0);
  // The last one goes with its sandbox.
  expect(await age(29, { isDeleted: true })).toBe(0);
  expect(await age(31, { isDeleted: true })).toBe(1);
});

test('a large base stays as it is, with what the last state needs beside it', async () => {
  await putSeries(MERGED, 100);
  await age(31);
  expect(await names()).toEqual(['0: 8-8', '0: 9-9', '2: 2-7', '9: 1-1']);
  expect(await made()).toEqual(states.get(LAST));
});

test('a series goes a year after another one had begun, and its last state before that is kept', async () => {
  await putSeries();
  const next = newSeries(1, Date.now() + 1000);
  await store.upload(nameOf(9, 1, 1, next), local(1));
  await age(31);
  expect(await names()).toEqual(['9: 1-1', '9: 1-9']);
  await age(364);
  expect(await names()).toEqual(['9: 1-1', '9: 1-9']);
  expect(await age(366)).toBe(1);
  expect(await names()).toEqual(['9: 1-1']);
});

test('what a minute or an hour lacks is merged later, by the times in the segments', async () => {
  await putSeries();
  await age(0.05);
  expect(late).toEqual([]);
  await age(0.2);
  expect(late).toEqual([
    [
      'minute',
      [
        [8, 8],
        [9, 9],
      ],
    ],
  ]);
});

test('nothing goes for a segment that a list has and the store has not, or not whole', async () => {
  for (const [[level, min, max], days, goes] of [
    [[1, 2, 4], 1.1, 3],
    [[9, 1, 1], 1.1, 0],
    [[2, 2, 7], 7.1, 6],
    [[2, 2, 7], 31, 0],
  ] as const) {
    await putNew();
    const before: ListedObject[] = [];
    for await (const page of store.list('replica/a/')) before.push(...page);
    const stale = changed(
      () => undefined,
      () => before,
    );
    await store.remove(nameOf(level, min, max));
    const left = (await names()).length;
    await age(days, { of: stale });
    // What another one has goes all the same, where that can be made use of.
    expect(left - (await names()).length, `${level}: ${min}-${max} at ${days} days`).toBe(goes);
    if (level !== 9) expect(await made()).toEqual(states.get(LAST));
  }
});

test('a list that lacks anything takes nothing away that is kept', async () => {
  for (const days of [1.1, 7.1, 31]) {
    for (const lacks of partOf(
      Array.from({ length: LAST + MERGED.length }, (_, at) => at),
      4,
    )) {
      await putNew();
      const truncated = changed(
        () => undefined,
        (page) => page.filter((_, at) => at !== lacks),
      );
      await age(days, { of: truncated });
      const found = await moments();
      expect(found.at(-1), `${days} days, without ${lacks}`).toBe(LAST);
      if (days < 31) expect(found, `${days} days, without ${lacks}`).toEqual(expect.arrayContaining([1, 7, 8, 9]));
      if (days < 7) expect(found, `${days} days, without ${lacks}`).toContain(4);
    }
  }
});

test('a round that ends anywhere loses nothing that is kept, and the next one makes the same of it', async () => {
  for (const [days, kept, ends] of [
    [1.1, [1, 4, 7, 8, 9], ['0: 8-8', '0: 9-9', '1: 2-4', '1: 5-7', '2: 2-7', '9: 1-1']],
    [7.1, [1, 7, 8, 9], ['0: 8-8', '0: 9-9', '2: 2-7', '9: 1-1']],
    [31, [9], ['9: 1-9']],
  ] as const) {
    for (let failsAt = DRAWS_ALL ? 0 : ROUND % 4, isDone = false; !isDone; failsAt += DRAWS_ALL ? 1 : 4) {
      await putNew();
      let asked = 0;
      const failing = changed((op) => {
        if (asked++ === failsAt) throw new Error(`${op} failed`);
      });
      isDone = await age(days, { of: failing }).then(
        () => true,
        () => false,
      );
      expect(await moments(), `${days} days, failed at ${failsAt}`).toEqual(expect.arrayContaining([...kept]));
      await age(days);
      expect(await names(), `${days} days, failed at ${failsAt}`).toEqual([...ends].sort());
    }
  }
});
