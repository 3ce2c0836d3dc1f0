import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { LtxWriter } from '../ltx/ltx-writer.ts';
import { newSeries, type SegmentPlace, segmentName } from '../names/replica-names.ts';
import { rememberingHeads } from './remembered-heads.ts';
import { chainTo, findMoment, type ReplicaStore, restoreMoment } from './replica-reader.ts';
import { lookAtSegment } from './segment-look.ts';

const series = newSeries(1, 1);
const place = (level: number, min: number, max = min): SegmentPlace => ({ id: 'a', series, level, min, max });
const spans = (chain: readonly SegmentPlace[] | null) => chain?.map(({ min, max }) => [min, max]) ?? null;

test('a state is made of its base and of what follows it without a hole', () => {
  const segments = [place(9, 1), place(0, 2), place(0, 3), place(0, 5)];
  expect(spans(chainTo(segments, 3))).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
  expect(chainTo(segments, 5)).toBeNull();
  expect(chainTo(segments.slice(1), 3)).toBeNull();
});

test('a later base and longer segments make a chain shorter, and none reaches beyond the state', () => {
  const segments = [
    place(9, 1),
    ...[2, 3, 4, 5, 6, 7, 8].map((at) => place(0, at)),
    place(1, 2, 4),
    place(1, 5, 7),
    place(9, 1, 6),
  ];
  expect(spans(chainTo(segments, 5))).toEqual([
    [1, 1],
    [2, 4],
    [5, 5],
  ]);
  expect(spans(chainTo(segments, 8))).toEqual([
    [1, 6],
    [7, 7],
    [8, 8],
  ]);
});

test('segments that overlap, as those of before and after a stop, make a chain where there is one', () => {
  const segments = [place(9, 1), place(1, 2, 10), place(1, 5, 20), place(0, 2), place(0, 3), place(0, 4)];
  expect(spans(chainTo(segments, 20))).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 20],
  ]);
  expect(spans(chainTo(segments, 10))).toEqual([
    [1, 1],
    [2, 10],
  ]);
  expect(chainTo(segments.slice(0, 4), 20)).toBeNull();
});

const PAGE = 4096;
const PAGES = 60;
let folder: string | null = null;
afterEach(() => {
  if (folder !== null) rmSync(folder, { recursive: true });
  folder = null;
});

/** A replica of a base and two segments that is read as one of another machine; `reading` counts its whole bases. */
async function farReplica(spoil: (bytes: Buffer, reading: number) => Buffer) {
  const root = mkdtempSync(join(tmpdir(), 'winterdock-far-'));
  folder = root;
  const store = await openObjectStore(`file://${join(root, 'store')}`, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  const expected = Buffer.alloc(PAGE * PAGES);
  for (const txid of [1, 2, 3]) {
    const path = join(root, `${txid}.ltx`);
    const of = { pageSize: PAGE, commit: PAGES, minTxid: txid, maxTxid: txid, timeMs: 1000 * txid, log: null };
    const writer = await LtxWriter.create(path, of);
    for (let page = txid === 1 ? 1 : txid * 10; page <= (txid === 1 ? PAGES : txid * 10 + 5); page += 1) {
      const bytes = Buffer.from(`${txid} ${page} `.repeat(PAGE).slice(0, PAGE));
      bytes.copy(expected, (page - 1) * PAGE);
      await writer.page(page, bytes);
    }
    await writer.finish(false);
    await store.upload(segmentName(place(txid === 1 ? 9 : 0, txid)), path);
  }
  let reading = 0;
  const far: ReplicaStore = {
    ...store,
    url: 's3://far/away',
    async open(name, options) {
      if (options?.range !== undefined) return store.open(name, options);
      reading += 1;
      const bytes = spoil(readFileSync(join(root, 'store', name)), reading);
      // Pieces as a network cuts them.
      const pieces: Buffer[] = [];
      for (let at = 0, size = 1; at < bytes.length; at += size, size = ((size * 7) % 9001) + 1)
        pieces.push(bytes.subarray(at, at + size));
      return Readable.from(pieces);
    },
  };
  const moment = await findMoment(far, 'a', null, null);
  if (moment === null) throw new Error('The replica has nothing.');
  const target = join(root, 'made');
  const restore = () => restoreMoment(far, moment, { target, tmp: join(root, 'tmp') });
  return { expected, target, restore, tmp: join(root, 'tmp'), readings: () => reading };
}

test('a base of another machine is read as it comes, and makes the same file', async () => {
  const { expected, target, restore, tmp, readings } = await farReplica((bytes) => bytes);
  expect(await restore()).toMatchObject({ bytes: expected.length, txid: 3, timeMs: 3000 });
  expect(readFileSync(target).equals(expected)).toBe(true);
  expect([readings(), existsSync(tmp)]).toEqual([1, false]);
});

test.each([
  ['a wrong byte', (bytes: Buffer) => bytes.fill(0xee, 5000, 5001)],
  ['an end that is missing', (bytes: Buffer) => bytes.subarray(0, -9)],
  ['no bytes at all', () => Buffer.alloc(0)],
])('a base that comes with %s is asked for again, and twice it is damaged', async (_what, spoil) => {
  const once = await farReplica((bytes, reading) => (reading === 1 ? spoil(bytes) : bytes));
  await once.restore();
  expect(readFileSync(once.target).equals(once.expected)).toBe(true);
  rmSync(folder ?? '', { recursive: true });
  const twice = await farReplica(spoil);
  await expect(twice.restore()).rejects.toMatchObject({ code: 'corrupt' });
  expect([existsSync(twice.target), existsSync(twice.tmp), twice.readings()]).toEqual([false, false, 2]);
});

/** A store that answers what was asked of it only when nothing else is asked: each time is a turn. */
function inTurns(store: ReplicaStore) {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  let turns = 0;
  let quiet: NodeJS.Timeout | undefined;
  const turn = (what: string) =>
    new Promise<void>((resolve) => {
      asked.push(what);
      waiting.push(resolve);
      clearTimeout(quiet);
      quiet = setTimeout(() => {
        turns += 1;
        for (const answer of waiting.splice(0)) answer();
      }, 50);
    });
  const late: ReplicaStore = {
    url: store.url,
    get: async (...given) => turn('get').then(() => store.get(...given)),
    head: async (...given) => turn('head').then(() => store.head(...given)),
    open: async (...given) => turn('open').then(() => store.open(...given)),
    download: async (...given) => turn('download').then(() => store.download(...given)),
    async *list(...given) {
      await turn('list');
      yield* store.list(...given);
    },
  };
  return { late, asked, turns: () => turns };
}

test('a moment among two hundred is found in four turns of a far store, and made in one more', async () => {
  const root = mkdtempSync(join(tmpdir(), 'winterdock-far-'));
  folder = root;
  const store = await openObjectStore(`file://${join(root, 'store')}`, {
    ...{ endpoint: null, region: 'us-east-1', pathStyle: false, encryption: null, credentials: {} },
  });
  for (let txid = 1; txid <= 200; txid += 1) {
    const path = join(root, `${txid}.ltx`);
    const of = { pageSize: PAGE, commit: 1, minTxid: txid, maxTxid: txid, timeMs: 1000 * txid, log: null };
    const writer = await LtxWriter.create(path, of);
    await writer.page(1, Buffer.from(`${txid} `.repeat(PAGE).slice(0, PAGE)));
    await writer.finish(false);
    await store.upload(segmentName(place(txid === 1 ? 9 : 0, txid)), path);
  }
  const { late, asked, turns } = inTurns({ ...store, url: 's3://far/away' });
  const remembering = rememberingHeads(late);
  const look = async (atMs: number) => {
    const moment = await findMoment(remembering, 'a', atMs, null);
    const end = moment?.chain.at(-1);
    if (moment === null || end === undefined) throw new Error('The replica has nothing.');
    expect((await lookAtSegment(remembering, end)).header.timeMs).toBe(moment.timeMs);
    return moment;
  };
  const moment = await look(17_500);
  expect([moment.timeMs, moment.chain.length]).toEqual([17_000, 17]);
  // A list, and of two hundred times fifteen at once, then what is left between two of them.
  expect(turns()).toBeLessThanOrEqual(4);
  const [turnsBefore, before] = [turns(), asked.length];
  // Who goes from moment to moment asks for what is new.
  expect((await look(17_900)).timeMs).toBe(17_000);
  expect([turns() - turnsBefore, asked.slice(before)]).toEqual([1, ['list']]);
  const [turnsMade, made] = [turns(), asked.length];
  await restoreMoment(remembering, moment, { target: join(root, 'made'), tmp: join(root, 'tmp'), durable: false });
  expect(turns() - turnsMade).toBe(1);
  expect(asked.slice(made).toSorted()).toEqual([...Array(16).fill('get'), 'open']);
  expect(readFileSync(join(root, 'made')).subarray(100, 103).toString()).toMatch(/^[17 ]+$/);
});
