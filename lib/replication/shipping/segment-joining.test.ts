import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
import { newSeries, parseSegmentName, segmentFile, seriesName } from '../names/replica-names.ts';
import type { SpooledSegment } from '../spool/spooled-segment.ts';
import { canUse } from '../testing/can-use.ts';
import { SegmentUploads } from './segment-uploads.ts';

const PAGE = 512;
const MINUTE_MS = 60_000;
/** More than are served at once. */
const MANY = 20;
const EACH = 6;
const series = newSeries(1, 1);

let folder: string;
let store: ObjectStore;
let cutter: Cutter;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-joining-'));
  store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  cutter = new Cutter();
});
afterEach(async () => {
  await cutter.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

async function spooled(id: string, txid: number, timeMs = txid): Promise<SpooledSegment> {
  const place = join(folder, 'spool', id, seriesName(series));
  mkdirSync(place, { recursive: true });
  const level = txid === 1 ? 9 : 0;
  const path = join(place, `${level}-${segmentFile(txid, txid)}`);
  const writer = await LtxWriter.create(path, {
    ...{ pageSize: PAGE, commit: 3, minTxid: txid, maxTxid: txid, timeMs, log: null },
  });
  for (const page of txid === 1 ? [1, 2, 3] : [1 + (txid % 3)]) await writer.page(page, Buffer.alloc(PAGE, txid));
  return { id, series, level, min: txid, max: txid, path, bytes: await writer.finish(false), timeMs };
}

function uploadsOf(shipped: string[]): SegmentUploads {
  const uploads = new SegmentUploads({ store, log: createLogger('silent'), isBack: () => canUse(store), cutter });
  uploads.onShipped(({ id, min, max }) => void shipped.push(`${id} ${min}-${max}`));
  return uploads;
}

async function spans(id: string): Promise<string[]> {
  const found: string[] = [];
  for await (const page of store.list(`replica/${id}/`)) {
    for (const { name } of page) {
      const { min, max } = parseSegmentName(name) ?? {};
      found.push(`${min}-${max}`);
    }
  }
  return found.sort();
}

async function made(id: string): Promise<string> {
  const moment = await findMoment(store, id, null, null);
  if (moment === null) throw new Error('There is no moment.');
  const { sha256 } = await restoreMoment(store, moment, { target: join(folder, 'made'), tmp: join(folder, 'tmp') });
  rmSync(join(folder, 'made'));
  return sha256;
}

test('while more wait than can be served, each goes as one, in order, and makes the same', async () => {
  const shipped: string[] = [];
  const uploads = uploadsOf(shipped);
  const segments: SpooledSegment[] = [];
  for (let txid = 1; txid <= EACH; txid += 1) {
    for (let each = 0; each < MANY; each += 1) segments.push(await spooled(`n${each}`, txid));
  }
  for (const segment of segments) uploads.add(segment);
  await Promise.all(Array.from({ length: MANY }, (_, each) => uploads.whenShipped(`n${each}`)));
  await uploads.stop();
  expect(uploads.bytes).toBe(0);
  expect(filesIn(join(folder, 'spool'))).toEqual([]);
  expect(await spans('n0')).toEqual(['1-1', '2-6']);
  for (const id of ['n0', 'n19']) {
    expect(shipped.filter((one) => one.startsWith(`${id} `))).toEqual(
      [1, 2, 3, 4, 5, 6].map((at) => `${id} ${at}-${at}`),
    );
  }
  const [joined, alone] = [await made('n0'), await made('n19')];
  // The last ones were served when nobody else waited.
  expect(await spans('n19')).toContain('6-6');
  expect(joined).toBe(alone);
});

test('alone, each moment goes by itself; and of two minutes nothing is joined', async () => {
  const shipped: string[] = [];
  const uploads = uploadsOf(shipped);
  for (let txid = 1; txid <= EACH; txid += 1) uploads.add(await spooled('a', txid));
  await uploads.whenShipped('a');
  expect(await spans('a')).toEqual(['1-1', '2-2', '3-3', '4-4', '5-5', '6-6']);
  const segments: SpooledSegment[] = [];
  for (let txid = 1; txid <= 4; txid += 1) {
    for (let each = 0; each < MANY; each += 1) {
      segments.push(await spooled(`n${each}`, txid, txid < 3 ? txid : MINUTE_MS + txid));
    }
  }
  for (const segment of segments) uploads.add(segment);
  await Promise.all(Array.from({ length: MANY }, (_, each) => uploads.whenShipped(`n${each}`)));
  await uploads.stop();
  expect(await spans('n0')).toEqual(['1-1', '2-2', '3-4']);
});

test('what cannot be joined goes by itself, and so does what was sent before a kill once more', async () => {
  const shipped: string[] = [];
  const uploads = uploadsOf(shipped);
  const segments: SpooledSegment[] = [];
  for (let txid = 1; txid <= 3; txid += 1) {
    for (let each = 0; each < MANY; each += 1) segments.push(await spooled(`n${each}`, txid));
  }
  for (const { path } of segments.filter(({ id, min }) => id === 'n0' && min === 3)) writeFileSync(path, 'damaged');
  for (const segment of segments) uploads.add(segment);
  await Promise.all(Array.from({ length: MANY }, (_, each) => uploads.whenShipped(`n${each}`)));
  expect(await spans('n0')).toEqual(['1-1', '2-2', '3-3']);
  // The spool of a server that was killed before it removed what it had sent as one.
  const before = await made('n1');
  for (let txid = 1; txid <= 3; txid += 1) uploads.add(await spooled('n1', txid));
  uploads.add(await spooled('n1', 4));
  await uploads.whenShipped('n1');
  await uploads.stop();
  expect(await spans('n1')).toEqual(['1-1', '2-2', '2-3', '3-3', '4-4']);
  expect(await made('n1')).not.toBe(before);
});
