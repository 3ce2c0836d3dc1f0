import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { storeAway } from '../../storage/object-store/store-errors.ts';
import { newSeries, segmentFile, segmentName, seriesName } from '../names/replica-names.ts';
import type { SpooledSegment } from '../spool/spooled-segment.ts';
import { canUse } from '../testing/can-use.ts';
import { SegmentUploads } from './segment-uploads.ts';

const SOON = { timeout: 240_000 };
let folder: string;
let store: ObjectStore;
const shipped: string[] = [];
const series = newSeries(1, 1);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-uploads-'));
  mkdirSync(join(folder, 'disk'));
  store = await openObjectStore(pathToFileURL(join(folder, 'disk', 'store')).href, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  shipped.length = 0;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

function uploads(): SegmentUploads {
  const sending = new SegmentUploads({ store, log: createLogger('silent'), isBack: () => canUse(store) });
  sending.onShipped(({ id, min }) => void shipped.push(`${id} ${min}`));
  return sending;
}

function spooled(id: string, txid: number, bytes = 100): SpooledSegment {
  const place = join(folder, 'spool', id, seriesName(series));
  mkdirSync(place, { recursive: true });
  const path = join(place, `0-${segmentFile(txid, txid)}`);
  writeFileSync(path, Buffer.alloc(bytes, txid));
  return { id, series, level: 0, min: txid, max: txid, path, bytes, timeMs: txid };
}

test('the segments of a sandbox arrive in order, and the spool is empty afterwards', async () => {
  const sending = uploads();
  for (const txid of [1, 2, 3]) for (const id of ['a', 'b']) sending.add(spooled(id, txid));
  await Promise.all([sending.whenShipped('a'), sending.whenShipped('b')]);
  expect(shipped.filter((one) => one.startsWith('a'))).toEqual(['a 1', 'a 2', 'a 3']);
  expect(shipped).toHaveLength(6);
  expect(sending.bytes).toBe(0);
  await vi.waitFor(() => expect(readdirSync(join(folder, 'spool', 'a'))).toEqual([]), SOON);
  const name = segmentName({ id: 'b', series, level: 0, min: 3, max: 3 });
  expect(Buffer.from(await store.get(name))).toEqual(Buffer.alloc(100, 3));
  await sending.stop();
});

test('what a store that is away did not take arrives once it is back, each once and in order', async () => {
  const sending = uploads();
  const root = join(folder, 'disk', 'store');
  renameSync(root, `${root}-away`);
  for (const txid of [1, 2]) sending.add(spooled('a', txid));
  await vi.waitFor(() => expect(sending.away).not.toBeNull(), SOON);
  expect(sending.bytes).toBe(200);
  renameSync(`${root}-away`, root);
  await sending.whenShipped('a');
  expect(shipped).toEqual(['a 1', 'a 2']);
  expect(sending.away).toBeNull();
  await sending.stop();
});

test('a store that answers and takes nothing is away all the time, and back once it has taken something', async () => {
  let [isFull, refused] = [true, 0];
  const full: ObjectStore = {
    ...store,
    upload: async (name, path, options) => {
      if (!isFull) return store.upload(name, path, options);
      refused += 1;
      throw storeAway('full');
    },
  };
  const sending = new SegmentUploads({ store: full, log: createLogger('silent'), isBack: () => canUse(store) });
  const seen = new Set<number | null>();
  const watch = setInterval(() => seen.add(sending.away?.sinceMs ?? null), 1);
  sending.add(spooled('large', 1, 5000));
  sending.add(spooled('a', 1));
  await vi.waitFor(() => expect(sending.away?.why).toContain('it is full'), SOON);
  seen.clear();
  const before = refused;
  await vi.waitFor(() => expect(refused).toBeGreaterThan(before + 2), SOON);
  clearInterval(watch);
  expect([...seen]).toHaveLength(1);
  expect(seen).not.toContain(null);
  isFull = false;
  await Promise.all([sending.whenShipped('a'), sending.whenShipped('large')]);
  expect(sending.away).toBeNull();
  await sending.stop();
});

test('a store that answers is back where nothing waits for it', async () => {
  const sending = new SegmentUploads({
    store: { ...store, upload: () => Promise.reject(storeAway('full')) },
    log: createLogger('silent'),
    isBack: () => canUse(store),
  });
  sending.add(spooled('a', 1));
  await vi.waitFor(() => expect(sending.away).not.toBeNull(), SOON);
  await sending.drop('a');
  await vi.waitFor(() => expect(sending.away).toBeNull(), SOON);
  await sending.stop();
});

test('what is missing in the store is no segment that is gone from the spool', async () => {
  const lost: string[] = [];
  let failures = 0;
  const sending = new SegmentUploads({
    store: {
      ...store,
      upload: async (name, path, options) => {
        failures += 1;
        if (failures === 1) throw Object.assign(new Error('ENOENT: rename'), { code: 'ENOENT', syscall: 'rename' });
        return store.upload(name, path, options);
      },
    },
    log: createLogger('silent'),
    isBack: () => canUse(store),
  });
  sending.onLost((id) => lost.push(id));
  sending.add(spooled('a', 1));
  await sending.whenShipped('a');
  expect([failures > 1, lost]).toEqual([true, []]);
  await sending.stop();
});

test('what is given up is in the spool no more, and nobody waits for it', async () => {
  const sending = uploads();
  rmSync(join(folder, 'disk', 'store'), { recursive: true });
  const segment = spooled('a', 1);
  sending.add(segment);
  const waited = sending.whenShipped('a');
  await sending.drop('a');
  await waited;
  expect(existsSync(segment.path)).toBe(false);
  expect(sending.bytes).toBe(0);
  await sending.stop();
});

test('what was given up before it was sent is not lost, and what came after it is sent', async () => {
  const sending = uploads();
  const lost: string[] = [];
  sending.onLost((id) => lost.push(id));
  const first = spooled('a', 1);
  sending.add(first);
  rmSync(first.path);
  await sending.drop('a');
  sending.add(spooled('a', 2));
  await sending.whenShipped('a');
  expect([shipped, lost]).toEqual([['a 2'], []]);
  await sending.stop();
});

test('a stop leaves in the spool what the store has not', async () => {
  const sending = uploads();
  rmSync(join(folder, 'disk', 'store'), { recursive: true });
  const segment = spooled('a', 1);
  sending.add(segment);
  await vi.waitFor(() => expect(sending.away).not.toBeNull(), SOON);
  await sending.stop();
  expect(existsSync(segment.path)).toBe(true);
});
