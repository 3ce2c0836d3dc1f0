import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { newSeries, type SegmentSeries, segmentName } from '../names/replica-names.ts';
import { removeReplicaOf } from './replica-removal.ts';

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
