import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { newSeries, type SegmentSeries, segmentName } from './replica-names.ts';
import { removeOldSeries, removeReplicaOf } from './replica-removal.ts';

const DAY_MS = 86_400_000;
let folder: string;
let store: ObjectStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-removal-'));
  store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const put = async (id: string, series: SegmentSeries, ...numbers: number[]) => {
  for (const min of numbers) {
    const name = segmentName({ id, series, level: min === 1 ? 9 : 0, min, max: min });
    await store.put(name, Buffer.from(name));
  }
};
const left = async (id: string) => {
  const names: string[] = [];
  for await (const page of store.list(`replica/${id}/`)) names.push(...page.map(({ name }) => name));
  return names.length;
};

test('everything of one sandbox goes, and nothing of another whose name begins alike', async () => {
  await put('a', newSeries(1, 1000), 1, 2, 3);
  await put('a', newSeries(1, 2000), 1);
  await put('a-2', newSeries(1, 1000), 1, 2);
  expect(await removeReplicaOf(store, 'a')).toEqual({ removed: 4, remainsUntil: null });
  expect([await left('a'), await left('a-2')]).toEqual([0, 2]);
});

test('a series goes once another one had begun before the retention', async () => {
  const now = Date.now();
  const series = [10, 8, 3].map((days) => newSeries(1, now - days * DAY_MS));
  for (const one of series) await put('a', one, 1, 2);
  await removeOldSeries(store, 'a', { beforeMs: now - 7 * DAY_MS, isDeleted: false });
  // That of 8 days ago has the moments of a week ago.
  expect(await left('a')).toBe(4);
  await removeOldSeries(store, 'a', { beforeMs: now - 2 * DAY_MS, isDeleted: false });
  expect(await left('a')).toBe(2);
});

test('a series without its base ends no other, and the last one stays until its sandbox is deleted', async () => {
  const now = Date.now();
  await put('a', newSeries(1, now - 9 * DAY_MS), 1, 2);
  await put('a', newSeries(1, now - 8 * DAY_MS), 2);
  await removeOldSeries(store, 'a', { beforeMs: now - 7 * DAY_MS, isDeleted: false });
  expect(await left('a')).toBe(3);
  await removeOldSeries(store, 'a', { beforeMs: now - 7 * DAY_MS, isDeleted: true });
  // What was stored today may still be wanted.
  expect(await left('a')).toBe(3);
  await removeOldSeries(store, 'a', { beforeMs: now + DAY_MS, isDeleted: true });
  expect(await left('a')).toBe(0);
});
